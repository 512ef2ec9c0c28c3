package kioku

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kioku/memory"
)

// maxMapPoints is the maximum number of points of a map.
const maxMapPoints = 20_000

// Phases of a map beside those of package projection.
const (
	phaseReading = "reading"
	phaseNaming  = "naming"
)

// mapper makes the map of a memory in the background and keeps the last one.
type mapper struct {
	mu sync.Mutex
	// made is the last map, nil before the first; guarded by mu. A drawing never changes.
	made *drawing
	// running reports that a map is being made; phase and progress say how far it is; guarded by mu.
	running  bool
	phase    string
	progress float64
	// err is why the last try has failed, at the generation triedAt; guarded by mu.
	err     error
	triedAt mapState
}

// mapState identifies what a map was made of: the index and its generation.
type mapState struct {
	index      uint64
	generation int64
}

// report sets how far the map is.
func (p *mapper) report(phase string, progress float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.progress = phase, progress
}

// Map returns the map of the memory as far as there is one, and has a newer one made in the background if the index has changed. It does
// not wait for it. After a small change the points stay where they are, and new ones are placed among their neighbors. It returns a
// *memory.InputError for a number of points that is out of its range.
func (m *Memory) Map(ctx context.Context, q memory.MapQuery) (memory.Map, error) {
	if err := m.enter(); err != nil {
		return memory.Map{}, err
	}
	defer m.leave()
	if q.MaxPoints < 0 || q.MaxPoints > maxMapPoints {
		return memory.Map{}, &memory.InputError{Field: "max_points", Problem: fmt.Sprintf("is %d, not within 0 and %d", q.MaxPoints, maxMapPoints)}
	}
	stats, err := m.freshen(ctx)
	if err != nil {
		return memory.Map{}, err
	}
	p := &m.mapper
	p.mu.Lock()
	defer p.mu.Unlock()
	now := mapState{stats.IndexID, stats.Generation}
	if !p.running && (p.made == nil || p.made.state != now) && (p.err == nil || p.triedAt != now) {
		m.beginMap(ctx, now)
	}
	out := memory.Map{Computing: p.running, Phase: p.phase, Progress: p.progress, Err: p.err, TotalChunks: stats.Chunks}
	if p.made != nil {
		p.made.fill(&out, q)
	}
	return out, nil
}

// beginMap has a map made in the background. mapper.mu is locked.
func (m *Memory) beginMap(ctx context.Context, now mapState) {
	p := &m.mapper
	p.running, p.phase, p.progress, p.triedAt = true, phaseReading, 0, now
	before := p.made
	m.calls.Add(1) // the caller is within a call, so Close still waits
	ctx, cancel := m.untilClose(context.WithoutCancel(ctx))
	go func() {
		defer m.leave()
		defer cancel()
		begin := time.Now()
		made, err := m.draw(ctx, before)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running, p.phase, p.progress, p.err = false, "", 0, err
		if err != nil {
			if ctx.Err() == nil {
				m.log.Error("make the map", "err", err)
			}
			return
		}
		made.took = time.Since(begin)
		p.made = made
	}()
}

// Activity returns what the memory has of each day from since to until, days like 2026-03-01, which may be empty. It returns a
// *memory.InputError for one that is no day.
func (m *Memory) Activity(ctx context.Context, since, until string) (memory.Activity, error) {
	if err := m.enter(); err != nil {
		return memory.Activity{}, err
	}
	defer m.leave()
	for field, day := range map[string]string{"since": since, "until": until} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return memory.Activity{}, &memory.InputError{Field: field, Problem: fmt.Sprintf("is %.20q, not a day such as 2026-03-01", day)}
		}
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.Activity{}, err
	}
	return m.store.Activity(ctx, since, until, m.opt.Location)
}

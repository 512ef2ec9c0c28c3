package kioku

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"kioku/memory"
	"kioku/projection"
)

// maxMapPoints is the maximum number of points of a map.
const maxMapPoints = 20_000

// Phases of a map beside those of package projection.
const (
	phaseReading = "reading"
	phaseNaming  = "naming"
)

const (
	// mapRest is how many times as long as a map took to make the mapper rests after it, so that an agent that writes all the time costs a
	// small part of a core.
	mapRest = 10
	// mapIdle is how long a map that nobody asks for is kept.
	mapIdle = 30 * time.Minute
)

// MapTurns lets the memories that share it make their maps one at a time, because each takes a core while it is made.
type MapTurns struct{ turn chan struct{} }

// NewMapTurns returns a MapTurns for the memories of a process.
func NewMapTurns() *MapTurns { return &MapTurns{make(chan struct{}, 1)} }

// mapper makes the map of a memory in the background and keeps the last one.
type mapper struct {
	// project lays out the points; projection.Project but for tests.
	project func(context.Context, *projection.Matrix, projection.Options) (projection.Layout, error)
	// idle is how long a map that nobody asks for is kept.
	idle time.Duration

	mu sync.Mutex
	// made is the last map, nil before the first and after a long time without a call; guarded by mu. A drawing never changes.
	made *drawing
	// running reports that a map is being made; phase and progress say how far it is; guarded by mu.
	running  bool
	phase    string
	progress float64
	// err is why the last try has failed, at the generation triedAt; guarded by mu.
	err     error
	triedAt mapState
	// restUntil is when the next map may be begun, by Options.Now; guarded by mu.
	restUntil time.Time
	// forgetting drops made once it was idle; nil before the first call; guarded by mu.
	forgetting *time.Timer
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

// wanted reports whether a map of a state should be begun at a time. mu is locked.
func (p *mapper) wanted(state mapState, now time.Time) bool {
	switch {
	case p.running, p.err != nil && p.triedAt == state:
		return false
	case p.made != nil && p.made.state == state:
		return false
	case p.made == nil && p.err == nil:
		return true
	}
	return !now.Before(p.restUntil)
}

// keep postpones the dropping of the map. mu is locked.
func (p *mapper) keep() {
	if p.forgetting == nil {
		p.forgetting = time.AfterFunc(p.idle, p.forget)
	}
	p.forgetting.Reset(p.idle)
}

// forget drops the map.
func (p *mapper) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = nil
}

// stop ends the timer of the mapper when its memory is closed.
func (p *mapper) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forgetting != nil {
		p.forgetting.Stop()
	}
}

// Map returns the map of the memory as far as there is one, and has a newer one made in the background if the index has changed,
// unless the last one is younger than ten times what it took. It does not wait for it. After a small change the points stay where they
// are, and new ones are placed among their neighbors. Memories that share Options.Maps make theirs one at a time. It returns a
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
	p.keep()
	if p.wanted(now, m.opt.Now()) {
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
	p.running, p.phase, p.progress, p.err, p.triedAt = true, phaseReading, 0, nil, now
	before := p.made
	m.calls.Add(1) // the caller is within a call, so Close still waits
	ctx, cancel := m.untilClose(context.WithoutCancel(ctx))
	go func() {
		defer m.leave()
		defer cancel()
		made, took, err := m.makeMap(ctx, before)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running, p.phase, p.progress, p.err = false, "", 0, err
		p.restUntil = m.opt.Now().Add(mapRest * took)
		if err != nil {
			if ctx.Err() == nil {
				m.log.Error("make the map", "err", err)
			}
			return
		}
		made.took = took
		p.made = made
	}()
}

// makeMap makes a map once no other memory makes one, and returns how long it took, without the wait. A panic is an error.
func (m *Memory) makeMap(ctx context.Context, before *drawing) (made *drawing, took time.Duration, err error) {
	select {
	case m.opt.Maps.turn <- struct{}{}:
		defer func() { <-m.opt.Maps.turn }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	begin := time.Now()
	defer func() {
		took = time.Since(begin)
		if v := recover(); v != nil {
			m.log.Error("panic while the map was made", "panic", v, "stack", string(debug.Stack()))
			made, err = nil, errors.New("internal error while the map was made (see the log)")
		}
	}()
	made, err = m.draw(ctx, before)
	return made, 0, err
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

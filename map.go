package kioku

import (
	"context"
	"fmt"
	"time"

	"kioku/atlas"
	"kioku/memory"
)

// newAtlas returns the maker of the map of an open memory.
func (m *Memory) newAtlas() *atlas.Atlas {
	return atlas.New(atlas.Options{Read: m.store.ReadMap, Now: m.opt.Now, Log: m.log, Begin: func(ctx context.Context, work func(context.Context)) {
		m.calls.Add(1) // the caller is within a call, so Close still waits
		ctx, cancel := m.untilClose(context.WithoutCancel(ctx))
		go func() {
			defer m.leave()
			defer cancel()
			work(ctx)
		}()
	}})
}

// Map returns the map of the memory as far as there is one, and has a newer one made in the background if the index has changed,
// unless the last one is younger than ten times what it took. It does not wait for it. Points that are in the last map stay about
// where they are. It returns a *memory.InputError for a number of points that is out of its range.
func (m *Memory) Map(ctx context.Context, q memory.MapQuery) (memory.Map, error) {
	if err := m.enter(); err != nil {
		return memory.Map{}, err
	}
	defer m.leave()
	if q.MaxPoints < 0 || q.MaxPoints > atlas.MaxPoints {
		return memory.Map{}, &memory.InputError{Field: "max_points", Problem: fmt.Sprintf("is %d, not within 0 and %d", q.MaxPoints, atlas.MaxPoints)}
	}
	stats, err := m.freshen(ctx)
	if err != nil {
		return memory.Map{}, err
	}
	out := m.atlas.Map(ctx, q, atlas.State{Index: stats.IndexID, Generation: stats.Generation})
	out.TotalChunks = stats.Chunks
	return out, nil
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

package history

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"kioku/memory"
)

// Search answers a query from the notes as they were in a version, with the ranking of today, but by words only. Unless the query
// has a time, it is asked at the time of the version. Nothing of what was written later takes part. If derivation is on, passages with lines
// above the ceiling of the query are left out. The first search of a version makes an index of it in the state folder, of which the last 4 are
// kept for a week. The errors are those of Show and of a search.
func (p *Past) Search(ctx context.Context, q memory.Query, at memory.Moment) (memory.PastAnswer, error) {
	start := time.Now()
	ceiling, err := p.checkCeiling(q.MaxSensitivity)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	g, v, err := p.find(ctx, at)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	old, err := p.notes(ctx, g, v, "")
	if err != nil {
		return memory.PastAnswer{}, err
	}
	notes, state, err := p.indexes().Open(ctx, g, v, old)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	if q.Now.IsZero() {
		q.Now = cmp.Or(at.Time, v.Time).In(p.opt.Location)
	}
	answer, err := p.opt.Search(ctx, notes, state, q)
	if err == nil {
		err = p.withhold(notes, &answer, ceiling)
	}
	if err != nil {
		return memory.PastAnswer{}, err
	}
	answer.Took = time.Since(start)
	return memory.PastAnswer{Answer: answer, Version: v}, nil
}

// indexes returns the indexes of versions.
func (p *Past) indexes() Indexes {
	x := Indexes{Dir: filepath.Join(p.opt.State, "past"), Recipe: p.opt.Recipe, Now: p.opt.Now}
	if !p.opt.ReadOnly {
		x.Build = p.opt.Index
	}
	return x
}

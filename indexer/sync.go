package indexer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// rounds is how often files that change while they are indexed are indexed again at once.
const rounds = 3

// run is one sync.
type run struct {
	x    *Indexer
	req  request
	step func(Progress)
	rep  Report
	// scope has the names of req.paths in the index.
	scope map[string]bool
	// stale is why the index should have been built anew, which did not work.
	stale string
	// left are the files that changed once more after they were indexed.
	left     []string
	progress Progress
}

func newRun(x *Indexer, req request, step func(Progress)) *run {
	r := &run{x: x, req: req, step: step, scope: map[string]bool{}}
	for _, p := range req.paths {
		r.scope[x.layout.name(p)] = true
	}
	return r
}

func (r *run) tell(phase, path string) {
	r.progress.Phase, r.progress.Path = phase, path
	r.step(r.progress)
}

// run decides between building the index anew and bringing it up to date.
func (r *run) run(ctx context.Context) error {
	if r.req.rebuild {
		if err := r.rebuild(ctx); err != nil {
			return fmt.Errorf("rebuild: %w", err)
		}
		return r.update(ctx)
	}
	if r.req.full {
		reason, err := r.x.index.Stale(ctx)
		if err != nil {
			return fmt.Errorf("ask whether the index is stale: %w", err)
		}
		if reason != "" {
			if err := r.renew(ctx, reason); err != nil {
				return err
			}
		}
	}
	return r.update(ctx)
}

// renew rebuilds a stale index. Where that must not be or has to wait, the old index goes on being kept up to date.
func (r *run) renew(ctx context.Context, reason string) error {
	if r.req.noRebuild {
		r.stale = reason
		return nil
	}
	err := r.rebuild(ctx)
	var wait *notNow
	if err == nil || !errors.As(err, &wait) {
		if err != nil {
			err = fmt.Errorf("rebuild, as %s: %w", reason, err)
		}
		return err
	}
	r.progress = Progress{}
	r.stale = reason
	r.x.opt.Log.Warn("the index has to be built anew, which must wait", "reason", reason, "cause", wait)
	return nil
}

// look lists what the index holds and what the folder does: at the paths of the request, and everywhere where these turn
// out not to be enough. Who gets the scan closes it.
func (r *run) look(ctx context.Context) (map[string]Stored, *scan, error) {
	r.tell(PhaseScan, "")
	if !r.req.full {
		stored, s, err := r.lookAt(ctx, slices.Collect(maps.Keys(r.scope)))
		if s != nil || err != nil {
			return stored, s, err
		}
		r.req.full = true
	}
	return r.lookAt(ctx, nil)
}

// lookAt looks at what has these names in the index, at everything where there are none. The scan is nil where more has
// to be looked at.
func (r *run) lookAt(ctx context.Context, names []string) (map[string]Stored, *scan, error) {
	stored, err := r.x.index.Files(ctx, names...)
	if err != nil {
		return nil, nil, fmt.Errorf("list the index: %w", err)
	}
	s := r.newScan(stored)
	enough := true
	if r.req.full {
		s.all(ctx)
	} else {
		enough = s.only(ctx, r.req.paths)
	}
	if err := ctx.Err(); err != nil || !enough {
		s.close()
		return nil, nil, err
	}
	if r.req.full {
		r.x.setLost(s.lost)
	}
	r.req.counted = false // a rebuild is followed by a second look
	r.rep.Unavailable = nil
	for _, l := range s.lost {
		r.rep.Unavailable = append(r.rep.Unavailable, l.name)
	}
	return stored, s, nil
}

// update brings the index up to date with what the scan finds.
func (r *run) update(ctx context.Context) error {
	stored, s, err := r.look(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	p := r.plan(s, stored)
	if r.req.full {
		r.forget(s)
	}
	for _, st := range stored {
		if st.Skipped != "" {
			r.rep.Skipped++
		}
	}
	r.progress.FilesTotal += len(p.jobs)
	r.pending()
	return r.settle(ctx, p.jobs, p.gone)
}

// settle indexes files until they have stopped changing, within reason.
func (r *run) settle(ctx context.Context, jobs []job, gone []done) error {
	for round := 1; ; round++ {
		again, err := r.pass(ctx, jobs, gone)
		if err != nil {
			return err
		}
		if len(again) == 0 {
			return nil
		}
		if round == rounds {
			for _, j := range again {
				r.left = append(r.left, j.abs())
			}
			return nil
		}
		jobs, gone = again, nil
	}
}

func (r *run) newScan(stored map[string]Stored) *scan {
	return &scan{
		layout: r.x.layout, limit: r.x.opt.MaxFileBytes, prune: r.req.prune,
		watch: r.x.folderSeen, believe: r.x.believer(r.req, stored),
		places: map[string]*place{}, byPath: make(map[string]bool, len(stored)), files: make([]found, 0, len(stored)),
	}
}

// forget drops the memos of files that are no longer there.
func (r *run) forget(s *scan) {
	for name := range r.x.memos {
		if !s.byPath[name] && !s.keeps(name) {
			delete(r.x.memos, name)
		}
	}
}

// pending puts the files still to be done into the state; those of a part are counted by the watch that asked for it.
func (r *run) pending() {
	if !r.req.full {
		return
	}
	r.x.update(func(s *State) { s.PendingFiles = r.progress.FilesTotal - r.progress.FilesDone })
}

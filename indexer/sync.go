package indexer

import (
	"context"
	"errors"
	"fmt"
	"path"
)

// maxRounds is how often one sync indexes a file that changes while it is indexed.
const maxRounds = 3

// request says what a sync must do.
type request struct {
	SyncOptions
	// paths are the changed files and folders, absolute. Nil means everything.
	paths []string
	// rebuild splits all files again.
	rebuild bool
	// compares is true if the sync only compares: it splits and writes nothing.
	compares bool
	// counted is true if the scan counts towards confirming that the files of an empty root are gone.
	counted bool
}

// full reports whether the sync looks at everything.
func (q request) full() bool { return q.paths == nil }

// syncRun is one sync.
type syncRun struct {
	*Indexer
	req        request
	onProgress func(Progress)
	progress   Progress
	rep        Report
	// planned is true once it is known which files must be read, and differing counts those of them that differ from the index
	// and are not done.
	planned   bool
	differing int
	// unread are the files that could not be read.
	unread unreadFiles
	// unsettled are files that moved, or that still changed after the last round, absolute.
	unsettled []string
}

func (r *syncRun) reportProgress(phase, path string) {
	r.progress.Phase, r.progress.Path = phase, path
	r.onProgress(r.progress)
}

// execute rebuilds the index if it must, and then brings it up to date.
func (r *syncRun) execute(ctx context.Context) error {
	switch {
	case r.req.rebuild:
		if err := r.rebuild(ctx); err != nil {
			return fmt.Errorf("rebuild: %w", err)
		}
	case r.req.full():
		if err := r.rebuildStale(ctx); err != nil {
			return err
		}
	}
	return r.update(ctx)
}

// rebuildStale rebuilds a stale index. If it must not or cannot do so now, it sets Report.Stale.
func (r *syncRun) rebuildStale(ctx context.Context) error {
	reason, err := r.store.Stale(ctx)
	if err != nil {
		return fmt.Errorf("ask whether the index is stale: %w", err)
	}
	if reason == "" {
		return nil
	}
	if r.req.NoRebuild {
		r.rep.Stale = reason
		return nil
	}
	err = r.rebuild(ctx)
	if errors.Is(err, errCannotRebuild) {
		r.rep.Stale = reason
		r.opt.Log.Warn("the index must be rebuilt, which has to wait", "reason", reason, "cause", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("rebuild, as %s: %w", reason, err)
	}
	return nil
}

// scanFolder returns what the index contains and what is on disk: at the paths of the request, or everywhere if these turn
// out not to be enough. The caller closes the scan.
func (r *syncRun) scanFolder(ctx context.Context) (map[string]Stored, *scan, error) {
	r.reportProgress(PhaseScan, "")
	for {
		var names []string
		for _, p := range r.req.paths {
			names = append(names, r.layout.name(p))
		}
		stored, err := r.store.Files(ctx, names...)
		if err != nil {
			return nil, nil, fmt.Errorf("list the index: %w", err)
		}
		s := r.newScan(stored)
		enough := true
		if r.req.full() {
			s.scanAll(ctx)
		} else {
			enough = s.scanPaths(ctx, r.req.paths)
		}
		if err := firstErr(ctx.Err(), s.exhausted); err != nil {
			s.close()
			return nil, nil, withAdvice(err)
		}
		if enough {
			r.scanned(s)
			return stored, s, nil
		}
		s.close()
		r.req.paths = nil
	}
}

// scanned records which roots a scan could not read.
func (r *syncRun) scanned(s *scan) {
	if r.req.full() {
		r.setUnavailable(s.unavailable)
	}
	r.req.counted = false // a rebuild scans a second time
	r.rep.Unavailable = rootNames(s.unavailable)
}

func (r *syncRun) newScan(stored map[string]Stored) *scan {
	return &scan{
		layout: r.layout, targets: r.layout.current(), limit: r.opt.MaxFileBytes, prune: r.req.Prune,
		onFolder: r.folderSeen, confirmGone: r.goneConfirmer(stored),
		roots: map[string]*openedRoot{}, byPath: make(map[string]bool, len(stored)), files: make([]foundFile, 0, len(stored)),
	}
}

// update brings the index up to date with the folder. Files that change meanwhile are indexed again, in a few rounds.
func (r *syncRun) update(ctx context.Context) error {
	stored, s, err := r.scanFolder(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	for _, st := range stored {
		if st.Skipped != "" {
			r.rep.Skipped++
		}
	}
	tasks := r.plan(s, stored)
	for _, t := range tasks {
		if t.contentMatters() {
			r.progress.FilesTotal++
		}
		if t.differs {
			r.differing++
		}
	}
	r.planned = true
	r.reportPending()
	for round := 1; round <= maxRounds && len(tasks) > 0; round++ {
		if tasks, err = r.indexFiles(ctx, tasks); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		r.unsettled = append(r.unsettled, t.abs())
	}
	if r.unread.count > 0 {
		r.rep.Unread, r.rep.UnreadErr = r.unread.count, r.unread.first
		r.opt.Log.Warn("files cannot be read", "count", r.unread.count, "cause", r.unread.first)
	}
	return nil
}

// reportPending puts the number of unfinished files into the state. The watch counts the files of its own requests.
func (r *syncRun) reportPending() {
	if r.req.full() {
		r.updateState(func(s *SyncState) { s.PendingFiles = r.differing })
	}
}

// inScope reports whether this sync looks at a path of the index.
func (r *syncRun) inScope(name string, scope map[string]bool) bool {
	if r.req.full() || scope[name] {
		return true
	}
	for up := path.Dir(name); up != "." && up != "/"; up = path.Dir(up) {
		if scope[up] {
			return true
		}
	}
	return false
}

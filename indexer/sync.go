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
	// rebuild splits all files again, also if the index is not stale.
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
	// rebuilds is true if all files are split again.
	rebuilds bool
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

// errCannotRebuild: a rebuild has to wait, although nothing is wrong with the index or the caller.
var errCannotRebuild = errors.New("make its folder readable, or forget it by a sync with prune")

// execute brings the index up to date. If it is stale, or a rebuild is asked for, it splits all files again; until a file is written, its old
// chunks answer.
func (r *syncRun) execute(ctx context.Context) error {
	reason, err := "", error(nil)
	if r.req.full() {
		if reason, err = r.store.Stale(ctx); err != nil {
			return fmt.Errorf("ask whether the index is stale: %w", err)
		}
	}
	if r.req.NoRebuild {
		r.rep.Stale = reason
	}
	r.rebuilds = r.req.rebuild || reason != "" && !r.req.NoRebuild
	err = r.update(ctx)
	if errors.Is(err, errCannotRebuild) && !r.req.rebuild {
		r.opt.Log.Warn("the index must be rebuilt, which has to wait", "reason", reason, "cause", err)
		r.rebuilds, r.rep.Stale = false, reason
		err = r.update(ctx)
	}
	if err == nil && r.rebuilds && r.unread.count == 0 {
		err = r.store.SetCut(ctx)
	}
	if err != nil && r.rebuilds {
		err = fmt.Errorf("rebuild: %w", err)
	}
	return err
}

// checkKept returns an error if a rebuild would leave out a file that the index has and that cannot be read now: it would stay as it was
// split before.
func (r *syncRun) checkKept(s *scan, stored map[string]Stored) error {
	for name, st := range stored {
		if r.rebuilds && st.Skipped == "" && s.keeps(name) && !s.byPath[name] {
			return fmt.Errorf("%s is in the index and cannot be read now; %w", name, errCannotRebuild)
		}
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
	r.req.counted = false // a rebuild that has to wait scans a second time
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
	if err := r.checkKept(s, stored); err != nil {
		return err
	}
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

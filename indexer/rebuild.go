package indexer

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// errCannotRebuild: a rebuild has to wait, although nothing is wrong with the index or the caller.
var errCannotRebuild = errors.New("make its folder readable, or forget it by a sync with prune")

// rebuild splits all files of the folder again and replaces the whole index.
func (r *syncRun) rebuild(ctx context.Context) error {
	stored, s, err := r.scanFolder(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	// A rebuild would drop files that the index has and that cannot be read now.
	for name, st := range stored {
		if st.Skipped == "" && s.keeps(name) && !s.byPath[name] {
			return fmt.Errorf("%s is in the index and cannot be read now; %w", name, errCannotRebuild)
		}
	}
	tasks := newTasks(s)
	r.progress.FilesTotal = len(tasks)
	if r.rep.Known, err = r.store.ReplaceAll(ctx, r.splitAgain(ctx, tasks)); err != nil {
		return fmt.Errorf("replace the index: %w", err)
	}
	for name := range stored {
		if !s.byPath[name] {
			r.rep.Removed++
		}
	}
	r.reportProgress(PhaseCommit, "")
	return nil
}

// newTasks returns a task for each file of a scan, as if the index had none of them.
func newTasks(s *scan) []*fileTask {
	tasks := make([]*fileTask, len(s.files))
	for i, f := range s.files {
		tasks[i] = &fileTask{foundFile: f}
	}
	sortTasks(tasks)
	return tasks
}

// splitAgain reads every file and yields it. The sync after the rebuild indexes files that change meanwhile.
func (r *syncRun) splitAgain(ctx context.Context, tasks []*fileTask) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for t := range r.readFiles(ctx, tasks) {
			if t.contentRead {
				r.rep.Read++
			}
			if errors.Is(t.err, errMoved) {
				continue
			}
			if t.err != nil {
				yield(File{}, fmt.Errorf("read %s: %w", t.path, t.err))
				return
			}
			if !yield(t.file, nil) {
				return
			}
			if t.file.Skipped == "" {
				r.rep.Files++
				r.rep.Chunks += len(t.file.Chunks)
				r.progress.Chunks += len(t.file.Chunks)
			}
			r.remember(t, true)
			r.fileDone(t)
		}
		if err := ctx.Err(); err != nil {
			yield(File{}, err)
		}
	}
}

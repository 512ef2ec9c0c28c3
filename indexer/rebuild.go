package indexer

import (
	"context"
	"fmt"
	"iter"
)

// notNow is why a rebuild has to wait while nothing is wrong with the index or the caller.
type notNow struct{ err error }

func (e *notNow) Error() string { return e.err.Error() }
func (e *notNow) Unwrap() error { return e.err }

// rebuild cuts all files of the folder again and puts them in the place of the whole index.
func (r *run) rebuild(ctx context.Context) error {
	stored, s, err := r.look(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := nothingLost(s, stored); err != nil {
		return err
	}
	jobs := make([]job, len(s.files))
	for i, f := range s.files {
		jobs[i] = job{found: f}
	}
	sortJobs(jobs)
	r.progress = Progress{FilesTotal: len(jobs)}
	rep := Report{Unavailable: r.rep.Unavailable}
	if rep.Known, err = r.x.index.ReplaceAll(ctx, r.renewed(ctx, jobs, &rep)); err != nil {
		return fmt.Errorf("replace the index: %w", err)
	}
	for name := range stored {
		if !s.byPath[name] {
			rep.Removed++
		}
	}
	r.tell(PhaseCommit, "")
	r.rep = rep
	return nil
}

// nothingLost is an error where the index holds files that cannot be read now: a rebuild would drop them.
func nothingLost(s *scan, stored map[string]Stored) error {
	for name, st := range stored {
		if st.Skipped == "" && s.keeps(name) && !s.byPath[name] {
			return &notNow{fmt.Errorf("%s is in the index and cannot be read now; "+
				"make its folder readable, or forget it by a sync with prune", name)}
		}
	}
	return nil
}

// renewed reads every file and yields it. A file that changes meanwhile is seen by the sync that follows.
func (r *run) renewed(ctx context.Context, jobs []job, rep *Report) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ready := inOrder(ctx, readers(), jobs, r.read)
		defer func() {
			cancel()
			for range ready {
			}
		}()
		for d := range ready {
			if d.err != nil {
				yield(File{}, fmt.Errorf("read %s: %w", d.path, d.err))
				return
			}
			if d.read {
				rep.Read++
			}
			if d.moved {
				continue
			}
			if !yield(d.file, nil) {
				return
			}
			if d.file.Skipped == "" {
				rep.Files++
				rep.Chunks += len(d.file.Chunks)
				r.progress.Chunks += len(d.file.Chunks)
			}
			r.remember(d, true)
			r.finish(d)
		}
		if err := ctx.Err(); err != nil {
			yield(File{}, err)
		}
	}
}

package indexer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"kioku/embed"
)

// notNow is why a rebuild has to wait while nothing is wrong with the index or the caller.
type notNow struct{ err error }

func (e *notNow) Error() string { return e.err.Error() }
func (e *notNow) Unwrap() error { return e.err }

// rebuild puts what is in the folder in the place of the whole index. What has to be embedded is embedded before the
// index is touched.
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
	if err := r.prepare(ctx, jobs); err != nil {
		return err
	}
	r.progress.FilesDone = 0
	rep := Report{Unavailable: r.rep.Unavailable, Embedded: r.vectors.embedded, Cached: r.vectors.cached}
	if err := r.x.index.ReplaceAll(ctx, r.x.embed.Space(), r.renewed(ctx, jobs, &rep)); err != nil {
		return fmt.Errorf("replace the index: %w", err)
	}
	for name := range stored {
		if !s.byPath[name] {
			rep.Removed++
		}
	}
	r.tell(PhaseCommit, "")
	rep.Read = r.rep.Read
	r.rep = rep
	return nil
}

// unavailable marks the error of a provider: the last one that its health tells of does not carry the mark.
func unavailable(err error) error {
	if errors.Is(err, embed.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", embed.ErrUnavailable, err)
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

// prepare has everything embedded that will be needed, so that the provider cannot fail half way through ReplaceAll.
func (r *run) prepare(ctx context.Context, jobs []job) error {
	if !r.x.embed.Enabled() {
		return nil
	}
	r.vectors.keep = true
	defer func() { r.vectors.keep = false }()
	return r.batches(ctx, jobs, func(b []done) error {
		if err := r.vectors.fill(ctx, b); err != nil {
			return err
		}
		if r.vectors.down != nil && r.vectors.short {
			return &notNow{fmt.Errorf("embed: %w", unavailable(r.vectors.down))}
		}
		for _, d := range b {
			r.finish(d)
		}
		return nil
	})
}

// renewed yields every file anew, with the vectors that prepare made sure of. A file that changed since then may lack
// some; the sync that follows sees to it.
func (r *run) renewed(ctx context.Context, jobs []job, rep *Report) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		stop := false
		err := r.batches(ctx, jobs, func(b []done) error {
			if err := r.attach(ctx, b); err != nil {
				return err
			}
			for _, d := range b {
				if d.moved {
					continue
				}
				if stop = !yield(d.file, nil); stop {
					return context.Canceled
				}
				r.renewedOne(d, rep)
			}
			return nil
		})
		if err != nil && !stop {
			yield(File{}, err)
		}
	}
}

func (r *run) renewedOne(d done, rep *Report) {
	if d.file.Skipped == "" {
		rep.Files++
		rep.Chunks += len(d.file.Chunks)
		r.progress.Chunks += len(d.file.Chunks)
	}
	r.remember(d, true)
	r.finish(d)
}

// attach gives chunks the vectors that the index knows, and asks nobody else.
func (r *run) attach(ctx context.Context, b []done) error {
	v := &vectors{x: r.x, down: errUnready}
	return v.fill(ctx, b)
}

// batches reads all files and hands them on in batches of bounded size.
func (r *run) batches(ctx context.Context, jobs []job, use func([]done) error) error {
	ctx, cancel := context.WithCancel(ctx)
	ready := inOrder(ctx, readers(), jobs, r.read)
	defer func() {
		cancel()
		for range ready {
		}
	}()
	var b batch
	for d := range ready {
		if d.err != nil {
			return fmt.Errorf("read %s: %w", d.path, d.err)
		}
		if d.read {
			r.rep.Read++
		}
		b.add(d)
		if b.full(false) {
			if err := use(b.files); err != nil {
				return err
			}
			b = batch{}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return use(b.files)
}

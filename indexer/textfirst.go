package indexer

import (
	"context"
	"errors"
	"time"
)

// Text comes first: words are searchable as soon as a file is written, so a slow provider must not hold the files
// back. A sync that needs no more than smallRequest texts waits for them and writes each file once. A larger one
// gives the provider patience for every embedGroup of texts; the first time that this is not enough, all files are
// written with the vectors that are known, and only then embedded, and written again batch by batch. A watch leaves the
// rest of that for its next sync when a file changes meanwhile. A sync for a query waits queryPatience for the provider
// and leaves the rest to a sync that is not for one.
const (
	smallRequest  = 32
	patience      = 50 * time.Millisecond
	queryPatience = time.Second
)

// errNotWaited is why a sync for a query left texts without vectors.
var errNotWaited = errors.New("the provider takes its time, and a query does not wait for it")

// question is a group of texts that the provider is asked to embed.
type question struct {
	group  []Hash
	cancel context.CancelFunc
	// done is closed when answer is set.
	done   chan struct{}
	answer answer
}

// send asks the provider on a goroutine that ends with the provider's answer, at the latest soon after cancel. The
// question outlives ctx, which may be that of one pass; take and giveUp end it.
func (v *vectors) send(ctx context.Context, group []Hash, texts map[Hash]string) *question {
	in := make([]string, len(group))
	for i, h := range group {
		in[i] = texts[h]
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	q := &question{group: group, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(q.done)
		q.answer.out, q.answer.err = v.x.embed.Documents(ctx, in)
	}()
	return q
}

// within reports whether the answer comes within d and before ctx ends.
func (q *question) within(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-q.done:
		return true
	case <-ctx.Done():
		return false
	case <-timer.C:
		return false
	}
}

// collect waits for the answer that did not come in time, and keeps it.
func (v *vectors) collect(ctx context.Context) error {
	q := v.slow
	if q == nil {
		return nil
	}
	v.slow = nil
	fresh := v.take(ctx, q)
	v.told(len(fresh), 0)
	return firstErr(v.save(ctx, fresh), ctx.Err())
}

// giveUp ends the question that is still open, if any, and keeps what was answered.
func (v *vectors) giveUp(ctx context.Context) {
	if v.slow == nil {
		return
	}
	v.slow.cancel()
	if err := v.collect(ctx); err != nil {
		v.x.opt.Log.Debug("embedding was given up", "cause", err)
	}
}

// postpone notes a written file whose texts the provider has yet to embed.
func (r *run) postpone(d done) {
	if r.vectors.slow == nil || d.file.Gone || d.bare() == 0 {
		return
	}
	j := d.job
	j.known, j.retry, j.settled = true, true, true
	j.stored = Stored{Source: d.source, SHA256: d.file.SHA256, Chunks: len(d.file.Chunks), Unembedded: d.bare()}
	r.later = append(r.later, j)
}

// embedLater has the texts embedded for which the files did not wait, and writes those files again.
func (r *run) embedLater(ctx context.Context) error {
	v := r.vectors
	if v.slow == nil {
		return nil
	}
	if r.req.noRebuild {
		v.giveUp(ctx)
		r.inStep()
		r.noteEmbedErr(errNotWaited)
		return nil
	}
	r.embedding, v.later, v.enough = true, true, r.overtaken
	r.progress.FilesDone, r.progress.FilesTotal = 0, len(r.later)
	r.inStep()
	r.tell(PhaseEmbed, "")
	if err := v.collect(ctx); err != nil {
		return err
	}
	if v.down == nil {
		v.short = false
		again, err := r.pass(ctx, r.later, nil)
		if err != nil {
			return err
		}
		for _, j := range again {
			r.left = append(r.left, j.abs())
		}
	}
	r.rep.Embedded, r.rep.Cached = v.embedded, v.cached
	r.noteEmbedErr(v.trouble())
	return nil
}

// overtaken reports whether files changed that should not wait for the vectors of others.
func (r *run) overtaken() bool {
	r.x.mu.Lock()
	defer r.x.mu.Unlock()
	cut := r.req.watched && r.x.waiting > r.req.inFlight
	r.x.cut = r.x.cut || cut
	return cut
}

// takeCut reports whether a sync of the watch left vectors for the next one, and forgets it.
func (x *Indexer) takeCut() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	cut := x.cut
	x.cut = false
	return cut
}

// inStep puts into the state that the index holds all words, though not all vectors.
func (r *run) inStep() {
	r.x.update(func(s *State) {
		if r.req.full {
			s.PendingFiles, s.Dirty = 0, len(r.left) > 0
		}
	})
}

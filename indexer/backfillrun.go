package indexer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"kioku/embed"
	"kioku/internal/trace"
)

// backfillRun is one run of a backfill. All of it, but for the writing of vectors, is done by the goroutine of Run.
type backfillRun struct {
	*Backfill
	// saving is the context for writes; it ends saveWait after the context of the run.
	saving     context.Context
	onProgress func(Progress)
	rate       rate
	notified   time.Time // when the last event was sent, or the run began
	rep        BackfillReport
	// embedded contains the texts that the provider embedded in this run. They are never paid for twice.
	embedded map[Hash]bool
	// held is the number of refused texts that are not sent for now.
	held int
	// total is the number of texts to embed, as far as it is known.
	total int

	// queue are the texts that were read from the backlog and are sent next. It is of the backlog after a number of wakes.
	queue []Text
	wakes uint64
	// tasks are the texts whose parts the provider has, and parts are these parts by their numbers in the stream.
	tasks map[Hash]*embedTask
	parts map[int]taskPart
	// dims is the number of dimensions of the vectors of the stream; 0 before the first.
	dims int
	// readErr is why the backlog could not be read.
	readErr error

	// writing are the vectors that a goroutine is storing; it sends the outcome to stored. Both are nil while none runs.
	writing map[Hash]Vectors
	stored  chan error
	// storeErr is why vectors could not be stored. After it, nothing more is embedded or stored in this run.
	storeErr error
}

// drainBacklog embeds texts until no text is left that the provider may accept now.
func (r *backfillRun) drainBacklog(ctx context.Context) (err error) {
	if r.saveAll() != nil {
		return nil
	}
	for {
		r.wakes = r.Backfill.wakes.Load()
		if r.queue, err = r.nextTexts(ctx); err != nil {
			return err
		}
		if len(r.queue) == 0 {
			return r.endBacklog(ctx)
		}
		if r.rep.Embedded == 0 {
			r.reportProgress() // the first request may take long
		}
		if err = r.embedQueue(ctx); err != nil || r.rep.stopped || r.storeErr != nil {
			return err
		}
		if r.saveAll() != nil {
			return nil
		}
	}
}

// endBacklog makes the space of the provider that of the index once nothing of it is left to embed.
func (r *backfillRun) endBacklog(ctx context.Context) error {
	if r.rep.Embedded > 0 {
		r.total = r.rep.Embedded // chunks with equal texts were counted one by one
		r.reportProgress()
	}
	if r.rep.stopped {
		return nil
	}
	_, err := r.store.Adopt(ctx, r.embedder.Space())
	if errors.Is(err, ErrNotAdopted) {
		r.rep.Err, r.rep.stopped = err, true
		return nil
	}
	return err
}

// embedQueue has the queue embedded, and what the backlog has after it. A provider that fails ends the run.
func (r *backfillRun) embedQueue(ctx context.Context) error {
	var err error
	space := r.embedder.Space()
	r.dims = 0
	if h := r.embedder.Health(); !h.Healthy && h.RetryAt.After(r.now()) {
		err = firstErr(h.Err, errNotReady)
	} else {
		err = r.embedder.Stream(ctx, r.yieldParts(ctx), r.receive)
	}
	if err == nil && ctx.Err() == nil && r.readErr == nil {
		for _, t := range r.tasks { // the provider has answered, but not for these
			r.refuse(t.Hash, errNoVector)
		}
	}
	clear(r.tasks)
	clear(r.parts)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.readErr != nil:
		return r.readErr
	case !space.Matches(r.embedder.Space()):
		clear(r.embedded) // in the space that the provider has left
	case err != nil:
		r.rep.Err, r.rep.stopped = err, true
	}
	return nil
}

// yieldParts yields the parts of the texts of the backlog, which get their numbers here. It ends once the backlog has no text
// that is not under way.
func (r *backfillRun) yieldParts(ctx context.Context) func(yield func(string) bool) {
	number := 0
	return func(yield func(string) bool) {
		for {
			text, ok := r.nextText(ctx)
			if !ok {
				return
			}
			task := newEmbedTask(text)
			r.tasks[text.Hash] = task
			parts := task.parts()
			if len(parts) == 0 {
				r.finish(task)
			}
			for _, part := range parts {
				r.parts[number] = part
				number++
				if !yield(part.text()) {
					return
				}
			}
		}
	}
}

// nextText returns the next text to send. After a wake-up, that is the first of the backlog again.
func (r *backfillRun) nextText(ctx context.Context) (Text, bool) {
	if r.storeErr != nil || ctx.Err() != nil {
		return Text{}, false
	}
	if n := r.Backfill.wakes.Load(); n != r.wakes {
		r.wakes, r.queue = n, nil
	}
	if len(r.queue) == 0 {
		r.queue, r.readErr = r.nextTexts(ctx)
	}
	if len(r.queue) == 0 {
		return Text{}, false
	}
	text := r.queue[0]
	r.queue = r.queue[1:]
	return text, true
}

// unknownTexts reads the backlog. Known vectors are attached after it was read, and not only before: a sync may have written a
// text meanwhile into an index that has no vectors yet, and so without that of the cache.
func (r *backfillRun) unknownTexts(ctx context.Context, limit int) (texts []Text, chunks int, err error) {
	for {
		texts, chunks, err = r.store.Backlog(ctx, r.embedder.Space(), limit)
		if err != nil {
			return nil, 0, fmt.Errorf("read the backlog: %w", err)
		}
		known, err := r.store.AttachKnown(ctx, r.embedder.Space())
		if err != nil {
			return nil, 0, err
		}
		if r.rep.Known += known; known == 0 {
			return texts, chunks, nil
		}
	}
}

// nextTexts reads the texts of the backlog that may be sent, and records why others may not.
func (r *backfillRun) nextTexts(ctx context.Context) ([]Text, error) {
	skip := len(r.tasks) + len(r.unsaved) + len(r.writing) + r.held
	texts, chunks, err := r.unknownTexts(ctx, backlogPage+skip)
	if err != nil {
		return nil, err
	}
	r.total = max(r.total, r.rep.Embedded+max(chunks-skip, 0)+len(r.tasks))
	open := texts[:0]
	r.rep.Refused, r.rep.RefusedErr = 0, nil
	for _, t := range texts {
		refused, isRefused := r.refused[t.Hash]
		switch {
		case r.isUnderWay(t.Hash):
		case isRefused && r.now().Before(refused.until):
			r.rep.Refused, r.rep.RefusedErr = r.rep.Refused+1, refused.err
		case r.embedded[t.Hash]:
			r.rep.Err, r.rep.stopped = errNotKept, true
		default:
			open = append(open, t)
		}
	}
	return open, nil
}

// isUnderWay reports whether a text has been sent and its vector is not stored yet.
func (r *backfillRun) isUnderWay(text Hash) bool {
	_, isSent := r.tasks[text]
	_, isUnsaved := r.unsaved[text]
	_, isWriting := r.writing[text]
	return isSent || isUnsaved || isWriting
}

// receive takes the outcomes of one request, and stores the vectors of the texts that are complete.
func (r *backfillRun) receive(outcomes []embed.Outcome) {
	for _, o := range outcomes {
		if o.Vector != nil { // the store would refuse it with all others
			if o.Err = embed.Check(o.Vector, len(o.Vector)); o.Err != nil {
				o.Vector = nil
			}
		}
		if o.Vector == nil {
			o.Err = firstErr(o.Err, errNoVector)
		}
		if o.Vector != nil && r.otherSpace(len(o.Vector)) {
			continue // the stream ends with it
		}
		part := r.parts[o.Number]
		delete(r.parts, o.Number)
		if part.task.add(part.window, o.Embedding) {
			r.finish(part.task)
		}
	}
	r.save()
	r.reportProgress()
}

// otherSpace reports whether a vector of a number of dimensions is of another space than those before it in the stream. The first
// vector of another space than the unsaved ones has these stored.
func (r *backfillRun) otherSpace(dims int) bool {
	if r.dims != 0 {
		return dims != r.dims
	}
	space := r.embedder.Space()
	space.Dims = dims
	if r.dims = dims; space != r.unsavedSpace {
		r.saveAll()
		r.unsavedSpace = space
	}
	return false
}

// finish takes a text that has all of its outcomes.
func (r *backfillRun) finish(t *embedTask) {
	delete(r.tasks, t.Hash)
	if t.err != nil {
		r.refuse(t.Hash, t.err)
		return
	}
	r.unsaved[t.Hash], r.embedded[t.Hash] = t.vectors(), true
	r.rep.Embedded++
	if t.truncated() {
		r.rep.Truncated++
	}
}

// refuse keeps a text from being sent for a while.
func (r *backfillRun) refuse(text Hash, err error) {
	pause := min(max(2*r.refused[text].pause, refusedFor), refusedMost)
	r.refused[text] = refusedText{err: err, until: r.now().Add(pause), pause: pause}
	r.held++
}

// save starts to store the unsaved vectors. If the store is still busy, they wait, unless there are many.
func (r *backfillRun) save() {
	if r.stored != nil && len(r.stored) == 0 && len(r.unsaved) < writeAbove {
		return
	}
	r.awaitStore()
	if r.storeErr != nil || len(r.unsaved) == 0 {
		return
	}
	stored, vectors := make(chan error, 1), r.unsaved
	r.stored, r.writing, r.unsaved = stored, vectors, map[Hash]Vectors{}
	go func() {
		ctx, span := trace.Start(r.saving, "put")
		err := r.store.PutVectors(ctx, r.unsavedSpace, vectors)
		span.Int("texts", len(vectors))
		span.End(err)
		stored <- err
	}()
}

// awaitStore waits for the vectors that are being stored. If that fails, they stay unsaved for the next run.
func (r *backfillRun) awaitStore() {
	if r.stored == nil {
		return
	}
	if err := <-r.stored; err != nil {
		r.storeErr = fmt.Errorf("store %d vectors: %w", len(r.writing), err)
		maps.Copy(r.unsaved, r.writing)
	}
	r.stored, r.writing = nil, nil
}

// saveAll stores all vectors, waits for that, and returns storeErr.
func (r *backfillRun) saveAll() error {
	r.awaitStore()
	r.save()
	r.awaitStore()
	return r.storeErr
}

package vectors

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"kioku/embed"
	"kioku/internal/trace"
)

const (
	// backlogPage is the number of texts that are read from the backlog at once.
	backlogPage = 256
	// embedTexts is the number of complete chunks that are embedded at once, unless embedPause has passed since the last ones were.
	embedTexts = 256
	embedPause = time.Second
)

// task is a chunk that is being embedded.
type task struct {
	Text
	layout Layout
	// missing are the texts that the cache lacks.
	missing []part

	left int // texts that were sent and have no outcome
	// err is why the provider refused the document; nil if it did not.
	err error
	// shortened reports that the vector of the document is of its beginning, cut that a window is, and gaps that one has no vector.
	shortened, cut, gaps bool
}

// isTruncated reports whether a part of a complete chunk is in none of its vectors. A text that is too long for the model is whole in its
// windows, unless one is too long itself or was refused.
func (t *task) isTruncated() bool {
	return t.cut || t.shortened && (t.gaps || len(t.layout) == 0)
}

// add takes the outcome for one text of a task.
func (t *task) add(key Key, e embed.Embedding) {
	t.left--
	if key.Kind == Document {
		t.err, t.shortened = e.Err, e.Bytes > 0
		return
	}
	t.cut, t.gaps = t.cut || e.Bytes > 0, t.gaps || e.Vector == nil
}

// fillRun is one run of a Fill. All of it is done by the goroutine of Run.
type fillRun struct {
	*Fill
	saving context.Context // for writes; it ends saveWait after the context of the run
	step   func(State)
	rep    Report
	total  int // chunks to embed, as far as it is known
	rate   rate
	// notified is when the last event was sent, or the run began.
	notified time.Time

	space embed.Space // of the vectors that the provider makes; its dimension is 0 until that is known
	place Place       // in the backlog
	wakes uint64      // of which place knows
	queue []*task     // read from the backlog and not sent
	// active reports that the pass has found something to do.
	active bool
	// tasks are the chunks that are queued or were sent, by their documents, and waiting are those that wait for a text. sent are the keys of the texts
	// by their numbers in the stream.
	tasks   map[Hash]*task
	waiting map[Key][]*task
	sent    [][]Key
	// complete are chunks whose vectors are stored, to be embedded; flushed is when that was last done.
	complete []Text
	flushed  time.Time
	// bought are the documents of chunks for which the provider was asked.
	bought map[Hash]bool
	// otherSpace reports that the provider has begun to make vectors of another space.
	otherSpace bool
	// readErr is why the backlog could not be read, and storeErr why vectors could not be stored. After it nothing more is sent.
	readErr, storeErr error
}

// run passes through the backlog until a pass finds nothing to do.
func (r *fillRun) run(ctx context.Context) error {
	if len(r.unsaved) > 0 {
		if err := r.cache.Put(r.saving, r.unsavedSpace, r.unsaved); err != nil {
			return err
		}
		clear(r.unsaved)
	}
	for {
		if err := r.pass(ctx); err != nil || r.rep.Err != nil {
			return err
		}
		if !r.active && r.wakes == r.Fill.wakes.Load() {
			break
		}
	}
	if r.rep.Embedded > 0 {
		r.total = r.rep.Embedded
		r.reportProgress()
	}
	err := r.index.Adopt(ctx, r.space)
	if errors.Is(err, ErrNotAdopted) {
		r.rep.Err = err
		return nil
	}
	return err
}

// pass goes through the backlog once. A provider that fails sets Report.Err.
func (r *fillRun) pass(ctx context.Context) (err error) {
	if r.space, err = r.cache.Resolve(ctx, r.embedder.Space()); err != nil {
		return err
	}
	r.restart()
	r.active, r.otherSpace, r.sent = false, false, nil
	r.rep.Refused, r.rep.RefusedErr = 0, nil
	r.flushed = r.now()
	err = r.embedder.Stream(ctx, r.texts(ctx), r.receive)
	r.flush()
	if ctx.Err() == nil && cmpErr(err, r.rep.Err, r.readErr, r.storeErr) == nil && !r.otherSpace {
		for _, t := range r.tasks { // the provider has answered, but not for these
			r.refuse(t.Hash, errNoVector)
		}
	}
	clear(r.tasks)
	clear(r.waiting)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.readErr != nil:
		return r.readErr
	case r.storeErr != nil:
		return r.storeErr
	case r.otherSpace:
		clear(r.bought)
		r.active = true
	case err != nil:
		r.rep.Err = err
	}
	return nil
}

// restart goes back to the newest files.
func (r *fillRun) restart() {
	for _, t := range r.queue {
		delete(r.tasks, t.Hash)
	}
	r.wakes, r.place, r.queue = r.Fill.wakes.Load(), Place{}, nil
}

// texts yields the texts that the cache lacks, each once however many chunks wait for it.
func (r *fillRun) texts(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			t := r.next(ctx)
			if t == nil {
				return
			}
			keys := map[string][]Key{} // the keys of a text: a document may be its own only window
			var texts []string
			for _, p := range t.missing {
				t.left++
				waits := r.waiting[p.key]
				r.waiting[p.key] = append(waits, t)
				if waits != nil {
					continue
				}
				if keys[p.text] == nil {
					texts = append(texts, p.text)
				}
				keys[p.text] = append(keys[p.text], p.key)
			}
			for _, text := range texts {
				r.sent = append(r.sent, keys[text])
				if !yield(text) {
					return
				}
			}
		}
	}
}

// next returns the next chunk with texts to send, nil if there is none. A provider that must not be asked now ends the pass here, so that
// what the cache has is used before.
func (r *fillRun) next(ctx context.Context) *task {
	for r.storeErr == nil && r.rep.Err == nil && !r.otherSpace && ctx.Err() == nil {
		if r.wakes != r.Fill.wakes.Load() {
			r.restart()
		}
		if len(r.queue) > 0 {
			t := r.queue[0]
			r.queue = r.queue[1:]
			if h := r.embedder.Health(); !h.Healthy && h.RetryAt.After(r.now()) && len(r.waiting) == 0 {
				r.rep.Err = cmpErr(h.Err, errNotReady)
				return nil
			}
			r.active = true
			return t
		}
		texts, lacking, err := r.index.Backlog(ctx, r.space, r.place, backlogPage)
		if err != nil {
			r.readErr = fmt.Errorf("read the backlog: %w", err)
			return nil
		}
		if len(texts) == 0 {
			return nil
		}
		r.place = texts[len(texts)-1].At
		r.total = max(r.total, r.rep.Embedded+lacking)
		if r.readErr = r.addTasks(ctx, texts); r.readErr != nil {
			return nil
		}
		if len(r.queue) > 0 && r.rep.Embedded == 0 {
			r.reportProgress() // the first request may take long
		}
	}
	return nil
}

// addTasks queues the chunks of which the cache lacks something, and has the others embedded.
func (r *fillRun) addTasks(ctx context.Context, texts []Text) error {
	var tasks []*task
	for _, t := range texts {
		refused, isRefused := r.refused[t.Hash]
		switch {
		case r.tasks[t.Hash] != nil:
		case isRefused && r.now().Before(refused.until):
			r.rep.Refused, r.rep.RefusedErr = r.rep.Refused+1, refused.err
		default:
			tasks = append(tasks, &task{Text: t})
		}
	}
	if err := r.cache.complete(ctx, r.space, tasks); err != nil {
		return err
	}
	var known []Text
	for _, t := range tasks {
		switch {
		case len(t.missing) == 0:
			known = append(known, t.Text)
		case r.tasks[t.Hash] != nil: // another chunk of the page has the same text
		case r.bought[t.Hash]:
			r.rep.Err = errNotKept
		default:
			r.queue, r.tasks[t.Hash] = append(r.queue, t), t
		}
	}
	if len(known) == 0 {
		return nil
	}
	n, err := r.index.Embed(r.saving, r.space, known)
	r.rep.Known += n
	return err
}

// complete sets of each task its windows and what the cache lacks of it.
func (c *Cache) complete(ctx context.Context, space embed.Space, tasks []*task) error {
	parts := make([][]part, len(tasks))
	var documents, windows []Hash
	for i, t := range tasks {
		t.layout, parts[i] = partsOf(t.Text)
		documents, windows = append(documents, t.Hash), append(windows, t.layout.Hashes()...)
	}
	known := map[Key]bool{}
	for kind, hashes := range map[Kind][]Hash{Document: documents, Window: windows} {
		found, err := c.Known(ctx, space, kind, hashes)
		if err != nil {
			return err
		}
		for hash := range found {
			known[Key{kind, hash}] = true
		}
	}
	for i, t := range tasks {
		seen := map[Key]bool{} // a chunk may have a window twice
		for _, p := range parts[i] {
			if !known[p.key] && !seen[p.key] {
				t.missing = append(t.missing, p)
				seen[p.key] = true
			}
		}
	}
	return nil
}

// receive takes the outcomes of one request: it stores the vectors, and has the chunks embedded that are complete.
func (r *fillRun) receive(outcomes []embed.Outcome) {
	vectors := map[Key][]float32{}
	var complete []Text
	for _, o := range outcomes {
		if o.Vector != nil {
			if o.Err = embed.Check(o.Vector, len(o.Vector)); o.Err != nil {
				o.Vector = nil
			}
		}
		if o.Vector == nil {
			o.Err = cmpErr(o.Err, errNoVector)
		} else if r.space.Dims == 0 {
			r.space.Dims = len(o.Vector)
		} else if len(o.Vector) != r.space.Dims {
			r.otherSpace = true // the pass ends with it
			continue
		}
		keys := r.sent[o.Number]
		for _, key := range keys {
			if o.Vector != nil || key.Kind == Window && len(keys) == 1 { // a document that is its own window is asked for again
				vectors[key] = o.Vector
			}
			complete = append(complete, r.finish(key, o.Embedding)...)
		}
	}
	r.save(vectors, complete)
	r.reportProgress()
}

// finish gives an outcome to the chunks that wait for it, and returns those that are complete.
func (r *fillRun) finish(key Key, e embed.Embedding) (complete []Text) {
	for _, t := range r.waiting[key] {
		if t.add(key, e); t.left > 0 {
			continue
		}
		delete(r.tasks, t.Hash)
		if t.err != nil {
			r.refuse(t.Hash, t.err)
			continue
		}
		complete = append(complete, t.Text)
		r.bought[t.Hash] = true
		r.rep.Embedded++
		if t.isTruncated() {
			r.rep.Truncated++
		}
	}
	delete(r.waiting, key)
	return complete
}

// save stores vectors, and then has chunks embedded whose vectors are all stored. What the cache cannot take waits for the next run.
func (r *fillRun) save(vectors map[Key][]float32, complete []Text) {
	if r.storeErr == nil && len(vectors) > 0 {
		ctx, span := trace.Start(r.saving, "put")
		r.storeErr = r.cache.Put(ctx, r.space, vectors)
		span.Int("texts", len(vectors))
		span.End(r.storeErr)
	}
	if r.storeErr != nil {
		r.keepUnsaved(vectors)
		return
	}
	r.complete = append(r.complete, complete...)
	if len(r.complete) >= embedTexts || r.now().Sub(r.flushed) >= embedPause {
		r.flush()
	}
}

// flush has the complete chunks embedded, some at a time: the cache has their vectors, whatever happens before.
func (r *fillRun) flush() {
	r.flushed = r.now()
	if r.storeErr == nil && len(r.complete) > 0 {
		_, r.storeErr = r.index.Embed(r.saving, r.space, r.complete)
		r.complete = nil
	}
}

// keepUnsaved keeps vectors for the next run.
func (r *fillRun) keepUnsaved(vectors map[Key][]float32) {
	if r.unsavedSpace != r.space {
		clear(r.unsaved)
		r.unsavedSpace = r.space
	}
	for key, v := range vectors {
		r.unsaved[key] = v
	}
}

// cmpErr returns the first error that is not nil.
func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Complete returns the vectors of the texts of which the cache has the document and all windows.
func (c *Cache) Complete(ctx context.Context, space embed.Space, texts []Text) (map[Hash]Embedded, error) {
	hashes := make([]Hash, len(texts))
	for i, t := range texts {
		hashes[i] = t.Hash
	}
	documents, err := c.Documents(ctx, space, hashes)
	if err != nil || len(documents) == 0 {
		return nil, err
	}
	layouts := map[Hash]Layout{}
	var windows []Hash
	for _, t := range texts {
		if documents[t.Hash] != nil {
			layouts[t.Hash] = LayoutOf(t.Body)
			windows = append(windows, layouts[t.Hash].Hashes()...)
		}
	}
	found, err := c.Windows(ctx, space, windows)
	known := map[Hash]Embedded{}
	for hash, layout := range layouts {
		if e, ok := assemble(documents[hash], layout, found); ok {
			known[hash] = e
		}
	}
	return known, err
}

// assemble returns a document with its windows. It returns false if one is missing.
func assemble(document []float32, layout Layout, found map[Hash]embed.Window) (Embedded, bool) {
	e := Embedded{Vector: document}
	for _, s := range layout {
		w, ok := found[s.Hash]
		if !ok {
			return e, false
		}
		if len(w.Codes) > 0 {
			w.From, w.To = s.From, s.To
			e.Windows = append(e.Windows, w)
		}
	}
	return e, true
}

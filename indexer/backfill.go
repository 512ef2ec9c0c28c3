package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"
)

const (
	// embedGroup is how many texts go to the provider at once; progress is told after each.
	embedGroup = 64
	// backlogPage is how many texts are read from the backlog at once.
	backlogPage = 512
	// writeAbove is how many vectors may wait for the write of those before.
	writeAbove = 512
	// saveWait bounds storing paid-for vectors after a backfill was cancelled.
	saveWait = 2 * time.Second
	// parkedFor is how long texts that the provider refused are left alone.
	parkedFor = time.Hour
	// retryLeast and retryMost bound the wait after a backfill that failed.
	retryLeast, retryMost = 5 * time.Second, 5 * time.Minute
)

var (
	// errNotReady stands for a provider that is not to be asked now and gives no reason.
	errNotReady = errors.New("the embedding provider is not ready")
	// errNoVector: the provider gave neither a vector for a text nor a reason.
	errNoVector = errors.New("the embedding provider returned no vector for a text")
)

// Backfill gives the chunks of an index their vectors. Its methods may be called concurrently; one run works at a time.
type Backfill struct {
	store VectorStore
	embed Embedder
	now   func() time.Time
	log   *slog.Logger
	turn  chan struct{} // holds a token while a run works
	wake  chan struct{} // tells Watch, and the run under way, that the backlog has changed

	mu     sync.Mutex
	parked map[Hash]parkedText // guarded by mu
}

// parkedText is a text that the provider refused, and how long it is left alone.
type parkedText struct {
	err   error
	until time.Time
}

// NewBackfill returns a backfill. now and log may be nil, for time.Now and no log.
func NewBackfill(store VectorStore, e Embedder, now func() time.Time, log *slog.Logger) *Backfill {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Backfill{store: store, embed: e, now: now, log: log, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		parked: map[Hash]parkedText{}}
}

// BackfillReport is the outcome of a run.
type BackfillReport struct {
	// Embedded counts texts that the provider embedded, Known chunks whose vectors the cache held.
	Embedded, Known int
	// Err is why texts are without vectors, nil if none are.
	Err error
}

// Wake tells that the backlog may have changed: the run under way goes on with the newest files, and Watch begins one.
func (b *Backfill) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run works through the backlog. A call waits for the one before it. step, if it is not nil, is told of the progress.
//
// A provider that fails is no error: BackfillReport.Err says why texts have no vectors. Run returns the errors of the store
// and, once ctx is done, of ctx; what the provider answered by then is stored.
func (b *Backfill) Run(ctx context.Context, step func(Progress)) (BackfillReport, error) {
	if !b.embed.Enabled() {
		return BackfillReport{}, nil
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return BackfillReport{}, ctx.Err()
	}
	defer func() { <-b.turn }()
	if step == nil {
		step = func(Progress) {}
	}
	r := backfillRun{b: b, step: step, unsaved: map[Hash][]float32{}}
	var err error
	if r.rep.Known, err = b.store.AttachKnown(ctx, b.embed.Space()); err == nil {
		err = r.drain(ctx)
	}
	return r.rep, errors.Join(err, r.writeAll(ctx))
}

// Watch runs whenever Wake was called, and when a provider that failed may be asked again, until ctx is done.
func (b *Backfill) Watch(ctx context.Context) {
	if !b.embed.Enabled() {
		return
	}
	failures := 0
	for ctx.Err() == nil {
		rep, err := b.Run(ctx, nil)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failures++
			b.log.Error("embedding failed", "cause", err)
		default:
			failures = 0
		}
		retry := time.NewTimer(b.retryAfter(rep.Err, failures))
		select {
		case <-b.wake:
		case <-retry.C:
		case <-ctx.Done():
		}
		retry.Stop()
	}
}

// retryAfter is how long after a run the next one is due without a call of Wake.
func (b *Backfill) retryAfter(down error, failures int) time.Duration {
	if failures > 0 {
		return min(retryLeast<<min(failures-1, 10), retryMost)
	}
	if h := b.embed.Health(); down != nil && !h.Healthy {
		return min(max(h.RetryAt.Sub(b.now()), retryLeast), retryMost)
	}
	return parkedFor
}

// backfillRun is one run of a backfill.
type backfillRun struct {
	b    *Backfill
	step func(Progress)
	rep  BackfillReport
	// total is how many texts are to be embedded, as far as it is known.
	total int
	// unsaved are answers that wait for the write before; writing are those being stored, until stored is sent the outcome.
	unsaved, writing map[Hash][]float32
	stored           chan error
}

// drain asks for vectors until no text lacks one that can be had.
func (r *backfillRun) drain(ctx context.Context) error {
	var queue []Text
	for {
		select {
		case <-r.b.wake:
			queue = nil
		default:
		}
		if len(queue) == 0 {
			var err error
			if queue, err = r.next(ctx); err != nil || len(queue) == 0 {
				return err
			}
		}
		if err := r.b.notReady(); err != nil {
			r.rep.Err = err
			return nil
		}
		group := queue[:min(embedGroup, len(queue))]
		queue = queue[len(group):]
		fresh, err := r.b.ask(ctx, group)
		r.rep.Embedded += len(fresh)
		maps.Copy(r.unsaved, fresh)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.rep.Err = err
			return nil
		}
		if err := r.write(ctx); err != nil {
			return err
		}
		r.tell()
	}
}

// tell passes the progress on.
func (r *backfillRun) tell() {
	r.total = max(r.total, r.rep.Embedded)
	r.step(Progress{Phase: PhaseEmbed, Embedded: r.rep.Embedded, EmbedTotal: r.total})
}

// next reads the texts that lack a vector and may be sent. It notes why others may not.
func (r *backfillRun) next(ctx context.Context) ([]Text, error) {
	for {
		skip := len(r.unsaved) + len(r.writing) + r.b.countParked()
		texts, chunks, err := r.b.store.Backlog(ctx, r.b.embed.Space(), backlogPage+skip)
		if err != nil {
			return nil, fmt.Errorf("read the backlog: %w", err)
		}
		r.total = max(r.total, r.rep.Embedded+max(chunks-skip, 0))
		open := texts[:0]
		onTheWay := false
		for _, t := range texts {
			err := r.b.refusal(t.Hash)
			switch {
			case r.unsaved[t.Hash] != nil || r.writing[t.Hash] != nil:
				onTheWay = true
			case err != nil:
				r.rep.Err = err
			default:
				open = append(open, t)
			}
		}
		if len(open) == 0 && !onTheWay && r.rep.Embedded > 0 {
			r.total = r.rep.Embedded // equal texts were embedded once
			r.tell()
		}
		if len(open) > 0 || !onTheWay {
			return open, nil
		}
		// Only the answers that are on their way are left; once they are stored, the backlog says what remains.
		if err := r.writeAll(ctx); err != nil {
			return nil, err
		}
	}
}

// write stores the answers beside the next request. As long as those before are being stored, answers are gathered.
func (r *backfillRun) write(ctx context.Context) error {
	if r.stored != nil && len(r.stored) == 0 && len(r.unsaved) < writeAbove {
		return nil
	}
	if err := r.await(); err != nil || len(r.unsaved) == 0 {
		return err
	}
	stored, vectors := make(chan error, 1), r.unsaved
	r.stored, r.writing, r.unsaved = stored, vectors, map[Hash][]float32{}
	go func() { stored <- r.b.put(ctx, vectors) }()
	return nil
}

// await waits for the answers that are being stored, if any.
func (r *backfillRun) await() error {
	if r.stored == nil {
		return nil
	}
	err := <-r.stored
	r.stored, r.writing = nil, nil
	return err
}

// writeAll stores all answers and waits for that.
func (r *backfillRun) writeAll(ctx context.Context) error {
	if err := r.await(); err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	return r.await()
}

// put stores vectors. They were paid for, so a run that is cancelled stores them all the same, if that is soon done.
func (b *Backfill) put(ctx context.Context, vectors map[Hash][]float32) error {
	saving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(saveWait, cancel) })()
	if err := b.store.PutVectors(saving, b.embed.Space(), vectors); err != nil {
		return fmt.Errorf("store %d vectors: %w", len(vectors), err)
	}
	return nil
}

// ask has texts embedded. It returns what the provider gave, parks what it refused, and returns its error if it failed.
func (b *Backfill) ask(ctx context.Context, group []Text) (map[Hash][]float32, error) {
	texts := make([]string, len(group))
	for i, t := range group {
		texts[i] = t.Text
	}
	out, err := b.embed.Documents(ctx, texts)
	fresh := map[Hash][]float32{}
	for i, e := range out[:min(len(out), len(group))] {
		switch {
		case e.Vector != nil:
			fresh[group[i].Hash] = e.Vector
		case err == nil:
			b.park(group[i].Hash, firstErr(e.Err, errNoVector))
		}
	}
	return fresh, err
}

// notReady is why the provider is not to be asked now, nil if it may be.
func (b *Backfill) notReady() error {
	h := b.embed.Health()
	if h.Healthy || !h.RetryAt.After(b.now()) {
		return nil
	}
	return firstErr(h.Err, errNotReady)
}

// park leaves a text alone that the provider refused.
func (b *Backfill) park(h Hash, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parked[h] = parkedText{err, b.now().Add(parkedFor)}
}

// refusal is why a text is left alone, nil if it is not.
func (b *Backfill) refusal(h Hash) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.parked[h]
	if ok && !b.now().Before(p.until) {
		delete(b.parked, h)
		return nil
	}
	return p.err
}

// countParked counts the texts that are left alone.
func (b *Backfill) countParked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.parked)
}

package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"kioku/embed"
	"kioku/internal/trace"
)

const (
	// backlogPage is the number of texts that are read from the backlog at once.
	backlogPage = 512
	// writeAbove is the number of unsaved vectors above which a run waits for the store.
	writeAbove = 512
	// saveWait is how long a cancelled run may take to store the vectors that it has.
	saveWait = 2 * time.Second
	// refusedFor is how long a text that the provider refused is not sent again at first. The time doubles with each refusal, up to
	// refusedMost.
	refusedFor, refusedMost = time.Hour, 24 * time.Hour
	// retryLeast and retryMost are the shortest and the longest wait after a failed run.
	retryLeast, retryMost = 2 * time.Second, 5 * time.Minute
)

var (
	// errNotReady is used if a provider must not be asked now and gives no reason.
	errNotReady = errors.New("the embedding provider is not ready")
	// errNoVector is used if the provider returns neither a vector for a text nor a reason.
	errNoVector = errors.New("the embedding provider returned no vector for a text")
	// errNotKept is used if the backlog still lists a text whose vector was stored.
	errNotKept = errors.New("the index lost a vector that was just stored")
)

// Backfill gives the chunks of an index their vectors. Its methods may be called concurrently; one run works at a time.
type Backfill struct {
	// Notify is told how far a run is and that it has ended; nil tells nobody. It must be set before the first run.
	Notify func(Event)

	store    VectorStore
	embedder Embedder
	now      func() time.Time
	log      *slog.Logger
	turn     chan struct{} // contains a token while a run works
	wake     chan struct{} // contains a token after Wake until Watch takes it
	wakes    atomic.Uint64 // counts the calls of Wake
	// known and embedded are what Counts returns.
	known, embedded atomic.Int64

	state    atomic.Pointer[BackfillState]
	refusals atomic.Pointer[refusals] // of the last run

	// Owned by the run that has the turn.
	unsaved      map[Hash]Vectors     // vectors that are not stored yet, also those that an earlier run could not store
	unsavedSpace embed.Space          // the space of the unsaved vectors
	refused      map[Hash]refusedText // texts that are not sent for now, or that were refused in the last days
}

// refusedText is why the provider refused a text, and when the text may be sent again, which is after a pause.
type refusedText struct {
	err   error
	until time.Time
	pause time.Duration
}

// refusals are the texts that the provider refused.
type refusals struct {
	texts int
	err   error // why it refused one of them
}

// NewBackfill returns a backfill. A nil now means time.Now, and a nil log discards everything.
func NewBackfill(store VectorStore, e Embedder, now func() time.Time, log *slog.Logger) *Backfill {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Backfill{store: store, embedder: e, now: now, log: log, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		unsaved: map[Hash]Vectors{}, refused: map[Hash]refusedText{}}
}

// Refused returns how many texts without a vector the provider refused in or before the last run, and why it refused one of
// them.
func (b *Backfill) Refused() (texts int, err error) {
	if r := b.refusals.Load(); r != nil {
		return r.texts, r.err
	}
	return 0, nil
}

// Counts returns how many chunks have got a cached vector, and how many texts the provider has embedded, in the runs since the
// start that have ended.
func (b *Backfill) Counts() (known, embedded int64) { return b.known.Load(), b.embedded.Load() }

// BackfillReport is the outcome of a run.
type BackfillReport struct {
	// Embedded counts the texts that the provider embedded.
	Embedded int
	// Known counts the chunks that got a cached vector.
	Known int
	// Truncated counts the texts that have a part in no vector, because it is too long for the model.
	Truncated int
	// Refused counts the texts that the provider refuses.
	Refused int
	// RefusedErr is why the provider refuses one of them; nil if it refuses none.
	RefusedErr error
	// Err is why other texts are still without a vector, or wraps ErrNotAdopted if all have one; nil if nothing is left to do.
	Err error

	// stopped is true if texts are left that the provider may accept later.
	stopped bool
}

// Wake reports that the backlog may have changed. A run under way continues with the newest files, and Watch starts one.
func (b *Backfill) Wake() {
	b.wakes.Add(1)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run works through the backlog. It waits until the run before it has ended. onProgress may be nil; it is called by the
// calling goroutine.
//
// A provider that fails is no error: BackfillReport.Err says why texts have no vector. Run returns the errors of the store.
// Once ctx is done, it returns the error of ctx, after it has stored what the provider answered.
func (b *Backfill) Run(ctx context.Context, onProgress func(Progress)) (BackfillReport, error) {
	if !b.embedder.Enabled() {
		return BackfillReport{}, nil
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return BackfillReport{}, ctx.Err()
	}
	defer func() { <-b.turn }()
	if onProgress == nil {
		onProgress = func(Progress) {}
	}
	ctx, span := trace.Start(ctx, "backfill")
	saving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(saveWait, cancel) })()
	r := backfillRun{Backfill: b, saving: saving, onProgress: onProgress, embedded: map[Hash]bool{}, held: b.heldTexts(),
		tasks: map[Hash]*embedTask{}, parts: map[int]taskPart{}}
	defer r.endState()
	defer func() {
		b.known.Add(int64(r.rep.Known))
		b.embedded.Add(int64(r.rep.Embedded))
		span.Int("texts", r.rep.Embedded)
		span.End(r.rep.Err)
	}()
	err := r.drainBacklog(ctx)
	b.refusals.Store(&refusals{r.rep.Refused, r.rep.RefusedErr})
	if ctx.Err() != nil {
		err = ctx.Err() // rather than what the store calls its interruption
	}
	return r.rep, errors.Join(err, r.saveAll())
}

// heldTexts returns the number of refused texts that may not be sent now, and forgets those that are gone.
func (b *Backfill) heldTexts() int {
	now, held := b.now(), 0
	maps.DeleteFunc(b.refused, func(_ Hash, t refusedText) bool {
		if now.Before(t.until) {
			held++
		}
		return now.After(t.until.Add(2 * refusedMost)) // it was not sent since
	})
	return held
}

// Watch starts a run after each call of Wake, and after a wait if the last run left texts without a vector, until ctx is done.
func (b *Backfill) Watch(ctx context.Context) {
	if !b.embedder.Enabled() {
		return
	}
	failures, logged := 0, ""
	for {
		rep, err := b.Run(ctx, nil)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			b.log.Error("backfill failed", "cause", err)
		}
		logged = b.logReport(rep, logged)
		failures++
		if err == nil && !rep.stopped {
			failures = 0
		}
		retry := time.NewTimer(b.retryAfter(failures))
		select {
		case <-b.wake:
		case <-retry.C:
		case <-ctx.Done():
		}
		retry.Stop()
	}
}

// logReport logs what a run could not do, unless it is what was logged last, and returns it.
func (b *Backfill) logReport(rep BackfillReport, logged string) string {
	if rep.Truncated > 0 {
		b.log.Warn("some texts have lines that are longer than the model takes: the ends of these are in no vector", "texts", rep.Truncated)
	}
	cause := fmt.Sprint(rep.Err, rep.Refused, rep.RefusedErr)
	if cause == logged {
		return logged
	}
	if rep.Err != nil {
		b.log.Warn("the backfill is tried again", "cause", rep.Err)
	}
	if rep.Refused > 0 {
		b.log.Warn("the embedding provider refuses some texts", "texts", rep.Refused, "cause", rep.RefusedErr)
	}
	return cause
}

// retryAfter returns the wait for the next run after a number of consecutive failed runs. An unhealthy provider is not asked
// before it allows it.
func (b *Backfill) retryAfter(failures int) time.Duration {
	if failures == 0 {
		return refusedFor
	}
	wait := retryLeast << min(failures-1, 10)
	if h := b.embedder.Health(); !h.Healthy && h.RetryAt.After(b.now()) {
		wait = max(h.RetryAt.Sub(b.now()), wait)
	}
	return min(wait, retryMost)
}

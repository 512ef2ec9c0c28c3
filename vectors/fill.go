package vectors

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"kioku/embed"
	"kioku/internal/trace"
)

const (
	// saveWait is how long a cancelled run may take to store the vectors that it has.
	saveWait = 2 * time.Second
	// refusedFor is how long a text that the provider refused is not sent again at first. The time doubles with each refusal, up to
	// refusedMost.
	refusedFor, refusedMost = time.Hour, 24 * time.Hour
	// retryLeast and retryMost are the shortest and the longest wait after a failed run.
	retryLeast, retryMost = 2 * time.Second, 5 * time.Minute
)

var (
	// ErrNotAdopted is wrapped by the error of Index.Adopt if the index keeps the vectors that it has for now.
	ErrNotAdopted = errors.New("searches still use the vectors of the model before")
	// errNotReady is used if a provider must not be asked now and gives no reason.
	errNotReady = errors.New("the embedding provider is not ready")
	// errNoVector is used if the provider returns neither a vector for a text nor a reason.
	errNoVector = errors.New("the embedding provider returned no vector for a text")
	// errNotKept is used if the backlog still lists a text whose vectors the index was given.
	errNotKept = errors.New("the index lost a vector that was just stored")
)

// Index is what wants vectors. The spaces of package kioku implement it, with a store.
type Index interface {
	// Backlog returns at most limit texts that follow a place, those of newer files first: those of chunks without a vector if the index
	// has vectors of the space, or none at all, and otherwise all. At the first page, lacking is how many chunks lack a vector of the space.
	Backlog(ctx context.Context, space embed.Space, after Place, limit int) (texts []Text, lacking int, err error)
	// Embed gives the chunks with these texts their vectors, as far as the cache has them whole, and returns how many texts it has. It does
	// nothing if the index has vectors of another space.
	Embed(ctx context.Context, space embed.Space, texts []Text) (int, error)
	// Adopt makes a space that of the index in one step, with the vectors that the cache has. It does nothing if it is that already. An
	// error that wraps ErrNotAdopted says why the step must wait; the run reports it and is tried again.
	Adopt(ctx context.Context, space embed.Space) error
}

// Embedded is the vector of a document, and the windows of its chunk.
type Embedded struct {
	// Vector is the unit vector.
	Vector []float32
	// Windows are those that the provider has not refused, in their order.
	Windows []embed.Window
}

// Embedder turns texts into vectors; *embed.Client is one.
type Embedder interface {
	Enabled() bool
	Space() embed.Space
	Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error
	Health() embed.Health
}

// Fill buys the vectors that an index lacks. Its methods may be called concurrently; one run works at a time.
type Fill struct {
	// Notify is called now and then with how far a run is, and with ended once one has ended that has embedded something; nil means
	// nobody. It must be set before the first run.
	Notify func(s State, ended bool)

	cache    *Cache
	index    Index
	embedder Embedder
	now      func() time.Time
	log      *slog.Logger
	turn     chan struct{} // contains a token while a run works
	wake     chan struct{} // contains a token after Wake until Watch takes it
	wakes    atomic.Uint64 // counts the calls of Wake
	// known and embedded are what Counts returns.
	known, embedded atomic.Int64
	state           atomic.Pointer[State]
	refusals        atomic.Pointer[refusals] // of the last run

	// Owned by the run that has the turn.
	refused      map[Hash]refusedText // documents that are not sent for now, or that were refused in the last days
	unsaved      map[Key][]float32    // vectors that the cache could not take
	unsavedSpace embed.Space
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

// NewFill returns the loop of an index. A nil now means time.Now, and a nil log discards everything.
func NewFill(cache *Cache, index Index, e Embedder, now func() time.Time, log *slog.Logger) *Fill {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Fill{cache: cache, index: index, embedder: e, now: now, log: log, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		refused: map[Hash]refusedText{}, unsaved: map[Key][]float32{}}
}

// Refused returns how many texts without a vector the provider refused in or before the last run, and why it refused one of them.
func (f *Fill) Refused() (texts int, err error) {
	if r := f.refusals.Load(); r != nil {
		return r.texts, r.err
	}
	return 0, nil
}

// Counts returns how many chunks have got the vectors of the cache, and for how many the provider was asked, in the runs since the start
// that have ended.
func (f *Fill) Counts() (known, embedded int64) { return f.known.Load(), f.embedded.Load() }

// Report is the outcome of a run.
type Report struct {
	// Embedded counts the chunks for which the provider was asked, and Known those whose vectors were in the cache.
	Embedded, Known int
	// Truncated counts the chunks that have a part in no vector, because it is too long for the model.
	Truncated int
	// Refused counts the chunks that the provider refuses.
	Refused int
	// RefusedErr is why the provider refuses one of them; nil if it refuses none.
	RefusedErr error
	// Err is why other chunks are still without a vector, or wraps ErrNotAdopted if all have one; nil if nothing is left to do.
	Err error
}

// Wake reports that the backlog may have changed. A run under way continues with the newest files, and Watch starts one.
func (f *Fill) Wake() {
	f.wakes.Add(1)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Run works through the backlog. It waits until the run before it has ended. step may be nil; it is called by the calling goroutine.
//
// A provider that fails is no error: Report.Err says why chunks have no vector. Run returns the errors of the index and the cache. Once
// ctx is done, it returns the error of ctx, after it has stored what the provider answered.
func (f *Fill) Run(ctx context.Context, step func(State)) (Report, error) {
	if !f.embedder.Enabled() {
		return Report{}, nil
	}
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	defer func() { <-f.turn }()
	ctx, span := trace.Start(ctx, "backfill")
	saving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(saveWait, cancel) })()
	r := &fillRun{Fill: f, saving: saving, step: step, tasks: map[Hash]*task{}, waiting: map[Key][]*task{}, bought: map[Hash]bool{}}
	f.forgetRefused()
	err := r.run(ctx)
	f.refusals.Store(&refusals{r.rep.Refused, r.rep.RefusedErr})
	f.known.Add(int64(r.rep.Known))
	f.embedded.Add(int64(r.rep.Embedded))
	f.endState(r)
	span.Int("texts", r.rep.Embedded)
	span.End(r.rep.Err)
	if ctx.Err() != nil {
		err = ctx.Err() // rather than what the store calls its interruption
	}
	return r.rep, err
}

// Attach embeds the chunks whose vectors are in the cache, without asking the provider. It returns how many it has embedded.
func (f *Fill) Attach(ctx context.Context) (int, error) {
	if !f.embedder.Enabled() {
		return 0, nil
	}
	space, err := f.cache.Resolve(ctx, f.embedder.Space())
	known := 0
	for place, more := (Place{}), err == nil && space.Dims > 0; more; {
		texts, _, err := f.index.Backlog(ctx, space, place, backlogPage)
		if err != nil || len(texts) == 0 {
			return known, err
		}
		place = texts[len(texts)-1].At
		n, err := f.index.Embed(ctx, space, texts)
		if err != nil {
			return known, err
		}
		known += n
	}
	return known, err
}

// forgetRefused forgets refused texts that are gone: they were not sent since.
func (f *Fill) forgetRefused() {
	now := f.now()
	maps.DeleteFunc(f.refused, func(_ Hash, t refusedText) bool { return now.After(t.until.Add(2 * refusedMost)) })
}

// refuse keeps a document from being sent for a while.
func (f *Fill) refuse(document Hash, err error) {
	pause := min(max(2*f.refused[document].pause, refusedFor), refusedMost)
	f.refused[document] = refusedText{err: err, until: f.now().Add(pause), pause: pause}
}

// Watch starts a run after each call of Wake, and after a wait if the last run left chunks without a vector, until ctx is done.
func (f *Fill) Watch(ctx context.Context) {
	if !f.embedder.Enabled() {
		return
	}
	failures, logged := 0, ""
	for {
		rep, err := f.Run(ctx, nil)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.log.Error("backfill failed", "cause", err)
		}
		logged = f.logReport(rep, logged)
		failures++
		if err == nil && rep.Err == nil {
			failures = 0
		}
		retry := time.NewTimer(f.retryAfter(failures))
		select {
		case <-f.wake:
		case <-retry.C:
		case <-ctx.Done():
		}
		retry.Stop()
	}
}

// logReport logs what a run could not do, unless it is what was logged last, and returns it.
func (f *Fill) logReport(rep Report, logged string) string {
	if rep.Truncated > 0 {
		f.log.Warn("some texts have lines that are longer than the model takes: the ends of these are in no vector", "texts", rep.Truncated)
	}
	cause := fmt.Sprint(rep.Err, rep.Refused, rep.RefusedErr)
	if cause == logged {
		return logged
	}
	if rep.Err != nil {
		f.log.Warn("the backfill is tried again", "cause", rep.Err)
	}
	if rep.Refused > 0 {
		f.log.Warn("the embedding provider refuses some texts", "texts", rep.Refused, "cause", rep.RefusedErr)
	}
	return cause
}

// retryAfter returns the wait for the next run after a number of consecutive failed runs. An unhealthy provider is not asked before it
// allows it.
func (f *Fill) retryAfter(failures int) time.Duration {
	if failures == 0 {
		return refusedFor
	}
	wait := retryLeast << min(failures-1, 10)
	if h := f.embedder.Health(); !h.Healthy && h.RetryAt.After(f.now()) {
		wait = max(h.RetryAt.Sub(f.now()), wait)
	}
	return min(wait, retryMost)
}

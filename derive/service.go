package derive

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"kioku/derive/rule"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/llm"
	"kioku/memory"
)

// Notes is the folder whose notes are derived from. *kioku.Memory implements it.
type Notes interface {
	// Workspace returns the path of the folder.
	Workspace() string
	// ReadSource returns a file as it is indexed. It returns an error if the file is gone or has changed since.
	ReadSource(ctx context.Context, path string) (memory.SourceFile, error)
	// Unindexed returns the transcripts that are not indexed. ReadSource reads them as they are.
	Unindexed() ([]memory.File, error)
	// Search searches the notes.
	Search(ctx context.Context, q memory.Query) (memory.Answer, error)
	// ForgetPast removes the indexes of old notes, and returns where older versions of files with one of the texts in said are still
	// kept, for people.
	ForgetPast(ctx context.Context, paths, said []string) (remaining []string, err error)
}

// Options says what is derived and how. Store and Notes are required.
type Options struct {
	// Store keeps what is derived.
	Store *store.Store
	// Notes are what it is derived from.
	Notes Notes
	// Rules cut files into episodes and read them.
	Rules *rule.Rules
	// Vocabulary of facts; nil means the predicates that are built in.
	Vocabulary *vocab.Vocabulary
	// EntityTypes are types of entities that the model may use beside those that are built in.
	EntityTypes []string

	// Model that derives beside the rules; nil means rules only.
	Model llm.Model
	// ModelServer tells the server of Model from others, which may have another model of the same name; see llm.Config.Server.
	ModelServer string
	// Ceiling of what Model is sent. Secret counts as Private.
	Ceiling memory.Sensitivity
	// Turns bounds the calls of models of several agents at a time; nil bounds none.
	Turns chan struct{}
	// Settle is how long a file must not change before the model is asked about it; 0 means 10 minutes, negative not at all.
	Settle time.Duration
	// MaxTokensPerDay and MaxCallsPerHour bound the model; 0 means 200,000 tokens and 60 calls, negative none at all.
	MaxTokensPerDay, MaxCallsPerHour int
	// Reflect asks the model for reflections too.
	Reflect bool

	// ViewDir is the folder of the views in the workspace; empty writes none.
	ViewDir string
	// ViewCeiling is the ceiling of what the views contain. Secret counts as Private.
	ViewCeiling memory.Sensitivity

	// Now is the clock, in the time zone of the user; nil means time.Now.
	Now func() time.Time
	// Log receives what no caller can be told; nil discards it.
	Log *slog.Logger
}

// Defaults of Options.
const (
	DefaultSettle          = 10 * time.Minute
	DefaultMaxTokensPerDay = 200_000
	DefaultMaxCallsPerHour = 60
)

// Service keeps what is derived from the notes of one agent in step with them, and answers and decides about it. Its methods may be
// called concurrently.
type Service struct {
	opt   Options
	store *store.Store
	notes Notes
	log   *slog.Logger

	// wake has room for one notice that something has changed.
	wake chan struct{}
	// turn contains a token while a pass is under way.
	turn chan struct{}
	// deciding has a token while decisions.md is appended to and applied.
	deciding chan struct{}
	// viewing has a token while the views are written.
	viewing chan struct{}

	mu    sync.Mutex
	state state // guarded by mu
}

// state is what the worker remembers between passes.
type state struct {
	// decisions are those of decisions.md as it was last applied, with the hash of the file and the time.
	decisions    []unit.Decision
	decisionsSum string
	appliedAt    time.Time
	// viewsStale and summariesStale report that something was derived since the views and summaries were made, at viewedAt and
	// summedAt. edited are views that a person has edited.
	viewsStale, summariesStale bool
	viewedAt, summedAt         time.Time
	edited                     []string
	// viewProblem says why the views could not be written; empty if they were.
	viewProblem string
	// derived reports that this process has derived something.
	derived bool
	// expiredAt is when loops expired last.
	expiredAt time.Time
	// waiting are the files that have not settled, with the time since when the model waits for them. It is never changed, only
	// replaced.
	waiting map[string]time.Time
	// setbacks are the tasks of the model that have failed on the way since the program began, by id. The map is guarded by mu too.
	setbacks map[string]setback
	// breaker keeps the model from being asked.
	breaker breaker
}

// New returns the service of an agent. It does nothing until Work or Run is called.
func New(opt Options) (*Service, error) {
	if opt.Store == nil || opt.Notes == nil || opt.Rules == nil {
		return nil, errors.New("derive: the options lack the store, the notes or the rules")
	}
	opt.Settle = cmp.Or(opt.Settle, DefaultSettle)
	opt.MaxTokensPerDay = cmp.Or(opt.MaxTokensPerDay, DefaultMaxTokensPerDay)
	opt.MaxCallsPerHour = cmp.Or(opt.MaxCallsPerHour, DefaultMaxCallsPerHour)
	opt.Ceiling = min(opt.Ceiling, memory.Private)
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.Vocabulary = cmp.Or(opt.Vocabulary, vocab.Default())
	s := &Service{
		opt: opt, store: opt.Store, notes: opt.Notes, log: opt.Log,
		wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), deciding: make(chan struct{}, 1), viewing: make(chan struct{}, 1),
	}
	s.state = state{viewsStale: true, summariesStale: true, setbacks: map[string]setback{}}
	return s, nil
}

// Wake has the worker look whether there is something to derive. It never blocks.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// enter takes a token of a channel with room for one, and returns the function that gives it back.
func enter(ctx context.Context, turn chan struct{}) (leave func(), err error) {
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// remember changes the state under its lock.
func (s *Service) remember(change func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

// recall returns a copy of the state.
func (s *Service) recall() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// changed notes that something was derived, so that views and summaries are out of date.
func (s *Service) changed() {
	s.remember(func(st *state) { st.viewsStale, st.summariesStale, st.derived = true, true, true })
}

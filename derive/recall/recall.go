package recall

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/memory"
)

const (
	defaultMaxResults  = 6
	defaultDeadline    = 1500 * time.Millisecond
	defaultModelBudget = 700 * time.Millisecond
	// callersShare is the part of a caller's time that a search takes at most, so that its answer arrives.
	callersShare = 0.9
)

// Searcher is the ordinary search of a memory; *kioku.Memory is one.
type Searcher interface {
	// Search answers a query without context, further queries and kinds.
	Search(ctx context.Context, q memory.Query) (memory.Answer, error)
}

// Units is what recall reads of what is derived; a *store.Store is one.
type Units interface {
	// Entities returns those that have one of the names of a query.
	Entities(ctx context.Context, q store.EntityQuery) ([]unit.Entity, error)
	// Units returns the units that a query selects.
	Units(ctx context.Context, q memory.UnitQuery) (memory.UnitList, error)
	// MatchUnits returns the units of q that share terms with a text.
	MatchUnits(ctx context.Context, terms []string, q memory.UnitQuery) ([]store.ScoredUnit, error)
	// SensitiveAt returns the episodes above a sensitivity that overlap one of some runs of lines, and the paths of files that are not
	// cut into episodes as they are now.
	SensitiveAt(ctx context.Context, above memory.Sensitivity, places []store.Lines) (found []memory.Episode, uncut []string, err error)
}

// Options of a Recaller. What is not set has its default.
type Options struct {
	// MaxResults of a query that does not say; 0 means 6.
	MaxResults int
	// Deadline of all that is done beside the ordinary search of the message; 0 means 1.5 s, and more if a model may take longer. A caller
	// who has less time gets what there is in that.
	Deadline time.Duration
	// Cut cuts a file into episodes that has just been indexed; nil means that only the owner sees it until it is cut.
	Cut func(ctx context.Context, path string) ([]memory.Episode, error)
	// Expand asks a language model for further wordings of a message; nil means that none is asked.
	Expand func(ctx context.Context, message string, turns []memory.Turn, now time.Time) ([]string, error)
	// Rerank asks a language model which passages answer a message, and returns their places in the list, best first; none
	// means that no passage does. Nil means that none is asked.
	Rerank func(ctx context.Context, message string, turns []memory.Turn, passages []memory.Hit) ([]int, error)
	// Egress is the ceiling of the passages that Rerank is called with.
	Egress memory.Sensitivity
	// ModelBudget is how long each of the two may take; 0 means 700 ms.
	ModelBudget time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Recaller answers queries. Its methods may be called concurrently.
type Recaller struct {
	search Searcher
	units  Units
	opt    Options
	// expanded and reranked cache the answers of the language model.
	expanded *answerCache[[]string]
	reranked *answerCache[[]int]
}

// New returns a Recaller over the search of a memory and what is derived from it.
func New(search Searcher, units Units, opt Options) *Recaller {
	if opt.MaxResults <= 0 {
		opt.MaxResults = defaultMaxResults
	}
	if opt.ModelBudget <= 0 {
		opt.ModelBudget = defaultModelBudget
	}
	if opt.Deadline <= 0 {
		opt.Deadline = max(defaultDeadline, 2*opt.ModelBudget+defaultDeadline/10)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Recaller{search: search, units: units, opt: opt, expanded: newAnswerCache[[]string](), reranked: newAnswerCache[[]int]()}
}

// Search answers a query. A query without context, further queries and kinds gets the answer of the ordinary search, without the
// passages above the ceiling. Whatever else is asked for, an error of the ordinary search of the message is returned as it is, and
// nothing else fails a search: Answer.Degraded says what is missing.
func (r *Recaller) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	begin := time.Now()
	if err := q.CheckRecall(); err != nil {
		return memory.Answer{}, err
	}
	if q.Now.IsZero() {
		q.Now = r.opt.Now()
	}
	s := r.newState(q)
	limit := r.opt.Deadline
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Duration(callersShare*float64(time.Until(end))))
	}
	late, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.startUnits(late)
	s.startQueries(late)
	base, err := r.search.Search(ctx, s.plain(q.Text))
	if err != nil {
		return memory.Answer{}, err
	}
	s.answer = base
	s.addWordings(late)
	s.fuse(late)
	s.withhold(ctx)
	s.rerank(late)
	s.addUnits(late)
	s.limit()
	s.abstain()
	s.answer.Took = time.Since(begin)
	return s.answer, nil
}

// abstain says so if nothing of the answer to a program that recalls for a conversation belongs into a prompt unasked.
func (s *state) abstain() {
	if s.gated() && !slices.ContainsFunc(s.answer.Hits, isAnswer) && len(s.answer.Units) == 0 {
		s.answer.Abstained = "no passage matches with confidence"
	}
}

// isAnswer reports whether a passage is more than a guess.
func isAnswer(h memory.Hit) bool { return !h.Weak }

// guard calls f and turns a panic into an error: what is derived never fails a search.
func guard[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// background calls f on a goroutine of its own and returns where its result comes.
func background[T any](f func() (T, error)) <-chan result[T] {
	out := make(chan result[T], 1)
	go func() {
		value, err := guard(f)
		out <- result[T]{value, err}
	}()
	return out
}

// result is what a function in the background returned.
type result[T any] struct {
	value T
	err   error
}

// await returns the result of a function in the background, or the error of ctx if that ends first.
func await[T any](ctx context.Context, from <-chan result[T]) result[T] {
	select {
	case got := <-from:
		return got
	default:
	}
	select {
	case got := <-from:
		return got
	case <-ctx.Done():
		return result[T]{err: ctx.Err()}
	}
}

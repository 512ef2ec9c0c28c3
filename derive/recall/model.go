package recall

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// confidentScore and confidentMargin are the score of the best passage, and how far it lies above the second one, from which on no
	// language model is waited for.
	confidentScore, confidentMargin = 0.60, 0.15
	// leastToRerank is the number of passages that must be answers for a language model to choose among them; it is asked about at most
	// mostToRerank, of at most rerankChars characters.
	leastToRerank, mostToRerank, rerankChars = 6, 30, 480
	// maxWordings and maxWordingChars bound what a language model adds to a message.
	maxWordings, maxWordingChars = 5, 200
	// cachedAnswers is the number of answers of a language model that are kept.
	cachedAnswers = 256
)

// errInvalid: the answer of a language model is not what it has to be.
var errInvalid = errors.New("the answer of the language model is not what it has to be")

// answerCache keeps the latest answers of a language model in memory.
type answerCache[T any] struct {
	mu      sync.Mutex
	answers map[[32]byte]T
	order   [][32]byte
}

func newAnswerCache[T any]() *answerCache[T] { return &answerCache[T]{answers: map[[32]byte]T{}} }

// get returns the answer to an input.
func (c *answerCache[T]) get(key [32]byte) (answer T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok = c.answers[key]
	return answer, ok
}

// put keeps an answer in place of the oldest one.
func (c *answerCache[T]) put(key [32]byte, answer T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.answers[key]; !known {
		c.order = append(c.order, key)
	}
	c.answers[key] = answer
	if len(c.order) > cachedAnswers {
		delete(c.answers, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
}

// cacheKey returns the hash of what an answer depends on.
func cacheKey(parts ...any) [32]byte {
	data, _ := json.Marshal(parts) // texts and turns always have a JSON form
	return sha256.Sum256(data)
}

// ask returns the cached answer to an input, or that of the language model if it comes within its budget.
func ask[T any](ctx context.Context, s *state, cache *answerCache[T], key [32]byte, call func(context.Context) (T, error)) <-chan result[T] {
	return background(func() (T, error) {
		if answer, ok := cache.get(key); ok {
			return answer, nil
		}
		ctx, cancel := context.WithTimeout(ctx, s.opt.ModelBudget)
		defer cancel()
		got := await(ctx, background(func() (T, error) { return call(ctx) }))
		if got.err == nil {
			cache.put(key, got.value)
		}
		return got.value, got.err
	})
}

// askWordings asks the language model for further wordings of the message.
func (s *state) askWordings(ctx context.Context) <-chan result[[]string] {
	q := s.query
	key := cacheKey(q.Text, q.Context, q.Now.Format("2006-01-02"))
	return ask(ctx, s, s.expanded, key, func(ctx context.Context) ([]string, error) {
		return s.opt.Expand(ctx, q.Text, q.Context, q.Now)
	})
}

// addWordings starts the queries that the language model has added, unless the ordinary search is confident.
func (s *state) addWordings(ctx context.Context) {
	if s.wordings == nil || isConfident(s.answer.Hits) {
		return
	}
	got := await(ctx, s.wordings)
	switch {
	case errors.Is(got.err, context.DeadlineExceeded):
		s.degrade(memory.ExpandTimeout, "The language model has not found other wordings in time; the message was searched for without them.")
		return
	case got.err != nil:
		s.degrade(memory.ExpandInvalid, "The language model has not found other wordings: "+strings.TrimSpace(text.FirstLine(got.err.Error())))
		return
	}
	for _, wording := range got.value[:min(len(got.value), maxWordings)] {
		if utf8.RuneCountInString(wording) <= maxWordingChars {
			s.startQuery(ctx, wording, weightWording)
		}
	}
}

// isConfident reports whether the best passage answers without doubt.
func isConfident(hits []memory.Hit) bool {
	return len(hits) > 0 && hits[0].Score >= confidentScore && (len(hits) == 1 || hits[0].Score-hits[1].Score >= confidentMargin)
}

// rerank has the language model choose among the passages if enough of them are answers. Those that it does not choose are weak. Without
// its answer the order stays.
func (s *state) rerank(ctx context.Context) {
	if !s.reranks() || isConfident(s.answer.Hits) {
		return
	}
	kept, err := s.sensitiveIn(ctx, s.opt.Egress, s.answer.Hits)
	if err != nil {
		return
	}
	var asked []int
	for i, h := range s.answer.Hits {
		stays := func(e memory.Episode) bool { return e.Path == h.Path && h.HasLinesOf(e) }
		if len(asked) < mostToRerank && !h.Weak && !slices.ContainsFunc(kept, stays) {
			asked = append(asked, i)
		}
	}
	if len(asked) < leastToRerank {
		return
	}
	passages := make([]memory.Hit, len(asked))
	for i, at := range asked {
		passages[i] = s.answer.Hits[at]
		passages[i].Snippet = text.Shorten(passages[i].Snippet, rerankChars)
	}
	q := s.query
	got := await(ctx, ask(ctx, s, s.reranked, cacheKey(q.Text, q.Context, passages), func(ctx context.Context) ([]int, error) {
		places, err := s.opt.Rerank(ctx, q.Text, q.Context, passages)
		if err == nil && !arePlaces(places, len(passages)) {
			err = errInvalid
		}
		return places, err
	}))
	switch {
	case errors.Is(got.err, context.DeadlineExceeded):
		s.degrade(memory.RerankTimeout, "The language model has not chosen in time; the passages are in the order of the search.")
	case got.err != nil:
		s.degrade(memory.RerankInvalid, "The language model has not chosen: "+strings.TrimSpace(text.FirstLine(got.err.Error())))
	default:
		s.reorder(asked, got.value)
	}
}

// arePlaces reports whether places are different ones of a list of n.
func arePlaces(places []int, n int) bool {
	for i, p := range places {
		if p < 0 || p >= n || slices.Contains(places[:i], p) {
			return false
		}
	}
	return true
}

// reorder puts the chosen ones of the passages that the language model was asked about first; the others of them are weak.
func (s *state) reorder(asked, chosen []int) {
	var first, rest []memory.Hit
	for _, place := range chosen {
		first = append(first, s.answer.Hits[asked[place]])
	}
	for i, h := range s.answer.Hits {
		at := slices.Index(asked, i)
		if at >= 0 && slices.Contains(chosen, at) {
			continue
		}
		h.Weak = h.Weak || at >= 0
		rest = append(rest, h)
	}
	s.answer.Hits = slices.Concat(first, rest)
}

package embed

import (
	"context"
	"errors"
	"sync"
)

// inFlight lets callers share the vectors of equal texts: those that are being embedded, and cached ones of queries.
type inFlight struct {
	mu      sync.Mutex // guards the fields below
	pending map[textKey]*pendingText
	queries *queryCache
}

type textKey struct {
	kind textKind
	text string
}

// pendingText is a text that one caller is embedding. The outcome is set before done is closed.
type pendingText struct {
	key     textKey
	done    chan struct{}
	outcome Embedding
	err     error // why there is no outcome; nil if there is one
}

// slot is an index in the list of one caller and the pending text for it.
type slot struct {
	index   int
	pending *pendingText
}

func newInFlight(cached int) *inFlight {
	return &inFlight{pending: map[textKey]*pendingText{}, queries: newQueryCache(cached)}
}

// claim looks up the texts with the given indices: it writes cached vectors to out, registers the texts that nobody is
// embedding for this caller (own), and returns the pending texts of other callers (others).
func (f *inFlight) claim(kind textKind, texts []string, indices []int, out []Embedding) (own, others []slot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range indices {
		key := textKey{kind, texts[i]}
		if vec := f.queries.lookup(key.text); kind == query && vec != nil {
			out[i].Vector = vec
		} else if p := f.pending[key]; p != nil {
			others = append(others, slot{i, p})
		} else {
			p = &pendingText{key: key, done: make(chan struct{})}
			f.pending[key] = p
			own = append(own, slot{i, p})
		}
	}
	return own, others
}

// finish tells the callers that wait for p its outcome, or the error for which there is none.
func (f *inFlight) finish(p *pendingText, outcome Embedding, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.outcome, p.err = outcome, err
	delete(f.pending, p.key)
	if p.key.kind == query && outcome.Vector != nil {
		f.queries.insert(p.key.text, outcome.Vector)
	}
	close(p.done)
}

// embed returns the outcomes for texts, which are all different. An error for all texts is the Err of those that have no
// outcome of their own.
func (c *Client) embed(ctx context.Context, kind textKind, texts []string) ([]Embedding, error) {
	out := make([]Embedding, len(texts))
	missing := make([]int, len(texts))
	for i := range missing {
		missing[i] = i
	}
	var err error
	for len(missing) > 0 && err == nil {
		own, others := c.requests.claim(kind, texts, missing, out)
		if err = c.embedOwn(ctx, kind, own, out); err == nil {
			missing, err = c.join(ctx, others, out)
		}
	}
	for i := range out {
		if out[i].Vector == nil && out[i].Err == nil {
			out[i].Err = err
		}
	}
	return out, err
}

// embedOwn embeds the texts that this caller has registered, and finishes them all.
func (c *Client) embedOwn(ctx context.Context, kind textKind, own []slot, out []Embedding) (err error) {
	texts := make([]string, len(own))
	for k, s := range own {
		texts[k] = s.pending.key.text
	}
	finished := 0
	defer func() {
		cause := err
		if cause == nil {
			cause = context.Canceled // after a panic, so that other callers do not wait forever
		}
		for _, s := range own[finished:] {
			c.requests.finish(s.pending, Embedding{}, cause)
		}
	}()
	return c.fetch(ctx, kind, texts, func(k int, e Embedding) {
		out[own[k].index] = e
		c.requests.finish(own[k].pending, e, nil)
		finished = k + 1
	})
}

// join waits for texts that other callers are embedding. It returns the indices of those whose caller gave up, which are to
// be claimed again, and an error if the provider is down or ctx ends.
func (c *Client) join(ctx context.Context, others []slot, out []Embedding) (again []int, err error) {
	for _, s := range others {
		select {
		case <-ctx.Done():
			return nil, c.ended(ctx)
		case <-s.pending.done:
		}
		switch {
		case s.pending.err == nil:
			out[s.index] = s.pending.outcome
		case errors.Is(s.pending.err, ErrUnavailable):
			return nil, s.pending.err
		default:
			again = append(again, s.index)
		}
	}
	return again, nil
}

package embed

import (
	"context"
	"errors"
	"sync"
)

// sharing lets callers share the answers for equal texts: those under way, and for queries the last ones too.
type sharing struct {
	mu      sync.Mutex // guards what follows
	flying  map[question]*flight
	queries *lru
}

type question struct {
	in   input
	text string
}

// flight is a text that one caller, the leader, is embedding. The other fields are set before done is closed.
type flight struct {
	question question
	done     chan struct{}
	outcome  Embedding
	err      error // why there is no outcome
}

// seat is a place in the list of one caller that waits for a flight.
type seat struct {
	index  int
	flight *flight
}

func newSharing(cached int) *sharing {
	return &sharing{flying: map[question]*flight{}, queries: newLRU(cached)}
}

// claim looks at the texts with the given indices: it puts those that are remembered into out, makes the caller
// the leader of those that nobody embeds (mine), and finds the flights of the others (theirs).
func (s *sharing) claim(in input, texts []string, indices []int, out []Embedding) (mine, theirs []seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range indices {
		q := question{in, texts[i]}
		if vec := s.queries.get(q.text); in == forQuery && vec != nil {
			out[i].Vector = vec
		} else if f := s.flying[q]; f != nil {
			theirs = append(theirs, seat{i, f})
		} else {
			f = &flight{question: q, done: make(chan struct{})}
			s.flying[q] = f
			mine = append(mine, seat{i, f})
		}
	}
	return mine, theirs
}

// land ends a flight with its outcome, or with the error for which there is none.
func (s *sharing) land(f *flight, outcome Embedding, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.outcome, f.err = outcome, err
	delete(s.flying, f.question)
	if f.question.in == forQuery && outcome.Vector != nil {
		s.queries.add(f.question.text, outcome.Vector)
	}
	close(f.done)
}

// embed returns the outcomes for texts, which are all different. With an error for all, it is the Err of those
// that have no outcome of their own.
func (c *Client) embed(ctx context.Context, in input, texts []string) ([]Embedding, error) {
	out := make([]Embedding, len(texts))
	missing := make([]int, len(texts))
	for i := range missing {
		missing[i] = i
	}
	var err error
	for len(missing) > 0 && err == nil {
		mine, theirs := c.sharing.claim(in, texts, missing, out)
		if err = c.lead(ctx, in, mine, out); err == nil {
			missing, err = c.follow(ctx, theirs, out)
		}
	}
	for i := range out {
		if out[i].Vector == nil && out[i].Err == nil {
			out[i].Err = err
		}
	}
	return out, err
}

// lead embeds the texts of the caller's own flights and lands them all.
func (c *Client) lead(ctx context.Context, in input, mine []seat, out []Embedding) (err error) {
	texts := make([]string, len(mine))
	for k, s := range mine {
		texts[k] = s.flight.question.text
	}
	landed := 0
	defer func() {
		cause := err
		if cause == nil {
			cause = context.Canceled // a panic: who follows must not wait for ever
		}
		for _, s := range mine[landed:] {
			c.sharing.land(s.flight, Embedding{}, cause)
		}
	}()
	return c.fetch(ctx, in, texts, func(k int, e Embedding) {
		out[mine[k].index] = e
		c.sharing.land(mine[k].flight, e, nil)
		landed = k + 1
	})
}

// follow waits for the flights of others. It returns the indices of those whose leader gave up, which are to be
// claimed again, and an error if the provider is down or ctx ends.
func (c *Client) follow(ctx context.Context, theirs []seat, out []Embedding) (again []int, err error) {
	for _, s := range theirs {
		select {
		case <-ctx.Done():
			return nil, c.gone(ctx)
		case <-s.flight.done:
		}
		switch {
		case s.flight.err == nil:
			out[s.index] = s.flight.outcome
		case errors.Is(s.flight.err, ErrUnavailable):
			return nil, s.flight.err
		default:
			again = append(again, s.index)
		}
	}
	return again, nil
}

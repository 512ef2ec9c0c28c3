package embed

import (
	"container/list"
	"context"
	"slices"
	"strings"
)

// cachedQueries is how many query vectors a client remembers.
const cachedQueries = 512

// Query embeds a text that asks for others, within Config.QueryTimeout. The vectors of the last 512 queries are
// remembered, and equal queries at the same time make one request. The error is ErrDisabled, ErrBlank, the cause
// of ctx, one that wraps ErrUnavailable, or the provider's refusal of this text.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	if !c.Enabled() {
		return nil, ErrDisabled
	}
	if strings.TrimSpace(text) == "" {
		return nil, ErrBlank
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.QueryTimeout, errBudget)
	defer cancel()
	got, err := c.embed(ctx, forQuery, []string{text})
	if err == nil {
		err = got[0].Err
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(got[0].Vector), nil // the caller may change its own
}

// lru remembers the vectors of the texts used last. It is not safe for concurrent use.
type lru struct {
	size  int
	order *list.List // of remembered, last used first
	at    map[string]*list.Element
}

type remembered struct {
	text string
	vec  []float32
}

func newLRU(size int) *lru {
	return &lru{size: size, order: list.New(), at: map[string]*list.Element{}}
}

// get returns nil for a text that is not remembered.
func (l *lru) get(text string) []float32 {
	e := l.at[text]
	if e == nil {
		return nil
	}
	l.order.MoveToFront(e)
	return e.Value.(remembered).vec
}

// add remembers the vector of a text that is not remembered yet.
func (l *lru) add(text string, vec []float32) {
	l.at[text] = l.order.PushFront(remembered{text, vec})
	if l.order.Len() > l.size {
		last := l.order.Back()
		delete(l.at, last.Value.(remembered).text)
		l.order.Remove(last)
	}
}

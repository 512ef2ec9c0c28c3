package embed

import (
	"container/list"
	"context"
	"slices"
	"strings"
)

// cachedQueries is the number of query vectors that a client caches.
const cachedQueries = 512

// Query embeds a text that asks for others, within Config.QueryTimeout. The vectors of the last 512 queries are cached, and
// equal queries at the same time make one request. The error is ErrDisabled, ErrBlank, the cause of ctx, one that wraps
// ErrUnavailable, or the provider's refusal of this text.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	if !c.Enabled() {
		return nil, ErrDisabled
	}
	if strings.TrimSpace(text) == "" {
		return nil, ErrBlank
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.QueryTimeout, errDeadline)
	defer cancel()
	embedded, err := c.embed(ctx, query, []string{text})
	if err == nil {
		err = embedded[0].Err
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(embedded[0].Vector), nil // the caller may change its own
}

// queryCache contains the vectors of the queries used last. It is not safe for concurrent use.
type queryCache struct {
	size  int
	order *list.List // of cachedQuery, last used first
	byKey map[string]*list.Element
}

type cachedQuery struct {
	text   string
	vector []float32
}

func newQueryCache(size int) *queryCache {
	return &queryCache{size: size, order: list.New(), byKey: map[string]*list.Element{}}
}

// lookup returns nil for a text that is not cached.
func (q *queryCache) lookup(text string) []float32 {
	e := q.byKey[text]
	if e == nil {
		return nil
	}
	q.order.MoveToFront(e)
	return e.Value.(cachedQuery).vector
}

// insert caches the vector of a text that is not cached yet, in place of the one used longest ago.
func (q *queryCache) insert(text string, vector []float32) {
	q.byKey[text] = q.order.PushFront(cachedQuery{text, vector})
	if q.order.Len() > q.size {
		last := q.order.Remove(q.order.Back()).(cachedQuery)
		delete(q.byKey, last.text)
	}
}

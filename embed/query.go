package embed

import (
	"context"
	"slices"
)

// cachedQueries is the number of query vectors that a client caches.
const cachedQueries = 512

// Query embeds a text that asks for others, within Config.QueryTimeout. The vectors of the last 512 queries are cached, and
// equal queries at the same time make one request. The error is ErrDisabled, ErrBlank, the cause of ctx, one that wraps
// ErrUnavailable, or the provider's refusal of this text.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	c.Prepare() // not within the time of the first query
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.QueryTimeout, errDeadline)
	defer cancel()
	if c.cfg.QueryLooked != nil {
		c.cfg.QueryLooked(c.cfg.Provider, c.requests.knows(text))
	}
	embedded, err := c.embed(ctx, c.newBisector(query), []string{text})
	if err == nil {
		err = embedded[0].Err
	}
	if err == nil && len(embedded[0].Vector) != c.Space().Dims {
		c.requests.forgetQueries()
		err = unavailable(errLeft)
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(embedded[0].Vector), nil // the caller may change its own
}

// knows reports whether the vector of a query is cached.
func (f *inFlight) knows(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.queries.lookup(text) != nil
}

// forgetQueries empties the cache of queries.
func (f *inFlight) forgetQueries() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = nil
}

// queryCache contains the vectors of the queries used last, the newest at the end. It is not safe for concurrent use.
type queryCache []cachedQuery

type cachedQuery struct {
	text   string
	vector []float32
}

// lookup returns nil for a text that is not cached.
func (q *queryCache) lookup(text string) []float32 {
	i := slices.IndexFunc(*q, func(c cachedQuery) bool { return c.text == text })
	if i < 0 {
		return nil
	}
	hit := (*q)[i]
	*q = append(slices.Delete(*q, i, i+1), hit)
	return hit.vector
}

// insert caches the vector of a text that is not cached yet, in place of the one used longest ago.
func (q *queryCache) insert(text string, vector []float32) {
	if len(*q) == cachedQueries {
		*q = slices.Delete(*q, 0, 1)
	}
	*q = append(*q, cachedQuery{text, vector})
}

package embed

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// cachedQueries is the number of query vectors that a client caches.
const cachedQueries = 512

// Query embeds a text that asks for others, within Config.QueryTimeout. The vectors of the last 512 queries are cached, and
// equal queries at the same time make one request. The error is ErrDisabled, ErrBlank, the cause of ctx, one that wraps
// ErrUnavailable, or the provider's refusal of this text.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	switch {
	case !c.Enabled():
		return nil, ErrDisabled
	case strings.TrimSpace(text) == "":
		return nil, ErrBlank
	}
	vector := c.queries.lookup(text, c.Space().Dims)
	if c.cfg.QueryLooked != nil {
		c.cfg.QueryLooked(c.cfg.Provider, vector != nil)
	}
	if vector != nil {
		return slices.Clone(vector), nil // the caller may change its own
	}
	for {
		f, mine := c.queries.join(text)
		if mine {
			c.embedQuery(ctx, text, f)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, c.ended(ctx)
		}
		if mine || !f.abandoned {
			return slices.Clone(f.vector), f.err
		}
	}
}

// embedQuery embeds a query for all who ask it now, and caches its vector.
func (c *Client) embedQuery(ctx context.Context, text string, f *flight) {
	f.abandoned, f.err = true, context.Canceled // after a panic, so that the others do not wait forever
	defer c.queries.finish(text, f)
	c.Prepare() // not within the time of the query
	limited, cancel := context.WithTimeoutCause(ctx, c.cfg.QueryTimeout, errDeadline)
	defer cancel()
	embedded, err := c.embed(limited, query, []string{text})
	if err == nil {
		f.vector, err = embedded[0].Vector, embedded[0].Err
	}
	f.abandoned, f.err = ctx.Err() != nil, err
}

// flight is a query that is being embedded. Its other fields are set before done is closed.
type flight struct {
	done      chan struct{}
	vector    []float32
	err       error
	abandoned bool // by the caller that embedded it, so that another one has to
}

// queryCache contains the vectors of the queries used last, and the queries that are being embedded. It is safe for concurrent use.
type queryCache struct {
	mu      sync.Mutex         // guards the fields below
	recent  []cachedQuery      // the newest at the end
	flights map[string]*flight // by their texts
}

type cachedQuery struct {
	text   string
	vector []float32
}

// lookup returns nil for a text that has no cached vector of dims dimensions.
func (q *queryCache) lookup(text string, dims int) []float32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.recent, func(c cachedQuery) bool { return c.text == text && len(c.vector) == dims })
	if i < 0 {
		return nil
	}
	hit := q.recent[i]
	q.recent = append(slices.Delete(q.recent, i, i+1), hit)
	return hit.vector
}

// join returns the flight of a query, and whether the caller has to embed it.
func (q *queryCache) join(text string) (f *flight, mine bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if f := q.flights[text]; f != nil {
		return f, false
	}
	if q.flights == nil {
		q.flights = map[string]*flight{}
	}
	f = &flight{done: make(chan struct{})}
	q.flights[text] = f
	return f, true
}

// finish tells the callers that wait for a flight its outcome. Its vector is cached in place of the one used longest ago.
func (q *queryCache) finish(text string, f *flight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.flights, text)
	if f.vector != nil {
		if len(q.recent) == cachedQueries {
			q.recent = slices.Delete(q.recent, 0, 1)
		}
		q.recent = append(q.recent, cachedQuery{text, f.vector})
	}
	close(f.done)
}

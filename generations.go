package kioku

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kioku/embed"
	"kioku/indexer"
	"kioku/search"
	"kioku/store"
)

// generations knows the embedding clients of a memory: the wanted one, whose vectors the backfill builds, and the one that made the
// vectors that searches compare.
type generations struct {
	store   *store.Store // set once, by Open
	wanted  *embed.Client
	now     func() time.Time
	log     *slog.Logger
	changed func(embed.Space) // is called with the new space of the index
	whole   func()            // is called when the index has all vectors of the wanted client
	// open opens the client of a recipe.
	open func(recipe string, space embed.Space) (*embed.Client, error)

	mu  sync.Mutex
	old *reopened // guarded by mu; nil unless the vectors of the index are of another client than the wanted one
}

// newGenerations returns the clients of a memory, whose backfills tell changed and whole. The provider "none" stands for one
// that is missing.
func newGenerations(opt Options, log *slog.Logger, changed func(embed.Space), whole func()) (*generations, error) {
	none, err := embed.New(embed.Config{Provider: "none"})
	if err != nil {
		return nil, err
	}
	g := &generations{wanted: none, now: opt.Now, log: log, changed: changed, whole: whole}
	if opt.Embedder != nil {
		g.wanted = opt.Embedder
	}
	g.open = g.wanted.Reopen
	return g, nil
}

// recipeOf returns how the vectors of a space are made, "" if no client makes them.
func (g *generations) recipeOf(space embed.Space) string {
	g.mu.Lock()
	var old *embed.Client
	if g.old != nil {
		old = g.old.client.Load()
	}
	g.mu.Unlock()
	for _, c := range []*embed.Client{g.wanted, old} {
		if c != nil && c.Enabled() && c.Space().Matches(space) {
			return c.Recipe()
		}
	}
	return ""
}

// active returns the client of the vectors that the index has: the wanted one, or one that is opened again with what the index knows of
// its vectors, and that is closed some time after ctx is done. Without vectors, or if they cannot be asked for, it returns the wanted one.
func (g *generations) active(ctx context.Context) search.Embedder {
	if !g.wanted.Enabled() {
		return g.wanted
	}
	stats, err := g.store.Stats(ctx)
	if err != nil { // the search meets it too
		return g.wanted
	}
	return g.clientOf(ctx, stats)
}

// clientOf is active for an index with these statistics.
func (g *generations) clientOf(ctx context.Context, stats store.Stats) *embed.Client {
	g.retire(stats.Space)
	if stats.Space.IsZero() || stats.Embedded == 0 || g.wanted.Space().Matches(stats.Space) {
		return g.wanted
	}
	if c := g.reopen(ctx, stats); c != nil {
		return c
	}
	return g.wanted
}

// probe asks a client for one vector, and returns why it gives none.
func probe(ctx context.Context, c *embed.Client) error {
	out, err := c.Documents(ctx, []string{"Does the provider answer?"})
	if err == nil && len(out) == 1 {
		err = out[0].Err
	}
	return err
}

// generation is the store as the backfill of one client sees it.
type generation struct {
	*store.Store
	client *embed.Client
	of     *generations
	// answered is when the client last made a vector that was stored.
	answered *atomic.Pointer[time.Time]
}

// newGeneration returns the store as the backfill of a client sees it.
func (g *generations) newGeneration(c *embed.Client) generation {
	return generation{Store: g.store, client: c, of: g, answered: new(atomic.Pointer[time.Time])}
}

// PutVectors implements indexer.VectorStore.
func (g generation) PutVectors(ctx context.Context, space embed.Space, vectors map[indexer.Hash]indexer.Vectors) error {
	g.answered.Store(new(g.of.now()))
	return g.Store.PutVectors(ctx, space, vectors)
}

// probe returns why the provider does not answer. It asks only if that is not known from vectors of the last minute.
func (g generation) probe(ctx context.Context) error {
	if at := g.answered.Load(); at != nil && g.client.Health().Healthy && g.of.now().Sub(*at) < time.Minute {
		return nil
	}
	return probe(ctx, g.client)
}

// ready returns nil if a space may take the place of that of the index: it has vectors of most chunks, and its provider answers.
func (g generation) ready(ctx context.Context, space embed.Space, stats store.Stats) error {
	built, err := g.Built(ctx, space)
	if err != nil {
		return err
	}
	if 2*built < stats.Chunks {
		return fmt.Errorf("%w, %s: only %d of %d chunks have a vector of %s, which refuses the others", indexer.ErrNotAdopted,
			stats.Space.Name(), built, stats.Chunks, space.Name())
	}
	if err := g.probe(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w, %s: all vectors of %s are there, but it does not answer now: %w", indexer.ErrNotAdopted,
			stats.Space.Name(), space.Name(), err)
	}
	return ctx.Err()
}

// Adopt implements indexer.VectorStore. A space becomes that of the index only while its provider answers, so that one that is
// down never replaces one that is not.
func (g generation) Adopt(ctx context.Context, space embed.Space) (bool, error) {
	stats, err := g.Stats(ctx)
	if err == nil && stats.Space.Matches(space) {
		g.of.whole()
	}
	if err != nil || stats.Space.Matches(space) || stats.Embedded == 0 {
		return false, err
	}
	if err := g.ready(ctx, space, stats); err != nil {
		return false, err
	}
	adopted, err := g.Store.Adopt(ctx, space)
	if adopted {
		g.of.log.Info("searches use the vectors of another provider now", "provider", space.Name(), "before", stats.Space.Name())
		g.of.retire(space)
		g.of.changed(space)
	}
	return adopted, err
}

package kioku

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"kioku/embed"
	"kioku/search"
	"kioku/store"
	"kioku/vectors"
)

// generations knows the embedding clients of a memory: the wanted one, whose vectors the backfill builds, and the one that made the
// vectors that searches compare.
type generations struct {
	store   *store.Store // set once, by Open
	wanted  *embed.Client
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
	g := &generations{wanted: none, log: log, changed: changed, whole: whole}
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

// Backlog implements vectors.Index.
func (g *generations) Backlog(ctx context.Context, space embed.Space, after vectors.Place, limit int) ([]vectors.Text, int, error) {
	return g.store.Backlog(ctx, space, after, limit)
}

// Embed implements vectors.Index.
func (g *generations) Embed(ctx context.Context, space embed.Space, texts []vectors.Text) (int, error) {
	return g.store.Embed(ctx, space, texts)
}

// Adopt implements vectors.Index. A space becomes that of the index only while its provider answers, so that one that is down never
// replaces one that is not.
func (g *generations) Adopt(ctx context.Context, space embed.Space) error {
	stats, err := g.store.Stats(ctx)
	if err == nil && stats.Space.Matches(space) {
		g.whole()
	}
	if err != nil || stats.Space.Matches(space) || stats.Embedded == 0 {
		return err
	}
	if err := g.ready(ctx, space, stats); err != nil {
		return err
	}
	adopted, err := g.store.Adopt(ctx, space)
	if adopted {
		g.log.Info("searches use the vectors of another provider now", "provider", space.Name(), "before", stats.Space.Name())
		g.retire(space)
		g.changed(space)
	}
	return err
}

// ready returns nil if a space may take the place of that of the index: it has vectors of most chunks, and its provider answers.
func (g *generations) ready(ctx context.Context, space embed.Space, stats store.Stats) error {
	built, err := g.store.Built(ctx, space)
	if err != nil {
		return err
	}
	if 2*built < stats.Chunks {
		return fmt.Errorf("%w, %s: only %d of %d chunks have a vector of %s, which refuses the others", vectors.ErrNotAdopted,
			stats.Space.Name(), built, stats.Chunks, space.Name())
	}
	if err := probe(ctx, g.wanted); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w, %s: all vectors of %s are there, but it does not answer now: %w", vectors.ErrNotAdopted,
			stats.Space.Name(), space.Name(), err)
	}
	return ctx.Err()
}

package kioku

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"kioku/embed"
	"kioku/indexer"
	"kioku/search"
	"kioku/store"
	"kioku/vectors"
)

// spaces knows the two embedding spaces of a memory: the wanted one, of opt.Embedder, whose vectors the backfill builds, and the active one,
// whose vectors the index has and searches compare. As long as they differ, the model of the active one is open too.
type spaces struct {
	*Memory
	// open opens the client of a recipe.
	open func(recipe string, space embed.Space) (*embed.Client, error)

	mu     sync.Mutex
	before *reopened // guarded by mu; nil unless the active space is another one than the wanted
	closes sync.WaitGroup
}

// reopened is the client of the vectors of the index, opened again from their recipe. Its model may take seconds to load, and much memory
// until it is closed.
type reopened struct {
	space    embed.Space
	load     sync.Once                    // sets client
	client   atomic.Pointer[embed.Client] // nil before load, and if there can be none
	searches sync.WaitGroup               // that may use client
}

// newSpaces returns the spaces of a memory that is being opened.
func newSpaces(m *Memory) *spaces { return &spaces{Memory: m, open: m.opt.Embedder.Reopen} }

// active returns the client of the vectors that the index has: the wanted one, or one that is opened again with what the index knows of
// its vectors, and that is closed some time after ctx is done. Without vectors, or if they cannot be asked for, it returns the wanted one.
func (s *spaces) active(ctx context.Context) search.Embedder {
	wanted := s.opt.Embedder
	if !wanted.Enabled() {
		return wanted
	}
	stats, err := s.store.Stats(ctx)
	if err != nil { // the search meets it too
		return wanted
	}
	s.switchTo(stats.Space)
	if !s.otherModel(stats) {
		return wanted
	}
	if c := s.reopen(ctx, stats); c != nil {
		return c
	}
	return wanted
}

// reopen returns the client of the vectors of the index, nil if there can be none. It stays open until ctx is done. The first call for a
// space loads the model, and others for the space wait for it.
func (s *spaces) reopen(ctx context.Context, stats store.Stats) *embed.Client {
	s.mu.Lock()
	if s.before == nil {
		s.before = &reopened{space: stats.Space}
	}
	o := s.before
	o.searches.Add(1)
	s.mu.Unlock()
	context.AfterFunc(ctx, o.searches.Done)
	o.load.Do(func() {
		c, err := s.open(stats.Recipe, stats.Space)
		if err != nil {
			s.log.Warn("queries cannot be embedded for the vectors of the index; searches use keywords until those of the provider are whole",
				"index", stats.Space.Name(), "provider", s.opt.Embedder.Space().Name(), "cause", err)
			return
		}
		o.client.Store(c)
	})
	return o.client.Load()
}

// switchTo has the client of the vectors before closed, after the searches that use it, if the index has vectors of another space now.
func (s *spaces) switchTo(space embed.Space) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.before
	if o == nil || o.space == space {
		return
	}
	s.before = nil
	s.closes.Go(func() {
		o.searches.Wait()
		if err := o.close(); err != nil {
			s.log.Warn("close the model of the vectors before", "model", o.space.Name(), "err", err)
		}
	})
}

// close closes the client. It waits for queries that are being embedded.
func (o *reopened) close() error {
	if c := o.client.Load(); c != nil {
		return c.Close()
	}
	return nil
}

// close closes the clients of vectors before. No search is under way.
func (s *spaces) close() error {
	s.closes.Wait()
	if s.before == nil {
		return nil
	}
	return s.before.close()
}

// recipeOf returns how the vectors of a space are made, "" if no client makes them.
func (s *spaces) recipeOf(space embed.Space) string {
	s.mu.Lock()
	clients := []*embed.Client{s.opt.Embedder}
	if s.before != nil {
		clients = append(clients, s.before.client.Load())
	}
	s.mu.Unlock()
	for _, c := range clients {
		if c != nil && c.Enabled() && c.Space().Matches(space) {
			return c.Recipe()
		}
	}
	return ""
}

// Backlog implements vectors.Index.
func (s *spaces) Backlog(ctx context.Context, space embed.Space, after vectors.Place, limit int) ([]vectors.Text, int, error) {
	return s.store.Backlog(ctx, space, after, limit)
}

// Embed implements vectors.Index.
func (s *spaces) Embed(ctx context.Context, space embed.Space, texts []vectors.Text) (int, error) {
	return s.store.Embed(ctx, space, texts)
}

// Adopt implements vectors.Index. A space becomes that of the index only while its provider answers, so that one that is down never
// replaces one that is not.
func (s *spaces) Adopt(ctx context.Context, space embed.Space) error {
	stats, err := s.store.Stats(ctx)
	if err == nil && stats.Space.Matches(space) {
		s.indexChanged()
	}
	if err != nil || stats.Space.Matches(space) || stats.Embedded == 0 {
		return err
	}
	if err := s.ready(ctx, space, stats); err != nil {
		return err
	}
	adopted, err := s.store.Adopt(ctx, space)
	if adopted {
		s.log.Info("searches use the vectors of another provider now", "provider", space.Name(), "before", stats.Space.Name())
		s.switchTo(space)
		s.notify(indexer.Event{Kind: indexer.SpaceChanged, Text: space.Name(), Time: s.opt.Now()})
		s.indexChanged() // the space on the disk of the vectors before is given back
	}
	return err
}

// ready returns nil if a space may take the place of that of the index: it has vectors of most chunks, and its provider answers.
func (s *spaces) ready(ctx context.Context, space embed.Space, stats store.Stats) error {
	built, err := s.store.Built(ctx, space)
	if err != nil {
		return err
	}
	if 2*built < stats.Chunks {
		return fmt.Errorf("%w, %s: only %d of %d chunks have a vector of %s, which refuses the others", vectors.ErrNotAdopted,
			stats.Space.Name(), built, stats.Chunks, space.Name())
	}
	out, err := s.opt.Embedder.Documents(ctx, []string{"Does the provider answer?"})
	if err == nil && len(out) == 1 {
		err = out[0].Err
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w, %s: all vectors of %s are there, but it does not answer now: %w", vectors.ErrNotAdopted,
			stats.Space.Name(), space.Name(), err)
	}
	return ctx.Err()
}

// otherModel reports whether the vectors of the index are those of another model than the embedder's.
func (m *Memory) otherModel(stats store.Stats) bool {
	e := m.opt.Embedder
	return e.Enabled() && stats.Embedded > 0 && !stats.Space.Matches(e.Space())
}

// built returns how many chunks have a vector of the embedder's model while the index has those of another one, 0 otherwise.
func (m *Memory) built(ctx context.Context, stats store.Stats) (int, error) {
	if !m.otherModel(stats) {
		return 0, nil
	}
	return m.store.Built(ctx, m.opt.Embedder.Space())
}

// CopyEmbeddings writes the embeddings to a new file with mode 0600.
func (m *Memory) CopyEmbeddings(ctx context.Context, path string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	return m.cache.Copy(ctx, path)
}

// Estimate returns what it takes to embed the texts without a vector. It indexes the words of changed files first, and makes no request.
// Of a model in this process it measures the speed.
func (m *Memory) Estimate(ctx context.Context) (vectors.Estimate, error) {
	if err := m.enter(); err != nil {
		return vectors.Estimate{}, err
	}
	defer m.leave()
	if m.opt.Embedder.Enabled() && m.opt.Mode == Own {
		if _, err := m.index(ctx, SyncOptions{NoRebuild: true}, nil); err != nil {
			return vectors.Estimate{}, err
		}
	}
	return m.fill.Estimate(ctx, m.opt.Embedder)
}

// VectorRows calls each with the vectors that were paid for behind an id of their file, so that they can be copied.
func (m *Memory) VectorRows(ctx context.Context, after int64, each func(vectors.Row) error) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	return m.cache.Rows(ctx, after, each)
}

// PutVectorRows stores vectors of another memory, and gives them to the passages that they are of.
func (m *Memory) PutVectorRows(ctx context.Context, rows []vectors.Row) error {
	if err := m.enterToWrite(); err != nil {
		return err
	}
	defer m.leave()
	if err := m.cache.PutRows(ctx, rows); err != nil {
		return err
	}
	_, err := m.fill.Attach(ctx)
	return err
}

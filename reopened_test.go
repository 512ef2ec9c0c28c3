package kioku

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"kioku/embed"
	"kioku/embed/local"
)

// beforeOther opens a memory whose vectors are of a model of this process, while another provider is wanted that does not answer.
func beforeOther(t *testing.T, s *models) *Memory {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("embed/local/testdata/static")); err != nil {
		t.Fatal(err)
	}
	before, err := embed.New(embed.Config{Provider: "local", ModelDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Workspace: workspace(t, harbors(5)), StateDir: t.TempDir(), Embedder: before, Now: s.time}
	makeIndex(t, opt)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	opt.Embedder = s.client(t, "second")
	s.fail("second", 0)
	return openMemory(t, opt)
}

// isClosed reports whether the model of a client is closed.
func isClosed(c *embed.Client) bool {
	_, err := c.Documents(context.Background(), []string{"Is it open?"})
	return errors.Is(err, local.ErrClosed)
}

// The model of the vectors before is closed once searches use those of another provider, but not before the searches that it was
// given to have ended.
func TestModelBeforeIsClosedAfterTheSwitch(t *testing.T) {
	t.Parallel()
	s := newModels()
	m := beforeOther(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := m.spaces.active(ctx)
	c := e.(*embed.Client)
	if c.Space().Provider != "local" || isClosed(c) {
		t.Fatalf("the client is of %s", c.Space().Name())
	}
	s.fail("second", -1)
	s.pass(time.Hour)
	if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.EmbedErr != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	answeredBy(t, m, "second")
	if isClosed(c) {
		t.Error("the model was closed during a search")
	}
	cancel()
	for deadline := time.Now().Add(2 * time.Minute); !isClosed(c); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the model is still open")
		}
	}
}

// Close closes the model of the vectors before, and leaves the provider of the options to its owner.
func TestCloseClosesTheModelBefore(t *testing.T) {
	t.Parallel()
	s := newModels()
	m := beforeOther(t, s)
	e := m.spaces.active(t.Context())
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if !isClosed(e.(*embed.Client)) {
		t.Error("the model is still open")
	}
}

// While the model of the vectors before is loaded, which happens once for all searches, nobody waits but these.
func TestModelBeforeIsLoadedOnceAndWithoutALock(t *testing.T) {
	t.Parallel()
	s := newModels()
	m := beforeOther(t, s)
	g := m.spaces
	loading, loaded, loads := make(chan struct{}), make(chan struct{}), 0
	open := g.open
	g.open = func(recipe string, space embed.Space) (*embed.Client, error) {
		loads++
		close(loading)
		<-loaded
		return open(recipe, space)
	}
	clients := make(chan *embed.Client, 2)
	for range 2 {
		go func() {
			e := g.active(t.Context())
			clients <- e.(*embed.Client)
		}()
	}
	<-loading
	if g.recipeOf(g.opt.Embedder.Space()) == "" {
		t.Error("the wanted provider has no recipe")
	}
	if !g.mu.TryLock() {
		t.Fatal("the lock is held during the load")
	}
	g.mu.Unlock()
	close(loaded)
	if a, b := <-clients, <-clients; a != b || a.Space().Provider != "local" || loads != 1 {
		t.Errorf("%d loads of %s", loads, a.Space().Name())
	}
}

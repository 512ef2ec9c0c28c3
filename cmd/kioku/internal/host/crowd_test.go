package host

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/memory"
	"kioku/pgstore/pgtest"
)

// Agents of other nodes that are asked at the same time are opened at the same time.
func TestClusterOpensAgentsAtTheSameTime(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	conf, err := config.Load(config.Sources{Dir: home, Env: []string{"HOME=" + home}, Flags: []config.Flag{{Key: "store", Value: pgtest.New(t).Database("crowd")}}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := Open(t.Context(), Options{Conf: conf, Daemon: true, Dir: home, Out: &render.Output{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	var agents []string
	for i := range 16 {
		agents = append(agents, fmt.Sprintf("agent%d", i))
		if _, err := h.cluster.store.Own(t.Context(), agents[i], "elsewhere/1", 0, 0, leaseTime); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for _, agent := range agents {
		all.Go(func() {
			m, err := h.cluster.Memory(t.Context(), agent)
			if err == nil {
				_, err = m.Search(t.Context(), memory.Query{Text: "harbour"})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// Memories of other nodes that nobody asks are closed, and sooner if they are many. Nobody waits for one that is being opened.
func TestClusterClosesIdleAgents(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		open  int
		after time.Duration
		left  int
	}{{crowd, crowdIdle + 1, crowd}, {crowd, replicaIdle + 1, 1}, {crowd + 1, crowdIdle, crowd + 1}, {crowd + 1, crowdIdle + 1, 1}} {
		opened := make(chan struct{})
		close(opened)
		c := &cluster{now: func() time.Time { return noon.Add(test.after) }, replicas: map[string]*replica{}}
		for i := range test.open {
			c.replicas[fmt.Sprint(i)] = &replica{opened: opened, failed: memory.ErrClosed, lock: newLock(), used: noon}
		}
		c.replicas["0"].opened = make(chan struct{})
		if c.closeIdle(); len(c.replicas) != test.left {
			t.Errorf("of %d are %d open after %s", test.open, len(c.replicas), test.after)
		}
	}
}

// While a node makes its index of an agent, which may take long, it holds no transaction of the store, which would be ended.
func TestClusterIndexesOutsideOfTransactions(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	address := pg.Database("outside")
	a, b := testNode(t, address, "a"), testNode(t, address, "b")
	folder := t.TempDir()
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("note%d.md", i)), fmt.Appendf(nil, "# Boat %d\n\nIt is blue.\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testOwner(t, a, "main", folder)
	looked := make(chan struct{})
	open := b.open
	b.open = func(ctx context.Context, agent, workspace string) (*Memory, error) {
		m, err := open(ctx, agent, workspace)
		if err != nil {
			return nil, err
		}
		events := m.Subscribe(ctx)
		go func() {
			defer close(looked)
			for e := range events {
				if e.Kind == indexer.FileIndexed {
					pg.Exec("postgres", "outside", "DO $$ BEGIN IF EXISTS (SELECT FROM pg_stat_activity WHERE state = 'idle in transaction') THEN RAISE 'a transaction is open'; END IF; END $$")
					return
				}
			}
		}()
		return m, nil
	}
	at(t, b, "main")
	<-looked
}

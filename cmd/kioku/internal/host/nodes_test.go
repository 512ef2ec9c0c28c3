package host

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"kioku"
	"kioku/embed"
	"kioku/memory"
	"kioku/pgstore"
	"kioku/pgstore/pgtest"
	"kioku/server"
)

// noon is the time of the nodes, after the last note of the example.
var noon = time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)

// testNode returns a node of the cluster in a database.
func testNode(t *testing.T, address, name string) *cluster {
	t.Helper()
	return testNodeIn(t, address, name, t.TempDir(), nil)
}

// testNodeIn returns a node that keeps its state in a folder, and reaches the database by dial.
func testNodeIn(t testing.TB, address, name, state string, dial pgconn.DialFunc) *cluster {
	t.Helper()
	store, err := pgstore.Open(t.Context(), []string{address}, pgstore.Options{Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(store, pgstore.Node{Name: name}, filepath.Join(state, "cluster"), func() time.Time { return noon }, slog.New(slog.DiscardHandler))
	c.open = func(ctx context.Context, agent, workspace string) (*Memory, error) {
		return testMemory(t, agent, workspace, workspace+stateOf, true), nil
	}
	t.Cleanup(c.close)
	return c
}

// testMemory opens a memory as a host does.
func testMemory(t testing.TB, agent, workspace, state string, given bool) *Memory {
	t.Helper()
	embedder, err := embed.New(embed.Config{Provider: "hash"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := kioku.Open(t.Context(), kioku.Options{Agent: agent, Workspace: workspace, StateDir: state, Embedder: embedder, GivenVectors: given,
		Now: func() time.Time { return noon }, Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return &Memory{Memory: m, served: m}
}

// testOwner has a node own an agent whose folder is a copy of another one.
func testOwner(t *testing.T, c *cluster, agent, folder string) *owned {
	t.Helper()
	ws := t.TempDir()
	if err := os.CopyFS(ws, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	m := testMemory(t, agent, ws, t.TempDir(), false)
	if _, err := m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	o := c.share(m)
	if err := o.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return o
}

// twoNodes returns two nodes of a new database, of which the first owns the agent main with the example.
func twoNodes(t *testing.T, database string) (a, b *cluster, o *owned) {
	t.Helper()
	address := pgtest.New(t).Database(database)
	a, b = testNode(t, address, "a"), testNode(t, address, "b")
	return a, b, testOwner(t, a, "main", example)
}

// at returns the memory of an agent at a node.
func at(t *testing.T, c *cluster, agent string) server.Memory {
	t.Helper()
	m, err := c.Memory(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// hits returns what a search shows.
func hits(t *testing.T, m server.Memory, query string) (all []memory.Hit) {
	t.Helper()
	a, err := m.Search(t.Context(), memory.Query{Text: query})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(a.Degraded, func(d memory.Degradation) bool { return d.Code == memory.IndexStale }) {
		t.Errorf("%s: %+v", query, a.Degraded)
	}
	for _, h := range a.Hits {
		h.Trace = nil
		all = append(all, h)
	}
	return all
}

const example = "../../../../examples/workspace"

// sameFiles compares the Markdown of two folders.
func sameFiles(t *testing.T, want, got string) {
	t.Helper()
	read := func(dir string) map[string]string {
		all := map[string]string{}
		_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".md") {
				text, _ := os.ReadFile(name)
				rel, _ := filepath.Rel(dir, name)
				all[rel] = string(text)
			}
			return nil
		})
		return all
	}
	if diff := cmp.Diff(read(want), read(got)); diff != "" {
		t.Error(diff)
	}
}

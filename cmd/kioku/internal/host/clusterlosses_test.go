package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kioku"
	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/pgstore"
	"kioku/pgstore/pgtest"
	"kioku/server"
)

// storeFiles returns the files that the store has of an agent.
func storeFiles(t *testing.T, c *cluster, agent string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := c.store.Since(t.Context(), agent, 0, func(ctx context.Context, r pgstore.Reading) error {
		return r.Files(ctx, func(f pgstore.File) error {
			if f.Data != nil {
				all[f.Path] = string(f.Data)
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// serveFolder has a node serve a folder.
func serveFolder(t *testing.T, c *cluster, agent, ws string) *owned {
	t.Helper()
	m := testMemory(t, agent, ws, t.TempDir(), false)
	if _, err := m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	return c.share(m)
}

// A folder that has all that the store has is the agent's without a record of it; one that lacks something is not, nor is a copy while the owner is there.
func TestClusterKnowsAWholeFolder(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("whole")
	a := testNode(t, address, "a")
	o := testOwner(t, a, "main", example)
	again := func(ws string) error {
		return serveFolder(t, testNode(t, address, "b"), "main", ws).push(t.Context(), nil)
	}
	if err := again(o.Workspace()); !errors.Is(err, pgstore.ErrFenced) {
		t.Errorf("from an owner that is there: %v", err)
	}
	if err := a.store.Release(t.Context(), "main", o.epoch.Load()); err != nil {
		t.Fatal(err)
	}
	older := t.TempDir()
	if err := errors.Join(os.CopyFS(older, os.DirFS(o.Workspace())), os.Remove(filepath.Join(older, "USER.md"))); err != nil {
		t.Fatal(err)
	}
	if err := again(older); !errors.Is(err, pgstore.ErrFenced) {
		t.Errorf("a folder that lacks a file: %v", err)
	}
	if err := again(o.Workspace()); err != nil {
		t.Error(err)
	}
	if _, err := a.store.Drain(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it first learns that it was one
		if err := o.push(t.Context(), nil); !errors.Is(err, pgstore.ErrFenced) {
			t.Errorf("a former owner takes the agent back: %v", err)
		}
	}
}

// A machine that replaces a lost one has its name and paths, and a new folder. It must not take all notes from the cluster.
func TestClusterReplacedMachine(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("replaced")
	a := testNode(t, address, "kioku1")
	o := testOwner(t, a, "main", example)
	before := len(storeFiles(t, a, "main"))
	ws := o.Workspace()
	a.close() // its machine is lost
	_ = o.m.Close()
	if err := os.RemoveAll(ws); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "MEMORY.md"), []byte("# Memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := testNode(t, address, "kioku1")
	n := serveFolder(t, again, "main", ws)
	err := n.push(t.Context(), nil)
	if after := len(storeFiles(t, again, "main")); after < before {
		t.Errorf("the cluster had %d files and has %d (push: %v)", before, after, err)
	}
}

// A machine that is restored from a snapshot, folder and state, lacks notes that were acknowledged since.
func TestClusterRestoredSnapshot(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("snapshot")
	state := t.TempDir()
	a, b := testNodeIn(t, address, "kioku1", state, nil), testNode(t, address, "b")
	o := testOwner(t, a, "main", example)
	ws := o.Workspace()
	snapState, snapWS := t.TempDir(), t.TempDir()
	if err := os.CopyFS(snapState, os.DirFS(state)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(snapWS, os.DirFS(ws)); err != nil {
		t.Fatal(err)
	}
	a.close() // it restarts: two more epochs
	for range 2 {
		x := testNodeIn(t, address, "kioku1", state, nil)
		x.share(o.m)
		o = x.owned["main"]
		if err := o.push(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := at(t, b, "main").Append(t.Context(), memory.Note{Text: fmt.Sprintf("Acknowledged by b in epoch %d.", o.epoch.Load())}); err != nil {
			t.Fatal(err)
		}
		if err := o.push(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		x.close()
	}
	_ = o.m.Close()
	if n := strings.Count(fmt.Sprint(storeFiles(t, b, "main")), "Acknowledged by b"); n != 2 {
		t.Fatalf("%d notes", n)
	}
	for dst, src := range map[string]string{ws: snapWS, state: snapState} {
		if err := os.RemoveAll(dst); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dst, os.DirFS(src)); err != nil {
			t.Fatal(err)
		}
	}
	y := testNodeIn(t, address, "kioku1", state, nil)
	n := serveFolder(t, y, "main", ws)
	err := n.push(t.Context(), nil)
	if n := strings.Count(fmt.Sprint(storeFiles(t, b, "main")), "Acknowledged by b"); n != 2 {
		t.Errorf("%d of 2 acknowledged notes are left (push: %v)", n, err)
	}
}

// A move that breaks off at any step loses no note.
func TestClusterMoveThatBreaks(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	addresses := []string{pg.Database("one"), pg.Database("two")}
	for n := 5; n < 120; n++ {
		w := &wire{}
		w.Break(-1)
		mover, err := pgstore.Open(t.Context(), addresses, pgstore.Options{Dial: w.dial})
		if err != nil {
			t.Fatal(err)
		}
		writer, err := pgstore.Open(t.Context(), addresses, pgstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		agent := fmt.Sprint("agent", n)
		if _, err := writer.Own(t.Context(), agent, "a", 0, 0, time.Minute); err != nil {
			t.Fatal(err)
		}
		all, _ := writer.Agents(t.Context())
		to := ""
		for _, a := range all {
			if a.Name == agent {
				for _, s := range writer.Shards() {
					if s != a.Shard {
						to = s
					}
				}
			}
		}
		if err := mover.Reach(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Break(n)
		moved := mover.Move(t.Context(), agent, to)
		mover.Close()
		for { // until the server has noticed
			ctx, done := context.WithTimeout(t.Context(), 15*time.Second)
			_, err = writer.Change(ctx, agent, 0, func(ctx context.Context, c *pgstore.Change) error {
				return c.Wait(ctx, memory.Note{Text: "acknowledged", Key: "k"}, time.Now())
			})
			done()
			break
		}
		writer.Close()
		later, err2 := pgstore.Open(t.Context(), addresses, pgstore.Options{})
		if err2 != nil {
			t.Fatal(err2)
		}
		a, err2 := later.Agent(t.Context(), agent)
		later.Close()
		if err == nil && (err2 != nil || a.Waiting != 1) {
			t.Fatalf("broken at message %d (%v): the note was acknowledged, and %d wait, %v", n, moved, a.Waiting, err2)
		}
		if moved == nil {
			return
		}
	}
}

// The store is restored from a backup: mirrors have what it has not.
func TestClusterRestoredStore(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	address := pg.Database("restored")
	a, b := testNode(t, address, "a"), testNode(t, address, "b")
	o := testOwner(t, a, "main", example)
	at(t, b, "main")
	backup := storeFiles(t, a, "main")
	st, _ := a.store.Agent(t.Context(), "main")
	if err := os.WriteFile(filepath.Join(o.Workspace(), "memory/lost.md"), []byte("# Lost\n\nThe wombat is only in the lost generation.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := o.m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := o.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	at(t, b, "main")
	_ = backup
	// as pg_basebackup of the time before: the row is not there, the generation is the old one, and the folder was lost with the owner
	conn, err := pgx.Connect(t.Context(), pg.Address("postgres", "restored"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "DELETE FROM kioku.files WHERE path = 'memory/lost.md'"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "UPDATE kioku.agents SET generation = $1", st.Generation); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := hits(t, at(t, b, "main"), "wombat")
		if len(got) > 0 && strings.Contains(got[0].Snippet, "wombat") {
			t.Errorf("found in a store that lacks it: %+v", got[0].Snippet)
		}
	}
}

// The settings of a folder count at a node that sees it for the first time.
func TestClusterSettingsOfTheFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	conf, err := config.Load(config.Sources{Dir: home, Env: []string{"HOME=" + home}, Flags: []config.Flag{{Key: "store", Value: pgtest.New(t).Database("settings")}, {Key: "provider", Value: "none"}}})
	if err != nil {
		t.Fatal(err)
	}
	open := func() *Host {
		h, err := Open(t.Context(), Options{Conf: conf, Daemon: true, Dir: home, Out: &render.Output{}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	epoch, err := h.cluster.store.Own(t.Context(), "main", "elsewhere/1", 0, 0, leaseTime)
	if err == nil {
		_, err = h.cluster.store.Change(t.Context(), "main", epoch, func(ctx context.Context, c *pgstore.Change) error {
			files := []pgstore.File{{Path: ".kioku.yaml", Data: []byte("query: {maxResults: 1}\n")}}
			for i := range 4 {
				files = append(files, pgstore.File{Path: fmt.Sprintf("memory/boat%d.md", i), Data: fmt.Appendf(nil, "# Boat %d\n\nThe boat has the number %d.\n", i, i)})
			}
			return c.Put(ctx, files...)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		m, err := h.cluster.Memory(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.Search(t.Context(), memory.Query{Text: "boat number"})
		if err != nil {
			t.Fatal(err)
		}
		return len(a.Hits)
	}
	first := count()
	_ = h.Close()
	h = open()
	defer h.Close()
	if again := count(); first != again {
		t.Errorf("%d hits, and %d when it was opened again", first, again)
	}
}

// Two machines with one name and path (a clone, the same compose file twice) do not both write.
func TestClusterTwoOfOneName(t *testing.T) {
	t.Parallel()
	s, err := pgstore.Open(t.Context(), []string{pgtest.New(t).Database("clone")}, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put := func(epoch int64, text string) error {
		_, err := s.Change(t.Context(), "main", epoch, func(ctx context.Context, c *pgstore.Change) error {
			return c.Put(ctx, pgstore.File{Path: "MEMORY.md", Data: []byte(text)})
		})
		return err
	}
	first, err := s.Own(t.Context(), "main", "kioku1/aa", 0, 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Own(t.Context(), "main", "kioku1/aa", 0, 0, time.Minute) // which never had it
	if err == nil {
		err = put(second, "of the clone")
	}
	fenced := put(first, "of the first")
	third, again := s.Own(t.Context(), "main", "kioku1/aa", first, 0, time.Minute)
	if again == nil {
		again = put(third, "of the first")
	}
	if err == nil && again == nil {
		t.Errorf("both write while the lease runs; between: %v", fenced)
	}
}

// A mirror that was cut short by a power cut heals.
func TestClusterMirrorAfterAPowerCut(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("power")
	a, state := testNode(t, address, "a"), t.TempDir()
	o := testOwner(t, a, "main", example)
	b := testNodeIn(t, address, "b", state, nil)
	at(t, b, "main")
	b.close()
	mirror := filepath.Join(b.dir, "main")
	if err := os.WriteFile(filepath.Join(mirror, "MEMORY.md"), nil, 0o600); err != nil { // was never fsynced, the record was
		t.Fatal(err)
	}
	c := testNodeIn(t, address, "b", state, nil)
	at(t, c, "main")
	sameFiles(t, o.Workspace(), mirror)
}

// A node that starts while the store is away answers from what it has.
func TestClusterStartsWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	address := pg.Database("start")
	a, state := testNode(t, address, "a"), t.TempDir()
	testOwner(t, a, "main", example)
	b := testNodeIn(t, address, "b", state, nil)
	at(t, b, "main")
	b.close()
	c := testNodeIn(t, address, "b", state, nil)
	pg.Stop()
	defer pg.Continue()
	short, done := context.WithTimeout(t.Context(), 5*time.Second)
	defer done()
	if _, err := c.Memory(short, "main"); err != nil {
		t.Error(err)
	}
	pg.Continue()
}

// Many restarts of a peer leave no connections.
func TestClusterPeersAreForgotten(t *testing.T) {
	t.Parallel()
	a, b, _ := twoNodes(t, "peers")
	b.dial = func(target, token string) (*client.Client, error) {
		return &client.Client{Conn: &http.Transport{}}, nil
	}
	for i := range 20 {
		a.node.Address, a.node.Secret = "a.example:7600", fmt.Sprint("secret ", i)
		if err := a.store.Join(t.Context(), a.node); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Elsewhere(t.Context(), "main", true); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.peers) > 1 {
		t.Errorf("%d clients of one peer", len(b.peers))
	}
}

// A former owner's own programs (sidecars, the council) ask its memory directly.
func TestClusterFencedOwnerTellsSo(t *testing.T) {
	t.Parallel()
	a, b, o := twoNodes(t, "direct")
	if _, err := at(t, b, "main").Append(t.Context(), memory.Note{Text: "The wombat was told at b."}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.Change(t.Context(), "main", 0, func(ctx context.Context, c *pgstore.Change) error {
		_, err := c.Take(ctx, "b/1", leaseTime)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	o.renew(t.Context())
	got, err := o.m.served.Search(t.Context(), memory.Query{Text: "wombat"}) // as MemoryOf hands it out
	if err == nil && len(got.Degraded) == 0 || err == nil && !strings.Contains(fmt.Sprint(got.Degraded), memory.StoreAway) && !strings.Contains(fmt.Sprint(got.Hits), "wombat") {
		t.Errorf("fenced %v: %d hits, %v, %v", o.fenced.Load(), len(got.Hits), got.Degraded, err)
	}
	other := at(t, a, "main")
	if got, err := other.Search(t.Context(), memory.Query{Text: "wombat"}); err != nil || !strings.Contains(fmt.Sprint(got.Degraded), memory.FolderReplaced) || !strings.Contains(fmt.Sprint(got.Hits), "wombat") {
		t.Errorf("%+v, %v", got, err)
	}
	if st, err := other.Status(t.Context()); err != nil || !strings.Contains(fmt.Sprint(st.Degraded), memory.FolderReplaced) {
		t.Errorf("%+v, %v", st.Degraded, err)
	}
}

// A node that has just started knows the agents that it has on its disk, also while the store is away.
func TestClusterKnowsItsMirrorsWithoutTheStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "cluster"), 0o700), os.WriteFile(filepath.Join(dir, "cluster", "nova.json"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	c := testNodeIn(t, "postgres:///none?host=/nowhere", "a", dir, nil)
	if names, err := c.Agents(t.Context()); err != nil || fmt.Sprint(names) != "[nova]" {
		t.Errorf("%q, %v", names, err)
	}
}

// unitLister is a memory from which something was derived.
type unitLister struct{ server.Memory }

func (unitLister) Units(context.Context, memory.UnitQuery, string) (memory.UnitList, error) {
	return memory.UnitList{Units: []memory.Unit{{Text: "paint the buoy"}}}, nil
}

// What was derived is there for the programs of the machine with the folder.
func TestClusterOwnerHasWhatWasDerived(t *testing.T) {
	t.Parallel()
	m := testMemory(t, "main", t.TempDir(), t.TempDir(), false)
	m.served = unitLister{m.served}
	c := newCluster(nil, pgstore.Node{}, t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if list, err := memory.UnitsOf(t.Context(), c.share(m), memory.UnitQuery{}, ""); err != nil || len(list.Units) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

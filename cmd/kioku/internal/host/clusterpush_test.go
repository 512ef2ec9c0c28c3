package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"kioku/embed"
	"kioku/memory"
	"kioku/pgstore"
	"kioku/pgstore/pgtest"
	"kioku/vectors"
)

// However many notes wait, they come into the folder, some in each commit.
func TestClusterManyNotesWait(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("many")
	a := testNode(t, address, "a")
	o := testOwner(t, a, "main", example)
	const notes = 2*waitingAtOnce + 50
	if _, err := a.store.Change(t.Context(), "main", 0, func(ctx context.Context, c *pgstore.Change) error {
		for i := range notes {
			c.Generation++
			if err := c.Wait(ctx, memory.Note{Text: fmt.Sprintf("Note %d is about the lock %d of the canal.", i, i*7), Key: fmt.Sprint("k", i)}, noon); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := o.push(t.Context(), []string{}); err != nil {
		t.Fatal(err)
	}
	if st, err := a.store.Agent(t.Context(), "main"); err != nil || st.Waiting != 0 {
		t.Errorf("%d notes wait, %v", st.Waiting, err)
	}
}

// An owner that starts again sends only vectors that the store lacks.
func TestClusterRestartSendsAllVectors(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("vectors")
	h := &counted{}
	a := testNode(t, address, "a")
	o := testOwner(t, a, "main", example)
	a.close()
	again := testNodeIn(t, address, "a", filepath.Dir(a.dir), h.dial)
	again.share(o.m)
	n := again.owned["main"]
	if err := n.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	first := h.sent.Load()
	if err := n.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if second := h.sent.Load() - first; first > 10*second+20_000 {
		t.Errorf("a start sends %d bytes, and a push of nothing %d", first, second)
	}
}

type counted struct{ sent atomic.Int64 }

type countedConn struct {
	net.Conn
	h *counted
}

func (h *counted) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return countedConn{conn, h}, err
}

func (c countedConn) Write(b []byte) (int, error) {
	c.h.sent.Add(int64(len(b)))
	return c.Conn.Write(b)
}

// A file that changes without another size or time is sent once the index has noticed.
func TestClusterSameSizeAndTime(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("same")
	a := testNode(t, address, "a")
	o := testOwner(t, a, "main", example)
	name := filepath.Join(o.Workspace(), "MEMORY.md")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(name)
	changed := strings.Replace(string(text), "Long-term", "Lang-term", 1)
	if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Chtimes(name, info.ModTime(), info.ModTime())
	for _, paths := range [][]string{{"MEMORY.md"}, nil} {
		if err := o.push(t.Context(), paths); err != nil {
			t.Fatal(err)
		}
	}
	if storeFiles(t, a, "main")["MEMORY.md"] != changed {
		t.Error("the store has the old text")
	}
}

// What an operation has written is in the store when it is acknowledged, also among much else that was not there yet.
func TestClusterSendsMuchInParts(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("parts")
	a := testNode(t, address, "a")
	o := testOwner(t, a, "main", example)
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(o.Workspace(), fmt.Sprintf("A%d.md", i)), []byte(strings.Repeat("The weir is old.\n", pushBytes/20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.Update(t.Context(), memory.Update{OldText: "# Long-term memory", NewText: "# What lasts"}); err != nil {
		t.Fatal(err)
	}
	files := storeFiles(t, a, "main")
	if !strings.Contains(files["MEMORY.md"], "# What lasts") || files["A3.md"] == "" {
		t.Errorf("%q", files["MEMORY.md"])
	}
}

// Many vectors go to the store in parts, and all of them come.
func TestClusterSendsVectorsInParts(t *testing.T) {
	t.Parallel()
	a := testNode(t, pgtest.New(t).Database("many"), "a")
	o := testOwner(t, a, "main", example)
	before, err := a.store.Agent(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]vectors.Row, 700)
	for i := range rows {
		rows[i] = vectors.Row{Space: embed.Space{Provider: "p", Model: "m", Dims: 1024}, Kind: "document", Hash: vectors.Hash(sha256.Sum256(fmt.Append(nil, i))), Vector: make([]byte, 4096)}
	}
	if err := errors.Join(o.m.PutVectorRows(t.Context(), rows), o.push(t.Context(), []string{})); err != nil {
		t.Fatal(err)
	}
	stored := 0
	err = a.store.Since(t.Context(), "main", before.Generation, func(ctx context.Context, r pgstore.Reading) error {
		if r.Agent.Generation < before.Generation+2 {
			t.Errorf("one commit has all of them")
		}
		return r.Vectors(ctx, func(pgstore.Vector) error { stored++; return nil })
	})
	if err != nil || stored != len(rows) {
		t.Errorf("%d of %d vectors, %v", stored, len(rows), err)
	}
}

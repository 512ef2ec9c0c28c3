package kioku

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	derived "kioku/derive/store"
	"kioku/internal/testkit"
	"kioku/store"
	"kioku/store/storetest"
	"kioku/vectors"
)

// litestream makes the tables of Litestream in a database, copies the log into the file, and reads the log until the test ends.
func litestream(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=5000")
	testkit.Must(t, err)
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, stmt := range []string{
		"CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
		"CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)",
		"INSERT INTO _litestream_seq (id, seq) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1",
		"PRAGMA wal_checkpoint(PASSIVE)",
		"BEGIN",
		"SELECT count(*) FROM _litestream_seq",
	} {
		_, err := db.Exec(stmt)
		testkit.Must(t, err)
	}
	testkit.WriteFile(t, filepath.Dir(path), "."+filepath.Base(path)+"-litestream/generation", "x")
}

// Litestream may copy the embeddings: they stay as they are, and are whole. The index and what is derived have pages that no other program can
// write; they are made again, without an answer less and without a text that is paid for again.
func TestLitestreamCostsNothingThatWasPaidFor(t *testing.T) {
	ix := newSoundIndex(t, true)
	for name, c := range map[string]struct {
		path func(state, agent string) string
		kept bool
	}{"embeddings": {vectors.Path, true}, "index": {store.Path, false}, "derived": {derived.Path, false}} {
		for when, running := range map[string]bool{"at rest": false, "running": true} {
			t.Run(name+" "+when, func(t *testing.T) {
				state := ix.copyTo(t)
				ctx := t.Context()
				open := func() *Memory {
					m, err := Open(ctx, Options{Workspace: ix.workspace, StateDir: state, Embedder: ix.embedder})
					testkit.Must(t, err)
					return m
				}
				m := open()
				defer func() { m.Close() }()
				testkit.Must(t, m.Derived().PutAnswer(ctx, "facts/1", "m", [32]byte{1}, "an answer", []string{"e"}, 1, 2))
				if !running {
					testkit.Must(t, m.Close())
				}
				path := c.path(state, "main")
				before, err := os.Stat(path)
				testkit.Must(t, err)
				paid := len(ix.provider.all())
				litestream(t, path)
				if !running {
					m = open()
				}
				for range 2 {
					_, err = m.Sync(ctx, SyncOptions{Verify: true}, nil)
					testkit.Must(t, err)
					m.checkOnce(ctx)
					settle(t, m)
				}
				for n, want := range ix.answers {
					if got, degraded := askFerry(t, m, n); got != want || len(degraded) > 0 {
						t.Errorf("%s, %+v", cmp.Diff(want, got), degraded)
					}
				}
				if answer, err := m.Derived().CachedAnswer(ctx, "facts/1", "m", [32]byte{1}); answer != "an answer" || err != nil {
					t.Errorf("%q, %v", answer, err)
				}
				again := slices.DeleteFunc(ix.provider.all()[paid:], func(text string) bool { // the others measure the scale of the model
					return !strings.Contains(text, "ferry number")
				})
				if len(again) > len(ix.answers) {
					t.Errorf("%d texts are paid for again", len(again)-len(ix.answers))
				}
				st, err := m.Status(ctx)
				if err != nil || st.Check == nil || len(st.Check.Found) > 0 || len(st.Degraded) > 0 {
					t.Errorf("%+v, %+v, %v", st.Check, st.Degraded, err)
				}
				if after, err := os.Stat(path); err != nil || c.kept && !os.SameFile(before, after) {
					t.Errorf("the file is another one, %v", err)
				}
				testkit.Must(t, m.Close())
				if diff := cmp.Diff(ix.dump, storetest.Dump(t, store.Path(state, "main"))); diff != "" {
					t.Errorf("the index is another one:\n%s", diff)
				}
			})
		}
	}
}

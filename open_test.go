package kioku

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store"
	"kioku/store/storetest"
)

// workspace makes a folder with files.
func workspace(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testkit.WriteFile(t, dir, name, text)
	}
	return dir
}

// makeIndex makes the index of a memory and closes it.
func makeIndex(t *testing.T, opt Options) {
	t.Helper()
	m, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// openMemory opens a memory, which is closed with the test.
func openMemory(t *testing.T, opt Options) *Memory {
	t.Helper()
	if opt.StateDir == "" {
		opt.StateDir = t.TempDir()
	}
	m, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// synced opens a memory and syncs it.
func synced(t *testing.T, opt Options) *Memory {
	t.Helper()
	m := openMemory(t, opt)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	return m
}

// find returns the paths of the hits.
func find(t *testing.T, m *Memory, query string) []string {
	t.Helper()
	a, err := m.Search(t.Context(), memory.Query{Text: query})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, h := range a.Hits {
		paths = append(paths, h.Path)
	}
	return paths
}

// Hazard A06: whatever stands in the place of the index, Open makes a new one, or says clearly why it does not.
func TestOpenRecreatesUnreadableIndex(t *testing.T) {
	for name, content := range map[string][]byte{
		"empty":            {},
		"garbage":          []byte(strings.Repeat("this is no database\n", 500)),
		"destroyed header": append(make([]byte, 100), []byte(strings.Repeat("x", 8092))...),
	} {
		t.Run(name, func(t *testing.T) {
			ws, state := workspace(t, map[string]string{"MEMORY.md": "The lighthouse opens at nine."}), t.TempDir()
			testkit.WriteFile(t, state, "memory/main.sqlite", string(content))
			m := synced(t, Options{Workspace: ws, StateDir: state})
			if got := find(t, m, "lighthouse"); len(got) != 1 {
				t.Errorf("search finds %v", got)
			}
		})
	}
}

// Hazard A06: a folder in the place of the index is refused, not removed.
func TestOpenRefusesFolderAsIndex(t *testing.T) {
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "memory", "main.sqlite", "keep"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Workspace: t.TempDir(), StateDir: state})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(state, "memory", "main.sqlite", "keep")); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesForeignDatabases(t *testing.T) {
	for _, c := range []struct {
		pragma string
		want   error
	}{
		{"PRAGMA application_id = 42", memory.ErrForeignFile},
		{"PRAGMA user_version = 999", memory.ErrNewerSchema},
	} {
		state := t.TempDir()
		path := filepath.Join(state, "memory", "main.sqlite")
		opt := Options{Workspace: t.TempDir(), StateDir: state}
		first, err := Open(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, path, c.pragma)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), opt); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", c.pragma, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: the refused file was changed, %v", c.pragma, err)
		}
	}
}

// Hazard C14: folders are 0700 and the database with its companions 0600, whatever the umask.
func TestOpenCreatesPrivateIndexUnderAnyUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	state := filepath.Join(t.TempDir(), "state")
	ws := t.TempDir()
	testkit.WriteFile(t, ws, "MEMORY.md", "note")
	synced(t, Options{Workspace: ws, StateDir: state})
	for name, want := range map[string]os.FileMode{
		"": 0o700, "memory": 0o700, "memory/main.sqlite": 0o600, "memory/main.sqlite-wal": 0o600,
		"memory/main.sqlite-shm": 0o600, "memory/main.lock": 0o600,
	} {
		info, err := os.Stat(filepath.Join(state, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

// Hazard A11: a second owner is refused at once, with the name of the first; reading goes on.
func TestOpenNamesOtherOwner(t *testing.T) {
	ws, state := workspace(t, map[string]string{"MEMORY.md": "The lighthouse opens at nine."}), t.TempDir()
	synced(t, Options{Workspace: ws, StateDir: state})
	_, err := Open(t.Context(), Options{Workspace: ws, StateDir: state})
	if !errors.Is(err, memory.ErrLocked) || !strings.Contains(err.Error(), "pid ") {
		t.Errorf("got %v", err)
	}
	reader := openMemory(t, Options{Workspace: ws, StateDir: state, Mode: ReadOnly})
	if got := find(t, reader, "lighthouse"); len(got) != 1 {
		t.Errorf("the reader finds %v", got)
	}
	if _, err := reader.Sync(t.Context(), SyncOptions{}, nil); !errors.Is(err, memory.ErrReadOnly) {
		t.Errorf("the reader may sync: %v", err)
	}
	if _, err := reader.Append(t.Context(), memory.Note{Text: "x"}); !errors.Is(err, memory.ErrReadOnly) {
		t.Errorf("the reader may append: %v", err)
	}
}

// Hazard A10: what a dead process left in the lock file locks nobody out.
func TestOpenIgnoresStaleLockFile(t *testing.T) {
	for _, left := range []string{"", "kioku serve (pid 1, since 2026-01-01T00:00:00Z)\n"} {
		state := t.TempDir()
		testkit.WriteFile(t, state, "memory/main.lock", left)
		openMemory(t, Options{Workspace: t.TempDir(), StateDir: state})
	}
}

// Hazard C06: an agent's id can be no path and no SQL.
func TestOpenRefusesInvalidAgentIDs(t *testing.T) {
	state := t.TempDir()
	for _, id := range []string{"../b", "a/b", ".", "a\x00", strings.Repeat("a", 10_000), "'; DROP TABLE chunks; --", "Ä", "A", "-a"} {
		var input *memory.InputError
		if _, err := Open(t.Context(), Options{Agent: id, Workspace: t.TempDir(), StateDir: state}); !errors.As(err, &input) || input.Field != "agent" {
			t.Errorf("%.20q: got %v", id, err)
		}
	}
	if entries, err := os.ReadDir(state); err != nil || len(entries) != 0 {
		t.Errorf("something was made: %v, %v", entries, err)
	}
}

func TestOpenReportsInvalidWorkspace(t *testing.T) {
	dir := t.TempDir()
	testkit.WriteFile(t, dir, "file", "x")
	for ws, want := range map[string]string{"": "must name the folder", dir + "/missing": "kioku init", dir + "/file": "is a file"} {
		if _, err := Open(t.Context(), Options{Workspace: ws, StateDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", ws, err, want)
		}
	}
}

func TestCloseMakesMethodsReturnErrClosed(t *testing.T) {
	m, err := Open(t.Context(), Options{Workspace: t.TempDir(), StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	events := m.Subscribe(t.Context())
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Fatal(err)
	}
	if _, open := <-events; open {
		t.Error("the subscription is still open")
	}
	ctx := context.Background()
	_, err1 := m.Search(ctx, memory.Query{Text: "x"})
	_, err2 := m.Get(ctx, memory.GetRequest{Path: "MEMORY.md"})
	_, err3 := m.Append(ctx, memory.Note{Text: "x"})
	for _, err := range []error{err1, err2, err3, m.Watch(ctx)} {
		if !errors.Is(err, memory.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}

// Hazard A06: another program's database is refused and not one byte of it is changed.
func TestOpenLeavesForeignDatabaseUnchanged(t *testing.T) {
	state := t.TempDir()
	path := filepath.Join(state, "memory", "main.sqlite")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, path, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Workspace: t.TempDir(), StateDir: state}); !errors.Is(err, memory.ErrForeignFile) {
		t.Errorf("got %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed, %v", err)
	}
}

func TestIndexedWorkspace(t *testing.T) {
	ws, state := workspace(t, notes), t.TempDir()
	if got, err := IndexedWorkspace(t.Context(), state, "main"); err != nil || got != "" {
		t.Errorf("without an index: %q, %v", got, err)
	}
	m := synced(t, Options{Workspace: ws, StateDir: state})
	if got, err := IndexedWorkspace(t.Context(), state, "main"); err != nil || got != m.Workspace() {
		t.Errorf("got %q, %v; want %q", got, err, m.Workspace())
	}
	if _, err := IndexedWorkspace(t.Context(), state, "../x"); err == nil {
		t.Error("a strange agent was taken")
	}
}

// Hazard A14: an index in a folder that cannot be written is read as it stands.
func TestOpenReadOnlyStateFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	ws, state := workspace(t, notes), t.TempDir()
	m, err := Open(t.Context(), Options{Workspace: ws, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(state, "memory")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	if _, err := Open(t.Context(), Options{Workspace: ws, StateDir: state}); err == nil {
		t.Error("it was opened for writing")
	}
	reader := openMemory(t, Options{Workspace: ws, StateDir: state, Mode: ReadOnly})
	if got := find(t, reader, "lighthouse"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

// Hazards A05, A21: an index is replaced if its schema is older, if it is of another folder and if its tables disagree; none of
// them costs what was paid for.
func TestOpenKeepsVectorsOfReplacedIndex(t *testing.T) {
	for _, damage := range []string{"PRAGMA user_version = 4", "UPDATE meta SET chunks = 1", "UPDATE meta SET workspace = '/moved'"} {
		t.Run(damage, func(t *testing.T) {
			fake, client := openAI(t)
			files := map[string]string{}
			for i := range 40 {
				files[fmt.Sprintf("memory/%d.md", i)] = fmt.Sprintf("The ferry number %d was late.", i)
			}
			opt := Options{Workspace: workspace(t, files), StateDir: t.TempDir(), Embedder: client, CacheEntries: 10}
			makeIndex(t, opt)
			storetest.Exec(t, store.Path(opt.StateDir, "main"), damage)
			paid := fake.texts.Load()
			m := openMemory(t, opt)
			if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || fake.texts.Load() != paid {
				t.Errorf("%d texts are embedded again, %v", fake.texts.Load()-paid, err)
			}
			if got := checkIndex(t, m); got.Embedded != 40 {
				t.Errorf("%+v", got)
			}
		})
	}
}

package kioku

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/indexer"
	"kioku/memory"
)

// lineEpisodes cuts a file into an episode a line.
func lineEpisodes(f memory.SourceFile) []memory.Episode {
	var list []memory.Episode
	for i, line := range bytes.Split(bytes.TrimSuffix(f.Data, []byte("\n")), []byte("\n")) {
		sum := sha256.Sum256(line)
		list = append(list, memory.Episode{UID: fmt.Sprintf("%x", sum[:16]), StartLine: i + 1, EndLine: i + 1, TextSHA256: sum,
			Date: f.Date, Trust: memory.SpeakerNote})
	}
	return list
}

// spans returns the lines of the episodes of a file.
func spans(t *testing.T, m *Memory, path string) []int {
	t.Helper()
	episodes, err := m.Derived().PendingEpisodes(t.Context(), math.MaxInt, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, e := range episodes {
		if e.Path == path {
			lines = append(lines, e.StartLine)
		}
	}
	return lines
}

// cutFiles cuts what derivation would.
func cutFiles(t *testing.T, m *Memory) (paths []string) {
	t.Helper()
	all, err := m.Unindexed()
	if err != nil {
		t.Fatal(err)
	}
	transcripts, err := m.Derived().UncutTranscripts(t.Context(), "lines", all)
	if err != nil {
		t.Fatal(err)
	}
	put := func(path string, unindexed *memory.File) {
		file, err := m.ReadSource(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := m.Derived().PutEpisodes(t.Context(), file, unindexed, "lines", lineEpisodes(file)); err != nil || !done {
			t.Fatalf("%s: %v, %v", path, done, err)
		}
		paths = append(paths, path)
	}
	for i := range all {
		if slices.Contains(transcripts, all[i].Path) {
			put(all[i].Path, &all[i])
		}
	}
	files, err := m.Derived().Uncut(t.Context(), "lines", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		put(path, nil)
	}
	if _, err := m.Derived().DropDetached(t.Context()); err != nil {
		t.Fatal(err)
	}
	return paths
}

// What is derived is of the files as they are indexed: what has changed or is gone is not seen, and is cut again.
func TestDerivedFollowsTheIndex(t *testing.T) {
	t.Parallel()
	dir, state := workspace(t, map[string]string{"MEMORY.md": "- one\n- two\n", "memory/2026-01-02.md": "three\n"}), t.TempDir()
	m := openMemory(t, Options{Workspace: dir, StateDir: state})
	syncAll(t, m)
	if got := spans(t, m, "MEMORY.md"); got != nil {
		t.Errorf("without derivation there are episodes %v", got)
	}
	file, err := m.ReadSource(t.Context(), "memory/2026-01-02.md")
	if err != nil || file.Date != "2026-01-02" || file.Source != memory.SourceMemory || string(file.Data) != "three\n" {
		t.Fatalf("%+v, %v", file, err)
	}
	if got := cutFiles(t, m); len(got) != 2 {
		t.Errorf("cut %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("- one\n- two\n- four\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReadSource(t.Context(), "MEMORY.md"); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("a file that is not indexed yet: %v", err)
	}
	syncAll(t, m)
	if got := spans(t, m, "MEMORY.md"); got != nil {
		t.Errorf("episodes of what the file was: %v", got)
	}
	if diff := cmp.Diff([]string{"MEMORY.md"}, cutFiles(t, m)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, spans(t, m, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
	file.SHA256[0]++
	if put, err := m.Derived().PutEpisodes(t.Context(), file, nil, "lines", nil); err != nil || put {
		t.Errorf("episodes of another content were put: %v, %v", put, err)
	}
	if err := os.Remove(filepath.Join(dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	syncAll(t, m)
	if got := spans(t, m, "MEMORY.md"); got != nil {
		t.Errorf("episodes of a file that is gone: %v", got)
	}
	if stats, err := m.Derived().Stats(t.Context(), time.Now()); err != nil || stats.Episodes != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	if n, err := m.Derived().DropDetached(t.Context()); err != nil || n != 0 {
		t.Errorf("%d episodes of files that are gone are kept while derivation is off, %v", n, err)
	}
	for _, path := range []string{"memory/none.md", "../secret.md", "sessions/x.jsonl"} {
		if _, err := m.ReadSource(t.Context(), path); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Transcripts that are not indexed are derived from, and keep their episodes when the settings include them.
func TestDerivedFromTranscriptsThatAreNotIndexed(t *testing.T) {
	t.Parallel()
	dir, state, folder := workspace(t, map[string]string{"MEMORY.md": "- A mill.\n"}), t.TempDir(), filepath.Join(t.TempDir(), "sessions")
	transcript(t, folder, "20260105-120000-abc", conversation()...)
	const path = "sessions/20260105-120000-abc.jsonl"
	reopen := func(unindexed bool) *Memory {
		m := openMemory(t, Options{Workspace: dir, StateDir: state, Now: clock("2026-01-10T12:00:00Z"),
			Index: IndexOptions{Sessions: indexer.Sessions{Folder: folder, Spoken: spoken, Unindexed: unindexed}}})
		syncAll(t, m)
		cutFiles(t, m)
		return m
	}
	m := reopen(true)
	if hits := find(t, m, "green windmill Kinderdijk"); len(hits) > 0 {
		t.Errorf("a search finds %v", hits)
	}
	if got := spans(t, m, path); len(got) != 4 {
		t.Errorf("episodes at lines %v", got)
	}
	file, err := m.ReadSource(t.Context(), path)
	if err != nil || !bytes.HasPrefix(file.Data, []byte("{")) {
		t.Errorf("%q, %v", file.Data, err)
	}
	st, err := m.store.Stats(t.Context())
	if err != nil || st.Files != 1 {
		t.Errorf("%d files, %v", st.Files, err)
	}
	list, err := m.Files(t.Context(), memory.FileQuery{})
	if err != nil || len(list.Files) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	report, err := m.Sync(t.Context(), SyncOptions{}, nil)
	if err != nil || report.Files != 0 {
		t.Errorf("an unchanged transcript is indexed again: %+v, %v", report, err)
	}
	for _, only := range []bool{false, true, false} {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = reopen(only)
		if hits := find(t, m, "green windmill Kinderdijk"); (len(hits) == 0) != only {
			t.Errorf("only for episodes: %v, found %v", only, hits)
		}
		if got := spans(t, m, path); len(got) != 4 {
			t.Errorf("episodes at lines %v", got)
		}
		if check, err := m.checkIndex(t.Context(), nil); err != nil || len(check.Found) > 0 {
			t.Errorf("%+v, %v", check, err)
		}
	}
}

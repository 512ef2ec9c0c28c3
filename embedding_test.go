package kioku

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/embed"
	"kioku/memory"
)

// writeFile writes a file, and the folders that it is in.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// openEmbedding opens a memory of a folder with some notes and a provider.
func openEmbedding(t *testing.T, client *embed.Client, change func(o *Options)) (*Memory, string) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "MEMORY.md"), "# Memory\n\nThe lighthouse opens at nine.\n")
	for i := range 5 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("memory/note-%d.md", i)), fmt.Sprintf("# Note %d\n\n%s\n", i,
			strings.Repeat(fmt.Sprintf("Line %d of the harbour.\n", i), 40)))
	}
	opt := Options{Workspace: dir, StateDir: t.TempDir(), Embedder: client}
	if change != nil {
		change(&opt)
	}
	m, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, dir
}

// Estimate counts chunks, windows, tokens and requests after the cache, and makes no request.
func TestEstimateMakesNoRequest(t *testing.T) {
	t.Parallel()
	s := newSwitched()
	m, dir := openEmbedding(t, s.client(t), nil)
	e, err := m.Estimate(t.Context())
	if err != nil || e.Chunks < 6 || e.Windows < 6 || e.Texts < e.Chunks || e.Tokens < 500 || e.Requests != 1 || e.Took != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	if s.n != 0 {
		t.Errorf("%d requests", s.n)
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if paid, twice := s.texts(); paid != e.Texts || twice || s.n != e.Requests {
		t.Errorf("%d texts in %d requests were sent, the estimate was %+v", paid, s.n, e)
	}
	if e, err = m.Estimate(t.Context()); err != nil || e.Chunks+e.Windows+e.Texts+e.Tokens+e.Requests != 0 {
		t.Errorf("of a whole index: %+v, %v", e, err)
	}
	writeFile(t, filepath.Join(dir, "MEMORY.md"), "# Memory\n\nThe lighthouse opens at ten.\n")
	if e, err = m.Estimate(t.Context()); err != nil || e.Chunks != 1 || s.n != 1 {
		t.Errorf("of one edited chunk: %+v, %v", e, err)
	}
}

// A model in this process is timed for the estimate, and needs no requests.
func TestEstimateTimesAModelInTheProcess(t *testing.T) {
	t.Parallel()
	client, err := embed.New(embed.Config{Provider: "hash"})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := openEmbedding(t, client, nil)
	if e, err := m.Estimate(t.Context()); err != nil || e.Texts == 0 || e.Requests != 0 || e.Took <= 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// A sync that changes nothing makes no request, an edited file has only its own chunk embedded, and a repeated query makes none.
func TestSyncWithoutChangeMakesNoRequest(t *testing.T) {
	t.Parallel()
	s := newSwitched()
	m, dir := openEmbedding(t, s.client(t), nil)
	for range 3 {
		if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || s.n != 1 {
			t.Fatalf("%d requests, %v", s.n, err)
		}
	}
	for range 3 {
		if _, err := m.Search(t.Context(), memory.Query{Text: "when does the lighthouse open"}); err != nil || s.n != 2 {
			t.Fatalf("%d requests, %v", s.n, err)
		}
	}
	before, _ := s.texts()
	writeFile(t, filepath.Join(dir, "MEMORY.md"), "# Memory\n\nThe lighthouse opens at ten.\n")
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if after, _ := s.texts(); after != before+1 {
		t.Errorf("%d texts for one edited chunk that is its own window", after-before)
	}
}

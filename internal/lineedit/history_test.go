package lineedit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, path string, most int) *History {
	t.Helper()
	h, err := OpenHistory(path, most)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func add(t *testing.T, h *History, entries ...string) {
	t.Helper()
	for _, e := range entries {
		if err := h.Add(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAHistoryOutlastsItsProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents", "main", "chat_history")
	add(t, open(t, path, 10), "one", "two\nlines", "two\nlines", "  ", "三")
	add(t, open(t, path, 10), "four")
	if got := open(t, path, 10).Entries(); !cmp.Equal(got, []string{"one", "two\nlines", "三", "four"}) {
		t.Errorf("got %q", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := open(t, path, 3)
	add(t, h, "1", "2", "3", "4", "5")
	if got := h.Entries(); !cmp.Equal(got, []string{"3", "4", "5"}) {
		t.Errorf("in memory %q", got)
	}
	open(t, path, 3)
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "\"3\"\n\"4\"\n\"5\"\n" {
		t.Errorf("in the file %q, %v", text, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".history-*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

func TestLinesThatAreNoEntriesAreLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte("\"good\"\nbad\n{}\n\"\\u001b[2Jseq\"\n\"torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open(t, path, 10).Entries(); !cmp.Equal(got, []string{"good", "[2Jseq"}) {
		t.Errorf("got %q", got)
	}
}

func TestAHistoryWithoutItsFileStillWorks(t *testing.T) {
	dir := t.TempDir()
	h, err := OpenHistory(dir, 10)
	if err == nil || !strings.Contains(err.Error(), "read the history") {
		t.Fatalf("got %v", err)
	}
	add(t, h, "one")
	if got := h.Entries(); !cmp.Equal(got, []string{"one"}) {
		t.Errorf("got %q", got)
	}
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h = &History{path: filepath.Join(blocked, "below"), most: 10}
	if err := h.Add("two"); err == nil || len(h.Entries()) != 1 {
		t.Errorf("got %v with %q", err, h.Entries())
	}
}

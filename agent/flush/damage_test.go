package flush_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/agent/flush"

	"github.com/google/go-cmp/cmp"
)

// files returns the files in a folder with a suffix.
func files(t *testing.T, folder, suffix string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func one(t *testing.T, folder, suffix string) string {
	t.Helper()
	found := files(t, folder, suffix)
	if len(found) != 1 {
		t.Fatalf("%d files with %s: %v", len(found), suffix, found)
	}
	return found[0]
}

func TestBeginNamesADamagedFile(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"-0.json", ".spool.jsonl"} {
		for name, damage := range map[string]func([]byte) []byte{
			"cut":     func(b []byte) []byte { return b[:len(b)/2] },
			"empty":   func([]byte) []byte { return nil },
			"garbage": func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
			"null":    func([]byte) []byte { return []byte("null\n") },
			"longer":  func(b []byte) []byte { return append(b, "{}\n"...) },
		} {
			t.Run(name+suffix, func(t *testing.T) {
				folder := t.TempDir()
				l := flush.NewLedger(folder, flush.Settings{}, nil)
				begin(t, l, "s", 0, "a", messages("one", "two"))
				path := one(t, folder, suffix)
				whole, _ := os.ReadFile(path)
				if err := os.WriteFile(path, damage(whole), 0o600); err != nil {
					t.Fatal(err)
				}
				_, err := l.Begin(t.Context(), "s", 0, "a", messages("three"))
				if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "out of the folder") {
					t.Errorf("%v", err)
				}
				if _, err := l.Begin(t.Context(), "s", 1, "a", nil); err != nil {
					t.Errorf("the next cycle: %v", err)
				}
				if now, _ := os.ReadFile(path); !bytes.Equal(now, damage(bytes.Clone(whole))) {
					t.Errorf("%s was changed to %q", path, now)
				}
			})
		}
	}
}

func TestBeginSetsASpoolWithoutARecordAside(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l := flush.NewLedger(folder, flush.Settings{}, nil)
	begin(t, l, "s", 0, "a", messages("old"))
	old, _ := os.ReadFile(one(t, folder, ".spool.jsonl"))
	if err := os.Remove(one(t, folder, "-0.json")); err != nil {
		t.Fatal(err)
	}
	lease := begin(t, l, "s", 0, "a", messages("new"))
	if diff := cmp.Diff(messages("new"), lease.Spool); diff != "" || lease.Resumed {
		t.Errorf("%+v", lease)
	}
	if aside, err := os.ReadFile(one(t, folder, ".lost.jsonl")); err != nil || !bytes.Equal(aside, old) {
		t.Errorf("%q, %v", aside, err)
	}
}

// Hazard F06: a folder that cannot be written, or a link in place of a file, is an error that names it.
func TestBeginReportsAFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{file, filepath.Join(file, "flush")} {
		if _, err := flush.NewLedger(folder, flush.Settings{}, nil).Begin(t.Context(), "s", 0, "a", nil); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", folder, err)
		}
	}

	folder := t.TempDir()
	if err := os.Symlink(file, filepath.Join(folder, "lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := flush.NewLedger(folder, flush.Settings{}, nil).Begin(t.Context(), "s", 0, "a", nil); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("a link was followed: %v", err)
	}
}

// Hazard F06: a folder of flushes that is a link to another place is used like any other.
func TestLedgerFolderMayBeALink(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "flush")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	l := flush.NewLedger(link, flush.Settings{}, nil)
	lease := begin(t, l, "s", 0, "a", messages("x"))
	if err := l.Commit(t.Context(), lease.ID, "a"); err != nil {
		t.Error(err)
	}
}

package flush_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/agent/flush"
)

// Spools of flushes that are never committed do not grow without bound. Their sessions are told.
func TestSpoolsAreBoundedAndTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Ledger = flush.NewLedger(flush.Options{Folder: w.folder, Notes: w.notes, SpoolBytes: 30_000, Now: func() time.Time { return w.now }})
	var sessions []string
	for i := range 8 {
		sessions = append(sessions, fmt.Sprint("session ", i))
		if _, err := w.Begin(t.Context(), flush.Request{Session: sessions[i], Messages: said(strings.Repeat("tea ", 2000))}); err != nil {
			t.Fatal(err)
		}
		age(t, w.folder, time.Second)
	}
	size := int64(0)
	spools, _ := filepath.Glob(filepath.Join(w.folder, "*.spool.jsonl"))
	for _, s := range spools {
		info, err := os.Stat(s)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 30_000 || len(spools) != 3 {
		t.Errorf("%d spools have %d bytes", len(spools), size)
	}
	for i, s := range sessions {
		c, err := w.Coverage(s, nil)
		if lost := len(c.Warnings) > 0; err != nil || lost != (i < 5) || lost && !strings.Contains(c.Warnings[0], "1 messages") || (c.Interrupted == 1) == lost {
			t.Errorf("%s: %+v, %v", s, c, err)
		}
	}
	// Time does what size does not.
	age(t, w.folder, 40*24*time.Hour)
	w.now = time.Now()
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if spools, _ = filepath.Glob(filepath.Join(w.folder, "*.spool.jsonl")); len(spools) > 0 {
		t.Errorf("%d spools are left after 40 days", len(spools))
	}
}

// The messages of a session whose state is damaged are not removed without a word: the session is told that begins a range, or
// the start of a service.
func TestSpoolsOfADamagedSessionAreTold(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*world) string{
		"begin": func(w *world) string {
			r, err := w.Begin(w.t.Context(), flush.Request{Session: "another", Messages: said("My dog is Ken.")})
			return fmt.Sprint(r.Warnings, err)
		},
		"start": func(w *world) string { return fmt.Sprint(w.Finish(w.t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.begin(said("My cat is Miso.", "Noted.")...)
			states, _ := filepath.Glob(filepath.Join(w.folder, "*.json"))
			if err := os.WriteFile(states[0], []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			age(t, w.folder, 40*24*time.Hour)
			w.now = time.Now()
			if told := next(w); !strings.Contains(told, "2 messages that were begun on") {
				t.Errorf("told %s", told)
			}
			if spools, _ := filepath.Glob(filepath.Join(w.folder, "*.spool.jsonl")); len(spools) != map[string]int{"begin": 1}[name] {
				t.Errorf("spools %q", spools)
			}
		})
	}
}

// age makes the files of a folder older.
func age(t *testing.T, folder string, by time.Duration) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(folder, "*.spool.jsonl"))
	for _, f := range files {
		info, err := os.Stat(f)
		if err == nil {
			err = os.Chtimes(f, time.Time{}, info.ModTime().Add(-by))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

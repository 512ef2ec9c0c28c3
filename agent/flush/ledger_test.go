package flush_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/memory"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// clock is a clock that a test moves.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)} }

func messages(texts ...string) (spool []json.RawMessage) {
	for _, text := range texts {
		raw, _ := json.Marshal(map[string]string{"role": "user", "text": text}) // strings always have a JSON form
		spool = append(spool, raw)
	}
	return spool
}

func begin(t *testing.T, l *flush.Ledger, session string, cycle int, holder string, spool []json.RawMessage) flush.Lease {
	t.Helper()
	lease, err := l.Begin(t.Context(), session, cycle, holder, spool)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestBeginTwiceResumes(t *testing.T) {
	t.Parallel()
	clock, folder := newClock(), filepath.Join(t.TempDir(), "agents", "main", "flush")
	spool := messages("one\ntwo", "三")
	first := begin(t, flush.NewLedger(folder, flush.Settings{}, clock.Now), "s", 0, "a", spool)
	want := flush.Lease{
		Record: flush.Record{Session: "s", Begun: clock.now, Holder: "a", Expires: clock.now.Add(5 * time.Minute), Messages: 2},
		ID:     first.ID, NoteKey: first.NoteKey, Spool: spool,
	}
	if diff := cmp.Diff(want, first); diff != "" || first.ID == "" || first.NoteKey == "" {
		t.Errorf("%+v\n%s", first, diff)
	}

	// Another process, long after.
	clock.now = clock.now.Add(time.Hour)
	again := begin(t, flush.NewLedger(folder, flush.Settings{}, clock.Now), "s", 0, "a", messages("other"))
	want.Resumed, want.Expires = true, clock.now.Add(5*time.Minute)
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
}

func TestReleaseKeepsTheAttempt(t *testing.T) {
	t.Parallel()
	l := flush.NewLedger(t.TempDir(), flush.Settings{}, newClock().Now)
	a := begin(t, l, "s", 0, "a", messages("x"))
	if err := l.Release(t.Context(), a.ID, "b"); !errors.Is(err, flush.ErrUnknown) {
		t.Errorf("released by somebody else: %v", err)
	}
	if err := l.Release(t.Context(), a.ID, "a"); err != nil {
		t.Error(err)
	}
	if err := l.Commit(t.Context(), a.ID, "a"); !errors.Is(err, flush.ErrUnknown) {
		t.Errorf("committed after that: %v", err)
	}
	b := begin(t, l, "s", 0, "b", nil)
	if !b.Resumed || b.Failed != 0 || b.NoteKey != a.NoteKey || len(b.Spool) != 1 {
		t.Errorf("%+v", b)
	}
	if err := errors.Join(l.Commit(t.Context(), b.ID, "b"), l.Release(t.Context(), b.ID, "b")); err != nil {
		t.Error(err)
	}
	if p, err := l.Progress("s", 0); err != nil || !p.Done || p.Failed != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestBeginIsRefusedWhileALeaseLasts(t *testing.T) {
	t.Parallel()
	clock := newClock()
	l := flush.NewLedger(t.TempDir(), flush.Settings{Lease: time.Minute}, clock.Now)
	a := begin(t, l, "s", 3, "a", messages("x"))
	clock.now = clock.now.Add(59 * time.Second)
	var held *flush.HeldError
	if _, err := l.Begin(t.Context(), "s", 3, "b", nil); !errors.As(err, &held) || !errors.Is(err, flush.ErrHeld) || !held.Until.Equal(a.Expires) {
		t.Errorf("%v", err)
	}
	clock.now = clock.now.Add(time.Second)
	b := begin(t, l, "s", 3, "b", nil)
	if !b.Resumed || b.ID != a.ID || b.NoteKey != a.NoteKey || b.Failed != 0 || len(b.Spool) != 1 {
		t.Errorf("%+v", b)
	}
	if err := l.Commit(t.Context(), a.ID, "a"); !errors.Is(err, flush.ErrUnknown) {
		t.Errorf("who lost the lease could commit: %v", err)
	}
	if _, err := l.Abort(t.Context(), a.ID, "a", "x"); !errors.Is(err, flush.ErrUnknown) {
		t.Errorf("who lost the lease could abort: %v", err)
	}
	if err := l.Commit(t.Context(), b.ID, "b"); err != nil {
		t.Error(err)
	}
}

func TestCommitMakesAFlushDone(t *testing.T) {
	t.Parallel()
	l := flush.NewLedger(t.TempDir(), flush.Settings{}, nil)
	lease := begin(t, l, "s", 0, "a", messages("x"))
	for range 2 {
		if err := l.Commit(t.Context(), lease.ID, "a"); err != nil {
			t.Errorf("commit: %v", err)
		}
	}
	if left, err := l.Abort(t.Context(), lease.ID, "a", "late"); err != nil || left != 0 {
		t.Errorf("abort after it: %d, %v", left, err)
	}
	for _, holder := range []string{"a", "b"} {
		if again := begin(t, l, "s", 0, holder, messages("y")); !again.Done || !again.Resumed || again.ID != lease.ID {
			t.Errorf("%+v", again)
		}
	}
	got, err := l.Progress("s", 0)
	if diff := cmp.Diff(flush.Progress{Record: flush.Record{Session: "s", Begun: got.Begun, Holder: got.Holder, Expires: got.Expires, Messages: 1, Done: true}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestAbortUsesUpAttempts(t *testing.T) {
	t.Parallel()
	l := flush.NewLedger(t.TempDir(), flush.Settings{Attempts: 2}, nil)
	first := begin(t, l, "s", 0, "a", messages("x"))
	if left, err := l.Abort(t.Context(), first.ID, "a", "no network"); err != nil || left != 1 {
		t.Errorf("%d, %v", left, err)
	}
	if _, err := l.Abort(t.Context(), first.ID, "a", "twice"); !errors.Is(err, flush.ErrUnknown) {
		t.Errorf("aborted twice: %v", err)
	}
	// The lease is free for anybody, and what the model says now may be something else.
	second := begin(t, l, "s", 0, "b", nil)
	if second.ID != first.ID || second.NoteKey == first.NoteKey || second.Failed != 1 || !second.Resumed || len(second.Spool) != 1 {
		t.Errorf("%+v", second)
	}
	if left, err := l.Abort(t.Context(), second.ID, "b", "no power"); err != nil || left != 0 {
		t.Errorf("%d, %v", left, err)
	}
	if _, err := l.Begin(t.Context(), "s", 0, "a", nil); !errors.Is(err, flush.ErrExhausted) || !strings.Contains(err.Error(), "no power") {
		t.Errorf("%v", err)
	}
	if got, _ := l.Progress("s", 0); got.Failed != 2 || got.Done || got.Begun.IsZero() || !got.Aborted {
		t.Errorf("%+v", got)
	}
	if next := begin(t, l, "s", 1, "a", nil); next.Failed != 0 || next.Resumed {
		t.Errorf("the next cycle: %+v", next)
	}
}

func TestLedgerReturnsErrUnknown(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "none")
	l := flush.NewLedger(folder, flush.Settings{}, nil)
	if got, err := l.Progress("s", 0); err != nil || got != (flush.Progress{}) {
		t.Errorf("%+v, %v", got, err)
	}
	id := strings.Repeat("0", 32) + "-0"
	check := func() {
		for _, id := range []string{id, "", "../../etc/passwd", "lock", id + "/.."} {
			if err := l.Commit(t.Context(), id, "a"); !errors.Is(err, flush.ErrUnknown) {
				t.Errorf("commit %q: %v", id, err)
			}
			if _, err := l.Abort(t.Context(), id, "a", ""); !errors.Is(err, flush.ErrUnknown) {
				t.Errorf("abort %q: %v", id, err)
			}
		}
	}
	check()
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a question has made the folder: %v", err)
	}
	lease := begin(t, l, "s", 0, "a", nil)
	check()
	if err := l.Commit(t.Context(), lease.ID, "b"); !errors.Is(err, flush.ErrUnknown) {
		t.Errorf("%v", err)
	}
	if err := l.Commit(t.Context(), lease.ID, ""); !errors.Is(err, flush.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

func TestBeginRefusesBadNames(t *testing.T) {
	t.Parallel()
	l := flush.NewLedger(t.TempDir(), flush.Settings{}, nil)
	for field, c := range map[string]struct {
		session string
		cycle   int
		holder  string
		spool   []json.RawMessage
	}{
		"session":  {session: strings.Repeat("x", 257), holder: "a"},
		"holder":   {session: "s", holder: strings.Repeat("x", 257)},
		"cycle":    {session: "s", cycle: -1, holder: "a"},
		"messages": {session: "s", holder: "a", spool: []json.RawMessage{[]byte(`{}`), []byte(`{"a":`)}},
	} {
		var wrong *memory.InputError
		if _, err := l.Begin(t.Context(), c.session, c.cycle, c.holder, c.spool); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, name := range []string{"", "\xff"} {
		if _, err := l.Begin(t.Context(), name, 0, "a", nil); err == nil {
			t.Errorf("a session %q was taken", name)
		}
		if _, err := l.Begin(t.Context(), "s", 0, name, nil); err == nil {
			t.Errorf("a holder %q was taken", name)
		}
	}
}

func TestBeginTakesAnySessionName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		parent, err := os.MkdirTemp("", "flush")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(parent)
		folder := filepath.Join(parent, "flush")
		l := flush.NewLedger(folder, flush.Settings{}, nil)
		name := rapid.OneOf(rapid.StringN(1, 60, 256), rapid.SampledFrom([]string{"../x", "/", ".", "a\x00b", "x.json", "会話/一"}))
		names := rapid.SliceOfNDistinct(name, 1, 4, rapid.ID).Draw(r, "sessions")
		for i, session := range names {
			if _, err := l.Begin(t.Context(), session, i, session, messages(session)); err != nil {
				r.Fatal(err)
			}
		}
		for i, session := range names {
			lease, err := l.Begin(t.Context(), session, i, session, nil)
			if diff := cmp.Diff(messages(session), lease.Spool); err != nil || diff != "" || lease.Session != session || lease.Cycle != i {
				r.Errorf("%v %+v\n%s", err, lease, diff)
			}
		}
		if entries, _ := os.ReadDir(parent); len(entries) != 1 {
			r.Errorf("something is outside of the folder: %v", entries)
		}
	})
}

func TestLedgerFilesAreForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "flush")
	begin(t, flush.NewLedger(folder, flush.Settings{}, nil), "s", 0, "a", messages("x"))
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(folder)
	if len(entries) != 3 {
		t.Errorf("record, spool and lock: %v", entries)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestBeginOfManyHoldersAtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var mu sync.Mutex
	var got []flush.Lease
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			l := flush.NewLedger(folder, flush.Settings{}, nil)
			lease, err := l.Begin(t.Context(), "s", 0, fmt.Sprint("holder ", i), messages(fmt.Sprint(i)))
			if err != nil && !errors.Is(err, flush.ErrHeld) {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, lease)
			}
		})
	}
	group.Wait()
	if len(got) != 1 || got[0].Resumed {
		t.Errorf("%d of 8 hold the flush: %+v", len(got), got)
	}
}

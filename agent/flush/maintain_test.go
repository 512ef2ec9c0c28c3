package flush_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"context"

	"kioku/agent/flush"
)

// kept are the flushes of a folder.
type kept struct {
	*flush.Ledger
	clock  *clock
	folder string
}

func newKept(t *testing.T) kept {
	k := kept{clock: newClock(), folder: t.TempDir()}
	k.Ledger = flush.NewLedger(k.folder, flush.Settings{}, k.clock.Now)
	return k
}

func (k kept) commit(t *testing.T, session string, cycle int) {
	t.Helper()
	if err := k.Commit(t.Context(), begin(t, k.Ledger, session, cycle, "a", messages("x")).ID, "a"); err != nil {
		t.Fatal(err)
	}
}

// count checks how many records and spools there are.
func (k kept) count(t *testing.T, records, spools int) {
	t.Helper()
	if r, s := len(files(t, k.folder, ".json")), len(files(t, k.folder, ".spool.jsonl")); r != records || s != spools {
		t.Errorf("%d records and %d spools, want %d and %d", r, s, records, spools)
	}
}

func TestBeginRemovesSpoolsOfEarlierFlushes(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.commit(t, "s", 0)
	begin(t, k.Ledger, "s", 1, "a", messages("unfinished"))
	k.commit(t, "other", 0)
	k.count(t, 3, 2) // that of cycle 0 is gone
	k.commit(t, "s", 2)
	k.count(t, 4, 3) // an unfinished one stays
	if err := os.WriteFile(filepath.Join(k.folder, ".kioku-x.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k.clock.now = k.clock.now.Add(31 * 24 * time.Hour)
	begin(t, k.Ledger, "third", 0, "a", nil)
	k.count(t, 2, 2)
	if left := files(t, k.folder, ".tmp"); len(left) > 0 {
		t.Errorf("%v", left)
	}
	if lease := begin(t, k.Ledger, "s", 1, "a", nil); !lease.Resumed || len(lease.Spool) != 1 {
		t.Errorf("%+v", lease)
	}
}

func TestMaintainRemovesSpoolsOfEarlierCycles(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.commit(t, "s", 0)
	k.commit(t, "other", 0)
	k.Maintain("s", 0)
	k.count(t, 2, 2)
	k.Maintain("s", 1)
	k.count(t, 2, 1)
	begin(t, k.Ledger, "s", 1, "a", messages("unfinished"))
	k.Maintain("s", 9)
	k.count(t, 3, 2)
	if lease := begin(t, k.Ledger, "s", 0, "a", messages("x")); !lease.Done {
		t.Errorf("a flush whose spool is gone: %+v", lease)
	}
}

func TestMaintainSweepsOnceAnHour(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.commit(t, "old", 0)
	k.clock.now = k.clock.now.Add(30*24*time.Hour - time.Minute)
	k.Maintain("s", 0)
	k.clock.now = k.clock.now.Add(59 * time.Minute)
	k.Maintain("s", 0)
	k.count(t, 1, 1)
	k.clock.now = k.clock.now.Add(time.Minute)
	k.Maintain("s", 0)
	k.count(t, 0, 0)
}

func TestNextCycleFollowsAllThatHaveEnded(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	want := func(cycle int) {
		t.Helper()
		if got, err := k.NextCycle("s"); err != nil || got != cycle {
			t.Errorf("next cycle %d, %v; want %d", got, err, cycle)
		}
	}
	want(0)
	k.commit(t, "other", 4)
	want(0)
	k.commit(t, "s", 0)
	want(1)
	lease := begin(t, k.Ledger, "s", 1, "a", nil)
	want(1)
	for range flush.Defaults().Attempts {
		if _, err := k.Abort(t.Context(), lease.ID, "a", "no network"); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Begin(t.Context(), "s", 1, "a", nil); err != nil && !errors.Is(err, flush.ErrExhausted) {
			t.Fatal(err)
		}
	}
	want(2)
	k.commit(t, "s", 10) // those between were never begun
	begin(t, k.Ledger, "s", 12, "a", nil)
	want(11)
	none := flush.NewLedger(filepath.Join(k.folder, "none"), flush.Settings{}, nil)
	if got, err := none.NextCycle("s"); err != nil || got != 0 {
		t.Errorf("without a folder: %d, %v", got, err)
	}
}

// Hazard F06: who waits for a ledger that another process holds gives up at the deadline.
func TestLedgerWaitsForItsLockUntilTheDeadline(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	lease := begin(t, k.Ledger, "s", 0, "a", nil)
	lock, err := os.OpenFile(filepath.Join(k.folder, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, began := k.Begin(ctx, "s", 1, "a", nil)
	_, aborted := k.Abort(ctx, lease.ID, "a", "")
	for _, err := range []error{began, k.Commit(ctx, lease.ID, "a"), aborted, k.Release(ctx, lease.ID, "a")} {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
}

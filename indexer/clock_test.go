package indexer_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"kioku/indexer"
)

// Hazard A22: wherever the clock jumps, and whatever time a file claims, a sync indexes what the files contain.
func TestSyncFindsEditsWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 10 * year, -10 * year, -2 * time.Hour, 2 * time.Hour} {
		for _, age := range []time.Duration{0, year, -year, 20 * year, -20 * year} {
			t.Run(fmt.Sprint(jump, " ", age), func(t *testing.T) {
				t.Parallel()
				f := setup(t, nil)
				f.write("memory/a.md", "one")
				f.sync()
				for i, text := range []string{"two", "three", "four"} {
					f.advance(jump)
					f.write("memory/a.md", text)
					at := time.Now().Add(-age + time.Duration(i)*time.Second)
					f.must(os.Chtimes(f.path("memory/a.md"), at, at))
					f.sync()
					f.has("memory/a.md", text)
				}
				f.advance(-3 * jump)
				if rep := f.sync(); rep.Files != 0 || rep.Removed != 0 {
					t.Errorf("without an edit: %+v", rep)
				}
			})
		}
	}
}

// Hazard A22: jumps of the clock start no storm of syncs and keep none from coming.
func TestWatchKeepsItsPaceWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	inBubble(t, newScripted(), nil, func(f *fixture) {
		begun := f.count(indexer.SyncStarted, "")
		for _, jump := range []time.Duration{10 * 365 * 24 * time.Hour, -20 * 365 * 24 * time.Hour, time.Hour, -time.Hour} {
			f.advance(jump)
			pass(10 * time.Minute)
		}
		if n := f.count(indexer.SyncStarted, "") - begun; n < 6 || n > 10 {
			f.Errorf("%d syncs in 40 minutes of which each fifth has one", n)
		}
	})
}

// A sync that was canceled has not failed: the next one need not wait.
func TestSyncThatWasCanceledHasNotFailed(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one")
	f.sync()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.x.Sync(ctx, indexer.SyncOptions{}, nil); err == nil {
		t.Error("a sync that was canceled has succeeded")
	}
	if s := f.x.SyncState(); s.LastErr != nil || !s.RetryAt.IsZero() {
		t.Errorf("a sync that was canceled counts as failed: %+v", s)
	}
}

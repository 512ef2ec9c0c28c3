package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kioku/indexer"
)

func TestEqualTextsAreEmbeddedOnce(t *testing.T) {
	f := setup(t, nil)
	for i := range 10 {
		f.write(fmt.Sprintf("memory/%d.md", i), fmt.Sprintf("same\nonly in %d", i))
	}
	rep := f.sync()
	if f.prov.texts != 11 || f.prov.calls != 1 || f.index.unembedded() != 0 || rep.Embedded != 11 {
		t.Errorf("%d texts in %d calls, report %+v", f.prov.texts, f.prov.calls, rep)
	}
}

func TestWithoutAProviderNothingIsEmbedded(t *testing.T) {
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	f.x = indexer.New(f.split, f.index, nil, indexer.Options{Workspace: f.dir, Now: f.now})
	if rep := f.sync(); rep.EmbedErr != nil || rep.Embedded != 0 || rep.Files != 1 {
		t.Errorf("report %+v", rep)
	}
	if rep := f.sync(); rep.Read != 0 {
		t.Errorf("read again for vectors that nobody makes: %+v", rep)
	}
}

func TestAProviderThatFailsLeavesTextsForLater(t *testing.T) {
	f := setup(t, nil)
	for i := range 3 {
		f.write(fmt.Sprintf("memory/%d.md", i), strings.Repeat(fmt.Sprintf("x%d\n", i), 1)+fmt.Sprintf("y%d", i))
	}
	f.prov.set(0, f.now().Add(time.Minute))
	rep := f.sync()
	f.holds("memory/0.md", "memory/1.md", "memory/2.md")
	if rep.EmbedErr == nil || f.index.unembedded() != 6 || f.x.State().EmbedErr == nil {
		t.Errorf("report %+v", rep)
	}
	// As long as the provider wants to be left alone, it is, and nothing is read for it.
	calls := f.prov.calls
	if rep = f.sync(); rep.EmbedErr == nil || rep.Read != 0 || f.prov.calls != calls {
		t.Errorf("report %+v, %d calls more", rep, f.prov.calls-calls)
	}
	// It may be asked again, and still fails: nothing is written for that.
	f.advance(2 * time.Minute)
	commits := len(f.index.commits)
	if rep = f.sync(); rep.EmbedErr == nil || len(f.index.commits) != commits || rep.Files != 0 {
		t.Errorf("report %+v", rep)
	}
	f.prov.set(-1, time.Time{})
	rep = f.sync()
	if rep.EmbedErr != nil || f.index.unembedded() != 0 || rep.Embedded != 6 || f.x.State().EmbedErr != nil {
		t.Errorf("report %+v", rep)
	}
	if rep = f.sync(); rep.Read != 0 {
		t.Errorf("read again: %+v", rep)
	}
}

func TestWhatAProviderGaveBeforeItFailedIsKept(t *testing.T) {
	f := setup(t, nil)
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/a.md", text.String())
	f.prov.set(300, time.Time{})
	if rep := f.sync(); !errors.Is(rep.EmbedErr, errDown) || rep.Embedded != 300 {
		t.Errorf("report %+v", rep)
	}
	if got := f.index.unembedded(); got != 300 {
		t.Errorf("%d texts without vectors", got)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.sync(); rep.Embedded != 300 || rep.Cached != 300 || f.index.unembedded() != 0 {
		t.Errorf("report %+v", rep)
	}
}

func TestARefusedTextIsNotSentAgainAndAgain(t *testing.T) {
	f := setup(t, nil)
	f.prov.poison = "poison"
	f.write("memory/a.md", "fine\npoison\nfine too")
	f.write("memory/b.md", "bee")
	rep := f.sync()
	if rep.EmbedErr == nil || f.index.unembedded() != 1 || rep.Embedded != 3 {
		t.Errorf("report %+v", rep)
	}
	calls := f.prov.calls
	for range 3 {
		if rep = f.sync(); rep.Read != 0 || rep.EmbedErr == nil {
			t.Errorf("report %+v", rep)
		}
	}
	if f.prov.calls != calls {
		t.Errorf("asked %d times more", f.prov.calls-calls)
	}
	f.prov.poison = ""
	f.advance(2 * time.Hour)
	if rep = f.sync(); rep.EmbedErr != nil || rep.Embedded != 1 || f.index.unembedded() != 0 {
		t.Errorf("after an hour: %+v", rep)
	}
}

func TestVectorsPaidForSurviveACancelledSync(t *testing.T) {
	f := setup(t, nil)
	f.write("memory/a.md", "one\ntwo")
	ctx, cancel := context.WithCancel(t.Context())
	f.prov.during = cancel
	if _, err := f.x.Sync(ctx, indexer.SyncOptions{}, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	f.holds()
	f.prov.during = nil
	if rep := f.sync(); rep.Embedded != 0 || rep.Cached != 2 {
		t.Errorf("paid twice: %+v", rep)
	}
}

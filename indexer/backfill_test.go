package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
	"kioku/indexer"
)

func TestBackfillEmbedsEqualTextsOnce(t *testing.T) {
	f := setup(t, nil)
	for i := range 10 {
		f.write(fmt.Sprintf("memory/%d.md", i), fmt.Sprintf("same\nonly in %d", i))
	}
	f.sync()
	if rep := f.embed(); f.prov.texts != 11 || f.prov.calls != 1 || f.unembedded() != 0 || rep.Embedded != 11 || rep.Err != nil {
		t.Errorf("%d texts in %d calls, report %+v", f.prov.texts, f.prov.calls, rep)
	}
	if rep := f.embed(); f.prov.calls != 1 || rep != (indexer.BackfillReport{}) {
		t.Errorf("nothing was left to be embedded: %+v", rep)
	}
}

// disabled is an embedder without a provider.
type disabled struct{ *provider }

func (disabled) Enabled() bool { return false }

func TestBackfillDoesNothingWithoutProvider(t *testing.T) {
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	f.sync()
	f.back = indexer.NewBackfill(f.index, disabled{f.prov}, nil, nil)
	if rep := f.embed(); rep != (indexer.BackfillReport{}) || f.prov.calls != 0 {
		t.Errorf("report %+v", rep)
	}
	f.back.Watch(t.Context()) // returns at once
}

func TestBackfillLeavesTextsOfFailingProviderForLater(t *testing.T) {
	f := setup(t, nil)
	for i := range 3 {
		f.write(fmt.Sprintf("memory/%d.md", i), fmt.Sprintf("x%d\ny%d", i, i))
	}
	f.sync()
	f.prov.set(0, f.now().Add(time.Minute))
	if rep := f.embed(); !errors.Is(rep.Err, errDown) || f.unembedded() != 6 || f.prov.calls != 0 {
		t.Errorf("asked %d times before the provider may be, report %+v", f.prov.calls, rep)
	}
	f.advance(2 * time.Minute)
	if rep := f.embed(); !errors.Is(rep.Err, errDown) || f.prov.calls != 1 {
		t.Errorf("asked %d times, report %+v", f.prov.calls, rep)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.embed(); rep.Err != nil || rep.Embedded != 6 || f.unembedded() != 0 {
		t.Errorf("report %+v", rep)
	}
}

func TestBackfillKeepsWhatProviderGaveBeforeItFailed(t *testing.T) {
	f := setup(t, nil)
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/a.md", text.String())
	f.sync()
	f.prov.set(300, time.Time{})
	if rep := f.embed(); !errors.Is(rep.Err, errDown) || rep.Embedded != 300 || f.unembedded() != 300 {
		t.Errorf("%d texts without vectors, report %+v", f.unembedded(), rep)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.embed(); rep.Embedded != 300 || f.unembedded() != 0 || f.prov.texts != 600 {
		t.Errorf("report %+v", rep)
	}
}

func TestBackfillParksRefusedTexts(t *testing.T) {
	f := setup(t, nil)
	f.prov.poison = "poison"
	f.write("memory/a.md", "fine\npoison\nfine too")
	f.write("memory/b.md", "bee")
	f.sync()
	if rep := f.embed(); rep.Err == nil || f.unembedded() != 1 || rep.Embedded != 3 {
		t.Errorf("report %+v", rep)
	}
	calls := f.prov.calls
	for range 3 {
		if rep := f.embed(); rep.Err == nil {
			t.Errorf("report %+v", rep)
		}
	}
	if f.prov.calls != calls {
		t.Errorf("asked %d times more", f.prov.calls-calls)
	}
	f.prov.poison = ""
	f.advance(2 * time.Hour)
	if rep := f.embed(); rep.Err != nil || rep.Embedded != 1 || f.unembedded() != 0 {
		t.Errorf("after an hour: %+v", rep)
	}
}

func TestBackfillStoresAnswersOfCancelledRun(t *testing.T) {
	f := setup(t, nil)
	f.write("memory/a.md", "one\ntwo")
	f.sync()
	ctx, cancel := context.WithCancel(t.Context())
	f.prov.during = cancel
	if _, err := f.back.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	f.prov.during = nil
	if n := f.unembedded(); n != 0 {
		t.Errorf("%d texts that were paid for are lost", n)
	}
}

func TestBackfillReturnsErrorOfStore(t *testing.T) {
	f := setup(t, nil)
	f.write("memory/a.md", "one")
	f.sync()
	f.index.fail = errors.New("disk full")
	if _, err := f.back.Run(t.Context(), nil); !errors.Is(err, f.index.fail) {
		t.Errorf("error %v", err)
	}
}

// While one group is being stored, the provider works on the next; no text is asked for twice meanwhile.
func TestBackfillEmbedsWhileItStores(t *testing.T) {
	f := setup(t, nil)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/a.md", text.String())
	f.sync()
	asked := make(chan struct{})
	f.prov.during = func() {
		if f.prov.calls == 2 {
			close(asked)
		}
	}
	f.index.storing = func() {
		select {
		case <-asked:
		case <-time.After(20 * time.Second):
			t.Error("nothing is asked before the first answers are stored")
		}
	}
	if rep := f.embed(); rep.Embedded != 200 || f.prov.texts != 200 || f.unembedded() != 0 || f.prov.largest > 64 {
		t.Errorf("report %+v, %d texts were sent, %d at once", rep, f.prov.texts, f.prov.largest)
	}
}

func TestBackfillTellsProgressOfEachRequest(t *testing.T) {
	f := setup(t, nil)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/a.md", text.String())
	f.sync()
	var last indexer.Progress
	steps := 0
	_, err := f.back.Run(t.Context(), func(p indexer.Progress) {
		if steps++; p.Embedded < last.Embedded || p.Embedded > p.EmbedTotal || p.Phase != indexer.PhaseEmbed {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	})
	f.must(err)
	if last.Embedded != 1000 || last.EmbedTotal != 1000 || steps < 16 {
		t.Errorf("%d steps, ended with %+v", steps, last)
	}
}

func TestBackfillBeginsWithNewestFile(t *testing.T) {
	f := setup(t, nil)
	for i := range 3 {
		f.write(fmt.Sprintf("memory/%d.md", i), fmt.Sprint("note ", i))
		f.must(os.Chtimes(f.path(fmt.Sprintf("memory/%d.md", i)), time.Time{}, time.Now().Add(time.Duration(i-10)*time.Hour)))
	}
	f.sync()
	texts, _, err := f.index.Backlog(t.Context(), f.prov.Space(), 10)
	if err != nil || len(texts) != 3 || texts[0].Text != "note 2" {
		t.Errorf("%+v, %v", texts, err)
	}
}

func TestBackfillOfAnotherModelEmbedsEverything(t *testing.T) {
	f := filled(t, 3)
	f.prov.mu.Lock()
	f.prov.model = "other"
	f.prov.mu.Unlock()
	if rep := f.embed(); rep.Embedded != 6 || f.unembedded() != 0 {
		t.Errorf("report %+v", rep)
	}
}

// slowly is a provider that takes its time for each call, on the clock of the bubble.
type slowly struct {
	*provider
	// each call takes that long; negative for ever.
	each time.Duration
}

func (s *slowly) Documents(ctx context.Context, texts []string) ([]embed.Embedding, error) {
	var after <-chan time.Time
	if s.each >= 0 {
		after = time.After(s.each)
	}
	select {
	case <-after:
		return s.provider.Documents(ctx, texts)
	case <-ctx.Done():
		return make([]embed.Embedding, len(texts)), ctx.Err()
	}
}

// watched runs a test on fake time, with a watch of both loops, joined as the root package joins them.
func watched(t *testing.T, each time.Duration, write func(f *fixture), body func(f *fixture, src *scripted, p *slowly)) {
	t.Helper()
	src := newScripted()
	var wake atomic.Pointer[indexer.Backfill]
	var p *slowly
	inBubble(t, src, func(o *indexer.Options) {
		o.Notify = func(e indexer.Event) {
			if b := wake.Load(); b != nil && e.Kind == indexer.SyncDone {
				b.Wake()
			}
		}
	}, func(f *fixture) {
		write(f)
		p = &slowly{provider: f.prov, each: each}
		f.back = indexer.NewBackfill(f.index, p, nil, nil)
		wake.Store(f.back)
		ctx, cancel := context.WithCancel(f.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); f.back.Watch(ctx) }()
		synctest.Wait()
		body(f, src, p)
		cancel()
		<-ended
	})
}

func TestBackfillLeavesWordsToSync(t *testing.T) {
	watched(t, 3*time.Second, func(f *fixture) {
		for i := range 500 {
			f.write(fmt.Sprintf("memory/%03d.md", i), fmt.Sprintf("one %d\ntwo %d", i, i))
		}
		f.sync()
	}, func(f *fixture, src *scripted, p *slowly) {
		if paths, _ := f.index.list(); len(paths) != 501 || f.unembedded() != 1001 {
			f.Errorf("%d files, %d texts without vectors", len(paths), f.unembedded())
		}
		pass(20 * time.Second)
		if n := f.unembedded(); n == 0 || n >= 1001 {
			f.Errorf("half way there are %d texts without vectors", n)
		}
		// An edit is indexed while the provider works, and is embedded before the older rest.
		f.write("memory/400.md", "edited meanwhile")
		src.changes <- indexer.Change{Path: f.path("memory/400.md")}
		pass(6 * time.Second)
		f.has("memory/400.md", "edited meanwhile")
		if n := f.unembedded(); n < 300 {
			f.Errorf("only %d texts without vectors: the edit had nothing to wait for", n)
		}
		pass(time.Minute)
		if n := f.unembedded(); n != 0 {
			f.Errorf("%d texts without vectors, %d were sent", n, f.prov.texts)
		}
	})
}

func TestBackfillOfWatchGoesOnWhenProviderRecovers(t *testing.T) {
	watched(t, 0, func(f *fixture) { f.prov.set(0, time.Now().Add(time.Minute)) }, func(f *fixture, src *scripted, p *slowly) {
		f.write("memory/a.md", "edited")
		src.changes <- indexer.Change{Path: f.path("memory/a.md")}
		pass(10 * time.Second)
		if f.has("memory/a.md", "edited"); f.unembedded() != 1 {
			f.Error("it has a vector")
		}
		f.prov.mu.Lock()
		f.prov.downAfter = -1
		f.prov.mu.Unlock()
		pass(time.Minute)
		if f.unembedded() != 0 {
			f.Errorf("%d texts without vectors", f.unembedded())
		}
	})
}

func TestBackfillOfWatchIsTriedAgainAfterErrorOfStore(t *testing.T) {
	watched(t, 0, func(f *fixture) { f.index.fail = errors.New("disk full") }, func(f *fixture, src *scripted, p *slowly) {
		pass(time.Second)
		if f.unembedded() != 1 {
			f.Error("it has a vector")
		}
		f.index.mu.Lock()
		f.index.fail = nil
		f.index.mu.Unlock()
		pass(time.Minute)
		if f.unembedded() != 0 {
			f.Errorf("%d texts without vectors", f.unembedded())
		}
	})
}

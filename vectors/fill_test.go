package vectors_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
	"kioku/vectors"
)

func TestFillEmbedsEqualTextsOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for i := range 10 {
		f.index.write(fmt.Sprint(i), "same", fmt.Sprint("only in ", i))
	}
	if rep := f.run(); f.prov.texts != 11 || f.prov.calls != 1 || f.lacking() != 0 || rep.Embedded != 11 || rep.Err != nil {
		t.Errorf("%d texts in %d calls, report %+v", f.prov.texts, f.prov.calls, rep)
	}
	if rep := f.run(); f.prov.calls != 1 || rep != (vectors.Report{}) {
		t.Errorf("nothing was left to be embedded: %+v", rep)
	}
}

// disabled is an embedder that has no provider.
type disabled struct{ *provider }

func (disabled) Enabled() bool { return false }

func TestFillDoesNothingWithoutProvider(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, []string{"x"}})
	f.fill = vectors.NewFill(f.cache, f.index, disabled{f.prov}, nil, nil)
	if rep := f.run(); rep != (vectors.Report{}) || f.prov.calls != 0 {
		t.Errorf("report %+v", rep)
	}
	f.fill.Watch(t.Context()) // returns at once
}

func TestFillLeavesTextsOfFailingProviderForLater(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(6)})
	f.prov.set(0, f.now().Add(time.Minute))
	if rep := f.run(); !errors.Is(rep.Err, errDown) || f.lacking() != 6 || f.prov.calls != 0 {
		t.Errorf("asked %d times before the provider may be, report %+v", f.prov.calls, rep)
	}
	f.clock += 2 * time.Minute
	if rep := f.run(); !errors.Is(rep.Err, errDown) || f.prov.calls != 1 {
		t.Errorf("asked %d times, report %+v", f.prov.calls, rep)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.run(); rep.Err != nil || rep.Embedded != 6 || f.lacking() != 0 {
		t.Errorf("report %+v", rep)
	}
}

func TestFillKeepsWhatProviderGaveBeforeItFailed(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(600)})
	f.prov.set(300, time.Time{})
	if rep := f.run(); !errors.Is(rep.Err, errDown) || rep.Embedded != 300 || f.lacking() != 300 {
		t.Errorf("%d texts without vectors, report %+v", f.lacking(), rep)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.run(); rep.Embedded != 300 || f.lacking() != 0 || f.prov.texts != 600 {
		t.Errorf("report %+v", rep)
	}
}

func TestFillParksRefusedTexts(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, []string{"fine", "poison", "fine too"}}, memFile{"b", 2, []string{"bee"}})
	f.prov.refuses = func(text string) bool { return text == "poison" }
	if rep := f.run(); rep.RefusedErr == nil || rep.Refused != 1 || rep.Err != nil || f.lacking() != 1 || rep.Embedded != 3 {
		t.Errorf("report %+v", rep)
	}
	calls := f.prov.calls
	for range 3 {
		if rep := f.run(); rep.RefusedErr == nil || rep.Refused != 1 {
			t.Errorf("report %+v", rep)
		}
	}
	if f.prov.calls != calls {
		t.Errorf("asked %d times more", f.prov.calls-calls)
	}
	f.prov.refuses = nil
	f.clock += 2 * time.Hour
	if rep := f.run(); rep.Err != nil || rep.Embedded != 1 || f.lacking() != 0 {
		t.Errorf("after an hour: %+v", rep)
	}
}

func TestFillStoresAnswersOfCancelledRun(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(2)})
	ctx, cancel := context.WithCancel(t.Context())
	f.prov.during = cancel
	if _, err := f.fill.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	f.prov.during = nil
	if n := f.lacking(); n != 0 {
		t.Errorf("%d texts that were paid for are lost", n)
	}
}

// An index or a cache that fails for a while costs no second request for the same texts.
func TestFillPaysOnceWhileTheIndexFails(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(3)})
	f.index.fail = errors.New("disk full")
	for range 5 {
		if _, err := f.fill.Run(t.Context(), nil); !errors.Is(err, f.index.fail) {
			t.Errorf("error %v", err)
		}
	}
	f.index.fail = nil
	if f.run(); f.lacking() != 0 || f.prov.texts != 3 || f.prov.calls != 1 {
		t.Errorf("%d texts in %d calls for 3 texts, %d without a vector", f.prov.texts, f.prov.calls, f.lacking())
	}
}

// An index that loses what it stored must not make one run pay for it again and again.
func TestFillEndsIfTheIndexLosesVectors(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(2)})
	f.index.forgets = true
	if f.run(); f.prov.texts != 2 {
		t.Errorf("%d texts were sent", f.prov.texts)
	}
}

// silent is a provider that returns nothing for any text.
type silent struct{ *provider }

func (s silent) Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error {
	return stream(ctx, func(context.Context, []string) ([]embed.Embedding, error) {
		s.calls++
		return nil, nil
	}, texts, done)
}

func TestFillSkipsTextsWithoutAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(2)})
	f.fill = vectors.NewFill(f.cache, f.index, silent{f.prov}, f.now, nil)
	if rep := f.run(); rep.RefusedErr == nil || rep.Refused != 2 || f.prov.calls != 1 {
		t.Errorf("asked %d times, report %+v", f.prov.calls, rep)
	}
}

func TestFillTellsProgressOfEachRequest(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(1000)})
	var last vectors.State
	steps := 0
	_, err := f.fill.Run(t.Context(), func(s vectors.State) {
		if steps++; s.Embedded < last.Embedded || s.Embedded > s.Total {
			t.Errorf("%+v after %+v", s, last)
		}
		last = s
	})
	if err != nil || last.Embedded != 1000 || last.Total != 1000 || steps < 16 {
		t.Errorf("%d steps, ended with %+v, %v", steps, last, err)
	}
}

// Another model has all its vectors bought beside those of the one before, and takes over when they are whole. Going back costs nothing.
func TestFillOfAnotherModel(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(300)}, memFile{"b", 2, []string{lines("harbour", 4)}})
	f.run()
	first := f.prov.Space()
	f.prov.model, f.prov.downAfter = "other", 100
	if rep := f.run(); rep.Err == nil || f.index.space != first || f.index.adopted != 0 {
		t.Errorf("half of a model has taken over: %+v", rep)
	}
	f.prov.downAfter = -1
	if rep := f.run(); rep.Err != nil || f.index.space != f.prov.Space() || len(f.index.embedded) != 301 {
		t.Errorf("report %+v, the index has %d vectors of %s", rep, len(f.index.embedded), f.index.space.Name())
	}
	for text, n := range f.prov.sent {
		if n > 2 {
			t.Errorf("%q was bought %d times for two models", text, n)
		}
	}
	f.prov.model = "m"
	texts := f.prov.texts
	if rep := f.run(); rep.Err != nil || f.prov.texts != texts || f.index.space != first || len(f.index.embedded) != 301 {
		t.Errorf("going back cost %d texts: %+v", f.prov.texts-texts, rep)
	}
}

// A provider that answers with another number of dimensions has another space from then on.
func TestFillNoticesOtherDimensions(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(200)})
	f.prov.during = func() {
		if f.prov.calls == 2 {
			f.prov.dims = 3
		}
	}
	if rep := f.run(); rep.Err != nil || f.index.space.Dims != 3 || len(f.index.embedded) != 200 {
		t.Errorf("%+v, %d vectors of %s", rep, len(f.index.embedded), f.index.space.Name())
	}
}

// Every chunk has windows, each with its own vector. One that is in two chunks, or that was there before an edit, is bought once.
func TestFillBuysEachWindowOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.index.write("a", lines("harbour", 4), strings.Split(lines("harbour", 4), "\n")[3]+"\nand one "+strings.Repeat("more ", 40))
	if rep := f.run(); rep.Embedded != 2 || f.prov.texts != 7 {
		t.Errorf("%+v, %d texts were sent", rep, f.prov.texts)
	}
	f.index.write("a", strings.Replace(lines("harbour", 4), "line 1", "line one", 1))
	if rep := f.run(); rep.Embedded != 1 || f.prov.texts != 9 {
		t.Errorf("%+v, %d texts were sent for an edited window and its chunk", rep, f.prov.texts-7)
	}
}

// Hazard E05: a window that the provider refuses is left out; the chunk gets its vector and its other windows.
func TestFillLeavesOutARefusedWindow(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, []string{lines("harbour", 3)}})
	f.prov.refuses = func(text string) bool { return strings.HasPrefix(text, "harbour line 1") }
	rep := f.run()
	layout := vectors.LayoutOf(lines("harbour", 3))
	windows, err := f.cache.Windows(t.Context(), f.prov.Space(), layout.Hashes())
	if err != nil || rep.Refused != 0 || f.lacking() != 0 || len(windows) != 3 || len(windows[layout[1].Hash].Codes) != 0 || len(windows[layout[2].Hash].Codes) != 2 {
		t.Errorf("%+v, %v: %v", rep, err, windows)
	}
	if calls := f.prov.calls; f.run() != (vectors.Report{}) || f.prov.calls != calls {
		t.Error("the window is asked for again")
	}
}

// A chunk is embedded as a whole or not at all, and what was bought of half a chunk is not bought again.
func TestFillEmbedsNoHalfChunk(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, []string{lines("harbour", 3)}})
	f.prov.set(2, time.Time{})
	if rep := f.run(); rep.Err == nil || len(f.index.embedded) != 0 {
		t.Errorf("%+v", rep)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.run(); rep.Embedded != 1 || f.prov.texts != 4 {
		t.Errorf("%+v, %d texts were sent", rep, f.prov.texts)
	}
}

// What a store says when it is interrupted is not what the caller looks for.
func TestFillReturnsErrorOfContext(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"a", 1, many(1)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	f.fill = vectors.NewFill(f.cache, interrupted{f.index}, f.prov, nil, nil)
	if _, err := f.fill.Run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// interrupted is an index that is interrupted while it reads the backlog.
type interrupted struct{ *memIndex }

func (interrupted) Backlog(ctx context.Context, _ embed.Space, _ vectors.Place, _ int) ([]vectors.Text, int, error) {
	<-ctx.Done()
	return nil, 0, errors.New("interrupted")
}

// stuck is an index that embeds nothing before its context ends.
type stuck struct{ *memIndex }

func (stuck) Embed(ctx context.Context, _ embed.Space, _ []vectors.Text) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestFillThatIsCancelledWaitsBrieflyForTheIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cache, prov := openCache(t, dir, 1000), newProvider()
		defer cache.Close()
		ctx, cancel := context.WithCancel(t.Context())
		prov.during = cancel
		begin := time.Now()
		_, err := vectors.NewFill(cache, stuck{newMemIndex(cache, memFile{"a", 1, many(200)})}, prov, nil, nil).Run(ctx, nil)
		if took := time.Since(begin); !errors.Is(err, context.Canceled) || took > 2*time.Second {
			t.Errorf("ended after %v with %v", took, err)
		}
		time.Sleep(time.Minute) // its timers end
	})
}

// The newest files come first, also those that are written while a run is under way.
func TestFillBeginsWithTheNewestFile(t *testing.T) {
	t.Parallel()
	f := setup(t, memFile{"old", 1, many(500)}, memFile{"new", 2, []string{"first of all"}})
	var order []string
	f.prov.during = func() {
		if f.prov.calls == 2 {
			f.index.write("meanwhile", "written meanwhile")
			f.fill.Wake()
		}
	}
	f.prov.refuses = func(text string) bool {
		order = append(order, text)
		return false
	}
	f.run()
	if order[0] != "first of all" || slices.Index(order, "written meanwhile") > 200 || f.lacking() != 0 {
		t.Errorf("%q was sent first, and the note that was written meanwhile as number %d", order[0], slices.Index(order, "written meanwhile"))
	}
}

func TestFillGoesOnWhenProviderRecovers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(f *fixture) { f.prov.set(0, time.Now().Add(time.Minute)) }, func(f *fixture) {
		f.index.write("a", "edited")
		f.fill.Wake()
		pass(10 * time.Second)
		if f.lacking() != 1 {
			f.Error("it has a vector")
		}
		f.prov.set(-1, time.Time{})
		pass(6 * time.Minute)
		if f.lacking() != 0 {
			f.Errorf("%d texts without vectors", f.lacking())
		}
	})
}

func TestFillIsTriedAgainAfterErrorOfTheIndex(t *testing.T) {
	t.Parallel()
	inBubble(t, func(f *fixture) {
		f.index.write("a", "edited")
		f.index.fail = errors.New("disk full")
	}, func(f *fixture) {
		pass(time.Second)
		f.index.mu.Lock()
		f.index.fail = nil
		f.index.mu.Unlock()
		pass(time.Minute)
		if f.lacking() != 0 {
			f.Errorf("%d texts without vectors", f.lacking())
		}
	})
}

// A space that could not become that of the index, because its provider did not answer once, is tried again within minutes.
func TestFillTriesToAdoptAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(f *fixture) {
		f.index.write("a", many(3)...)
		if _, err := f.fill.Run(f.Context(), nil); err != nil {
			f.Fatal(err)
		}
		f.prov.model = "other"
		f.index.notAdopted = fmt.Errorf("%w: no answer", vectors.ErrNotAdopted)
		if rep, err := f.fill.Run(f.Context(), nil); err != nil || !errors.Is(rep.Err, vectors.ErrNotAdopted) {
			f.Errorf("%+v, %v", rep, err)
		}
	}, func(f *fixture) {
		pass(time.Minute)
		f.index.mu.Lock()
		f.index.notAdopted = nil
		f.index.mu.Unlock()
		pass(5 * time.Minute)
		f.index.mu.Lock()
		defer f.index.mu.Unlock()
		if f.index.space != f.prov.Space() {
			f.Errorf("the index has vectors of %s", f.index.space.Name())
		}
	})
}

// A run of another caller that gives up must not take the wake-up that was meant for the watch.
func TestFillWakeIsNotLostToAnotherRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(f *fixture) {}, func(f *fixture) {
		gaveUp := make(chan struct{})
		f.index.mu.Lock()
		f.index.reading = func() { // the watch has just read an empty backlog
			go func() {
				defer close(gaveUp)
				ctx, cancel := context.WithTimeout(f.Context(), time.Second)
				defer cancel()
				_, _ = f.fill.Run(ctx, nil)
			}()
			time.Sleep(2 * time.Second)
			f.index.write("a", many(3)...)
			f.fill.Wake()
		}
		f.index.mu.Unlock()
		f.fill.Wake()
		<-gaveUp
		pass(time.Minute)
		if n := f.lacking(); n != 0 {
			f.Errorf("%d texts without vectors", n)
		}
	})
}

func TestFillLogsRefusedTextsOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	inBubble(t, func(f *fixture) {
		f.index.write("a", many(1)...)
		f.prov.refuses = func(string) bool { return true }
		f.fill = vectors.NewFill(f.cache, f.index, f.prov, nil, logTo(&log))
	}, func(f *fixture) {
		for range 5 {
			pass(time.Minute)
			f.fill.Wake()
		}
		pass(time.Minute)
		if n := strings.Count(log.String(), "refused"); n != 1 {
			f.Errorf("%d lines: %s", n, log.String())
		}
	})
}

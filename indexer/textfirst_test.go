package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
	"kioku/indexer"
)

// slowly is a provider that takes its time for each call, on the clock of the bubble.
type slowly struct {
	*provider
	// each call takes that long; negative for ever.
	each time.Duration
	// largest is the largest number of texts in one call.
	largest int
}

func (s *slowly) Documents(ctx context.Context, texts []string) ([]embed.Embedding, error) {
	s.largest = max(s.largest, len(texts))
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

// withSlow runs a test on fake time, with n files of two texts each and a provider that takes its time.
func withSlow(t *testing.T, n int, each time.Duration, body func(f *fixture, p *slowly)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, dir: filepath.Join(dir, "ws"), split: &paragraphs{}, index: newMemIndex(), prov: newProvider(), clock: time.Hour}
		for i := range n {
			f.write(fmt.Sprintf("memory/%03d.md", i), fmt.Sprintf("one %d\ntwo %d", i, i))
		}
		p := &slowly{provider: f.prov, each: each}
		f.x = indexer.New(f.split, f.index, p, indexer.Options{Workspace: f.dir, Now: f.now, Notify: f.note})
		body(f, p)
	})
}

// outcome is what a sync returned.
type outcome struct {
	rep indexer.Report
	err error
}

// syncing starts a sync.
func (f *fixture) syncing(ctx context.Context, step func(indexer.Progress)) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		rep, err := f.x.Sync(ctx, indexer.SyncOptions{}, step)
		out <- outcome{rep, err}
	}()
	return out
}

func (f *fixture) listed() int {
	paths, _ := f.index.list()
	return len(paths)
}

func TestWordsAreThereWhileTheProviderStillWorks(t *testing.T) {
	withSlow(t, 500, 3*time.Second, func(f *fixture, p *slowly) {
		ended := f.syncing(f.Context(), nil)
		pass(2 * time.Second)
		if f.listed() != 500 || f.index.unembedded() != 1000 {
			f.Errorf("%d files, %d texts without vectors", f.listed(), f.index.unembedded())
		}
		if s := f.x.State(); !s.Syncing || s.Dirty || s.PendingFiles != 0 {
			f.Errorf("state %+v", s)
		}
		pass(20 * time.Second)
		if n := f.index.unembedded(); n == 0 || n >= 1000 {
			f.Errorf("half way there are %d texts without vectors", n)
		}
		got := <-ended
		if got.err != nil || got.rep.EmbedErr != nil || f.index.unembedded() != 0 {
			f.Fatalf("%+v, %d texts without vectors", got, f.index.unembedded())
		}
		if r := got.rep; r.Files != 500 || r.Chunks != 1000 || r.Embedded != 1000 || r.Cached != 0 || r.Read != 500 || f.prov.texts != 1000 {
			f.Errorf("report %+v, %d texts were sent", r, f.prov.texts)
		}
		if f.count(indexer.FileIndexed, "memory/007.md") != 1 || f.index.writes("memory/007.md") != 2 {
			f.Errorf("told %d times, written %d times", f.count(indexer.FileIndexed, "memory/007.md"), f.index.writes("memory/007.md"))
		}
	})
}

func TestASmallEditWaitsForItsVectors(t *testing.T) {
	withSlow(t, 16, 3*time.Second, func(f *fixture, p *slowly) {
		if rep := f.sync(); rep.Files != 16 || f.index.unembedded() != 0 {
			f.Errorf("report %+v", rep)
		}
		if n := f.index.writes("memory/003.md"); n != 1 {
			f.Errorf("written %d times", n)
		}
	})
}

func TestAnInstantProviderDoesNotPayTwice(t *testing.T) {
	withSlow(t, 500, 0, func(f *fixture, p *slowly) {
		if rep := f.sync(); rep.Files != 500 || rep.Embedded != 1000 || f.index.unembedded() != 0 {
			f.Errorf("report %+v", rep)
		}
		if n := f.index.writes("memory/003.md"); n != 1 {
			f.Errorf("written %d times", n)
		}
	})
}

func TestWhatIsCachedIsThereAtOnce(t *testing.T) {
	withSlow(t, 100, 0, func(f *fixture, p *slowly) {
		f.sync()
		f.index.mu.Lock()
		clear(f.index.files)
		f.index.mu.Unlock()
		p.each = -1
		for i := range 50 {
			f.write(fmt.Sprintf("memory/%03d.md", i), fmt.Sprintf("new %d\ntwo %d", i, i))
		}
		ctx, cancel := context.WithCancel(f.Context())
		ended := f.syncing(ctx, nil)
		pass(time.Second)
		if f.listed() != 100 || f.index.unembedded() != 50 {
			f.Errorf("%d files, %d texts without vectors", f.listed(), f.index.unembedded())
		}
		cancel()
		<-ended
	})
}

// Hazard B08: whenever it is cancelled, a sync leaves whole files, and keeps what was paid for.
func TestCancellingWhileTheProviderWorksLeavesWholeFiles(t *testing.T) {
	for _, after := range []time.Duration{10 * time.Millisecond, time.Second, 40 * time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			withSlow(t, 500, 3*time.Second, func(f *fixture, p *slowly) {
				ctx, cancel := context.WithCancel(f.Context())
				ended := f.syncing(ctx, nil)
				pass(after)
				cancel()
				if got := <-ended; !errors.Is(got.err, context.Canceled) {
					f.Errorf("error %v", got.err)
				}
				if s := f.x.State(); s.Syncing || !s.Dirty {
					f.Errorf("state %+v", s)
				}
				paths, _ := f.index.list()
				for _, name := range paths {
					var i int
					fmt.Sscanf(name, "memory/%d.md", &i)
					f.has(name, fmt.Sprintf("one %d|two %d", i, i))
				}
				p.each = 0
				paid := f.prov.texts
				if rep := f.sync(); f.listed() != 500 || f.index.unembedded() != 0 || f.prov.texts != 1000 || rep.Embedded != 1000-paid {
					f.Errorf("%d texts were sent, %d of them before; report %+v", f.prov.texts, paid, rep)
				}
			})
		})
	}
}

func TestAProviderThatFailsLateLeavesTheText(t *testing.T) {
	for name, enough := range map[string]int{"at once": 0, "half way": 300} {
		t.Run(name, func(t *testing.T) {
			withSlow(t, 500, 3*time.Second, func(f *fixture, p *slowly) {
				f.prov.set(enough, f.now())
				if enough == 0 {
					f.prov.retryAt = time.Time{} // it may be asked
				}
				rep := f.sync()
				if !errors.Is(rep.EmbedErr, errDown) || rep.Embedded != enough || rep.Files != 500 || f.listed() != 500 {
					f.Errorf("%d files, report %+v", f.listed(), rep)
				}
				if n := f.index.unembedded(); n != 1000-enough || !errors.Is(f.x.State().EmbedErr, errDown) {
					f.Errorf("%d texts without vectors, state %+v", n, f.x.State())
				}
				f.prov.set(-1, time.Time{})
				if rep = f.sync(); rep.EmbedErr != nil || f.index.unembedded() != 0 || f.prov.texts != 1000 {
					f.Errorf("report %+v", rep)
				}
			})
		})
	}
}

func TestAFileThatChangesWhileItsVectorsAreMadeIsLookedAtAgain(t *testing.T) {
	withSlow(t, 500, 3*time.Second, func(f *fixture, p *slowly) {
		ended := f.syncing(f.Context(), nil)
		pass(10 * time.Second)
		f.write("memory/400.md", "edited meanwhile")
		if got := <-ended; got.err != nil {
			f.Fatal(got.err)
		}
		f.sync()
		f.has("memory/400.md", "edited meanwhile")
		if n := f.index.unembedded(); n != 0 {
			f.Errorf("%d texts without vectors", n)
		}
	})
}

// The bar of a person who waits must move with each request, and never back within a phase.
func TestProgressMovesWithEachRequest(t *testing.T) {
	for name, each := range map[string]time.Duration{"one pass": 20 * time.Millisecond, "text first": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			withSlow(t, 500, each, func(f *fixture, p *slowly) {
				var steps []int
				var last indexer.Progress
				_, err := f.x.Sync(f.Context(), indexer.SyncOptions{}, func(pr indexer.Progress) {
					if pr.Phase == indexer.PhaseEmbed && pr.Embedded > last.Embedded {
						steps = append(steps, pr.FilesDone)
					}
					if pr.FilesDone < last.FilesDone && pr.FilesDone > 0 || pr.FilesDone > pr.FilesTotal {
						f.Errorf("%+v after %+v", pr, last)
					}
					last = pr
				})
				f.must(err)
				if last.FilesDone != 500 || last.FilesTotal != 500 || last.Embedded != 1000 {
					f.Errorf("ended with %+v", last)
				}
				moved := len(slices.Compact(steps))
				if len(steps) < 15 || moved < len(steps)-1 || p.largest > 64 {
					f.Errorf("%d answers moved the files %d times: %d", len(steps), moved, steps)
				}
			})
		})
	}
}

// A watch that is busy with the vectors of a large folder must not keep an edit waiting for all of them.
func TestAnEditDoesNotWaitForAllVectors(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, dir: filepath.Join(dir, "ws"), split: &paragraphs{}, index: newMemIndex(), prov: newProvider()}
		for i := range 500 {
			f.write(fmt.Sprintf("memory/%03d.md", i), fmt.Sprintf("one %d\ntwo %d", i, i))
		}
		src := newScripted()
		f.x = indexer.New(f.split, f.index, &slowly{provider: f.prov, each: 3 * time.Second}, indexer.Options{Workspace: f.dir, Watcher: src.open})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.x.Watch(ctx) }()
		pass(10 * time.Second)
		f.write("memory/400.md", "edited meanwhile")
		src.changes <- indexer.Change{Path: f.path("memory/400.md")}
		pass(6 * time.Second)
		f.has("memory/400.md", "edited meanwhile")
		if n := f.index.unembedded(); n < 500 {
			f.Errorf("only %d texts without vectors: the edit had nothing to wait for", n)
		}
		pass(time.Minute)
		if n := f.index.unembedded(); n != 0 || f.prov.texts != 999 {
			f.Errorf("%d texts without vectors, %d were sent", n, f.prov.texts)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestASyncForAQueryDoesNotWaitForAProviderThatHangs(t *testing.T) {
	for _, n := range []int{1, 60} {
		withSlow(t, n, -1, func(f *fixture, _ *slowly) {
			start := time.Now()
			rep, err := f.x.Sync(f.Context(), indexer.SyncOptions{NoRebuild: true}, nil)
			if err != nil || rep.EmbedErr == nil || f.listed() != n {
				t.Errorf("%d files: %d are listed, report %+v, %v", n, f.listed(), rep, err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("%d files: it waited %v", n, took)
			}
		})
	}
}

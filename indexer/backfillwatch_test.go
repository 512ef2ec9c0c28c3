package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
	"kioku/indexer"
)

// slowly is a provider whose calls take time on the clock of the bubble.
type slowly struct {
	*provider
	// each is the duration of a call; negative means forever.
	each time.Duration
}

func (s *slowly) Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error {
	return stream(ctx, s.Documents, texts, done)
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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

// flaky is a provider that fails for documents, and looks healthy since it answers queries.
type flaky struct {
	*provider
	fails atomic.Bool
	asked atomic.Int32
}

func (p *flaky) Health() embed.Health { return embed.Health{Healthy: true} }

func (p *flaky) Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error {
	return stream(ctx, p.Documents, texts, done)
}

func (p *flaky) Documents(ctx context.Context, texts []string) ([]embed.Embedding, error) {
	if p.fails.Load() {
		p.asked.Add(1)
		return make([]embed.Embedding, len(texts)), errDown
	}
	return p.provider.Documents(ctx, texts)
}

func TestBackfillOfWatchIsTriedAgainWhileProviderLooksHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		index, prov := newMemIndex(), &flaky{provider: newProvider()}
		prov.fails.Store(true)
		index.ReplaceFile(t.Context(), indexer.File{Path: "a.md", Chunks: many(3)})
		go indexer.NewBackfill(index, prov, nil, nil).Watch(t.Context())
		pass(time.Hour)
		if n := prov.asked.Load(); n < 5 || n > 30 {
			t.Errorf("asked %d times in an hour of failure", n)
		}
		prov.fails.Store(false)
		pass(6 * time.Minute)
		if n := index.unembedded(prov.Space()); n != 0 {
			t.Errorf("%d texts without vectors", n)
		}
	})
}

// A space that could not become that of the index, because its provider did not answer once, is tried again within minutes.
func TestBackfillOfWatchTriesToAdoptAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		index, prov := newMemIndex(), newProvider()
		index.notAdopted = fmt.Errorf("%w: no answer", indexer.ErrNotAdopted)
		index.ReplaceFile(t.Context(), indexer.File{Path: "a.md", Chunks: many(3)})
		b := indexer.NewBackfill(index, prov, nil, nil)
		if rep, err := b.Run(t.Context(), nil); err != nil || !errors.Is(rep.Err, indexer.ErrNotAdopted) {
			t.Errorf("%+v, %v", rep, err)
		}
		go b.Watch(t.Context())
		pass(time.Minute)
		index.mu.Lock()
		index.notAdopted, index.space = nil, embed.Space{}
		index.mu.Unlock()
		pass(5 * time.Minute)
		index.mu.Lock()
		defer index.mu.Unlock()
		if index.space != prov.Space() {
			t.Errorf("the index has vectors of %s", index.space.Name())
		}
	})
}

// impatient is a provider that answers only callers who do not limit their time, and whose Health takes time.
type impatient struct{ *provider }

func (p impatient) Health() embed.Health {
	time.Sleep(time.Millisecond)
	return p.provider.Health()
}

func (p impatient) Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error {
	return stream(ctx, p.Documents, texts, done)
}

func (p impatient) Documents(ctx context.Context, texts []string) ([]embed.Embedding, error) {
	if _, limited := ctx.Deadline(); limited {
		<-ctx.Done()
		return make([]embed.Embedding, len(texts)), ctx.Err()
	}
	return p.provider.Documents(ctx, texts)
}

// A run of another caller that gives up must not take the wake-up that was meant for the watch.
func TestBackfillWakeIsNotLostToAnotherRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		index, prov := newMemIndex(), impatient{newProvider()}
		b := indexer.NewBackfill(index, prov, nil, nil)
		go b.Watch(t.Context())
		pass(time.Second)
		gaveUp := make(chan struct{})
		index.reading = func() { // the watch has just read an empty backlog
			index.reading = nil
			go func() {
				defer close(gaveUp)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := b.Run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
			}()
			time.Sleep(time.Millisecond) // it waits for its turn
			index.ReplaceFile(t.Context(), indexer.File{Path: "a.md", Chunks: many(3)})
			b.Wake()
		}
		b.Wake()
		<-gaveUp
		pass(time.Minute)
		if n := index.unembedded(prov.Space()); n != 0 {
			t.Errorf("%d texts without vectors", n)
		}
	})
}

func TestBackfillOfWatchLogsRefusedTextsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		index, prov := newMemIndex(), newProvider()
		prov.poison = "text"
		index.ReplaceFile(t.Context(), indexer.File{Path: "a.md", Chunks: many(1)})
		b := indexer.NewBackfill(index, prov, nil, logTo(&log))
		go b.Watch(t.Context())
		for range 5 {
			pass(time.Minute)
			b.Wake()
		}
		pass(time.Minute)
		if n := strings.Count(log.String(), "refused"); n != 1 {
			t.Errorf("%d lines: %s", n, log.String())
		}
	})
}

package embed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
)

// gauge counts the requests that are under way, each for a second.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

func (g *gauge) answer(r request) reply {
	g.mu.Lock()
	g.now++
	g.most = max(g.most, g.now)
	g.mu.Unlock()
	time.Sleep(time.Second)
	g.mu.Lock()
	g.now--
	g.mu.Unlock()
	return good(r)
}

// Requests follow each other without a pause, so that a stream takes the time that latency, batch and concurrency allow, and
// one request more for the first.
func TestStreamKeepsItsRequestsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		f, c := newFake(t, embed.Config{BatchItems: 10, Concurrency: 4}, g.answer)
		texts := numbered(1000)
		start := time.Now()
		got, err := c.Documents(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		wantVectors(t, texts, got)
		if took := time.Since(start); g.most != 4 || took > 26*time.Second {
			t.Errorf("%d requests of 1 s, at most %d at a time, took %v", len(f.seen()), g.most, took)
		}
	})
}

// Memories that share a client share its limit.
func TestStreamsTogetherKeepTheLimitOfRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		_, c := newFake(t, embed.Config{BatchItems: 1, Concurrency: 3}, g.answer)
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				if _, err := c.Documents(t.Context(), []string{fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("c", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if g.most != 3 {
			t.Errorf("%d requests at a time", g.most)
		}
	})
}

// A search does not wait for the documents that are under way.
func TestStreamLeavesRoomForAQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{BatchItems: 1, Concurrency: 1}, func(r request) reply {
			if r.Input[0] == "question" {
				return good(r)
			}
			return slow(r)
		})
		go c.Documents(t.Context(), numbered(10))
		time.Sleep(1500 * time.Millisecond)
		start := time.Now()
		if _, err := c.Query(t.Context(), "question"); err != nil || time.Since(start) > 0 {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		time.Sleep(time.Minute)
	})
}

// The first texts are sent first, and each outcome is told when its own request ends.
func TestStreamTellsEachRequestAsItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{BatchItems: 1, Concurrency: 2}, func(r request) reply {
			a := good(r)
			if r.Input[0] == "note number 1" {
				a.delay = 10 * time.Second
			}
			return a
		})
		var order []int
		err := c.Stream(t.Context(), slices.Values(numbered(5)), func(outcomes []embed.Outcome) {
			order = append(order, outcomes[0].Number)
		})
		if want := []int{0, 2, 3, 4, 1}; err != nil || !slices.Equal(order, want) {
			t.Errorf("told %v, %v; want %v", order, err, want)
		}
	})
}

// The sequence is read only as far as requests can be made of it.
func TestStreamReadsNoMoreThanItSends(t *testing.T) {
	t.Parallel()
	read := 0
	_, c := newFake(t, embed.Config{BatchItems: 10}, func(request) reply { return reply{status: 401} })
	err := c.Stream(t.Context(), func(yield func(string) bool) {
		for _, text := range numbered(1000) {
			if read++; !yield(text) {
				return
			}
		}
	}, func(outcomes []embed.Outcome) { t.Errorf("%+v", outcomes) })
	if !errors.Is(err, embed.ErrUnavailable) || read > 11 {
		t.Errorf("%d texts were read, error %v", read, err)
	}
}

// Hazard E09: equal texts are sent once, whether the first is still under way or not.
func TestStreamSendsEqualTextsOnce(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{BatchItems: 3}, good)
	var texts []string
	for i := range 300 {
		texts = append(texts, "same", fmt.Sprint("own ", i), fmt.Sprint("twice ", i/2))
	}
	got, err := c.Documents(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, texts, got)
	sent := 0
	for _, n := range sizes(f.seen()) {
		sent += n
	}
	if sent != 1+300+150 {
		t.Errorf("%d texts were sent for 451 different ones", sent)
	}
}

// Hazard E04: a provider that begins to refuse everything while several requests are under way costs one search for the reason.
func TestStreamSearchesForRefusedTextsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{Concurrency: 8}, func(r request) reply {
			if r.N > 1 {
				return reply{status: 422, body: "no", delay: time.Second}
			}
			return good(r)
		})
		if _, err := c.Documents(t.Context(), numbered(2000)); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if n := len(f.seen()); n > 1+8+8 {
			t.Errorf("%d requests", n)
		}
	})
}

// A cancelled stream still tells what was answered before.
func TestStreamCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, c := newFake(t, embed.Config{BatchItems: 1, Concurrency: 2}, func(r request) reply {
			a := good(r)
			if strings.HasSuffix(r.Input[0], "2") {
				a.delay = time.Minute
			}
			if r.N == 5 {
				cancel()
			}
			return a
		})
		told := 0
		err := c.Stream(ctx, slices.Values(numbered(100)), func([]embed.Outcome) { told++ })
		if !errors.Is(err, context.Canceled) || told < 3 || !c.Health().Healthy {
			t.Errorf("%d outcomes, error %v, health %+v", told, err, c.Health())
		}
	})
}

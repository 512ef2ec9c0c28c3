package embed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
)

func TestQueryCachesTheLast512(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{}, good)
	ask := func(i int) {
		t.Helper()
		text := fmt.Sprint("question ", i)
		got, err := c.Query(t.Context(), text)
		if err != nil || !near(got, unitOf(text)) {
			t.Fatalf("%s: %v, %v", text, got, err)
		}
		got[0] = 99 // must not reach the next caller
	}
	for i := range 512 {
		ask(i)
	}
	for i := range 512 {
		ask(i)
	}
	if n := len(f.seen()); n != 512 {
		t.Fatalf("%d requests for 512 queries asked twice", n)
	}
	ask(0)   // used last
	ask(512) // puts out 1
	ask(0)
	ask(1)
	if n := len(f.seen()); n != 514 {
		t.Errorf("%d requests, want 514", n)
	}
}

func TestQueryAnswersFromTheCacheWhileTheProviderIsDown(t *testing.T) {
	t.Parallel()
	_, c := newFake(t, embed.Config{}, func(r request) reply {
		if r.N > 1 {
			return reply{status: 401}
		}
		return good(r)
	})
	for range 2 {
		if _, err := c.Query(t.Context(), "known"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Query(t.Context(), "unknown"); !errors.Is(err, embed.ErrUnavailable) {
			t.Fatal(err)
		}
	}
}

func TestQueryDoesNotSendABlankText(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{}, good)
	if _, err := c.Query(t.Context(), " \n"); !errors.Is(err, embed.ErrBlank) || len(f.seen()) != 0 {
		t.Errorf("got %v, %d requests", err, len(f.seen()))
	}
}

func TestQueryRefusalIsNoOutage(t *testing.T) {
	t.Parallel()
	_, c := newFake(t, embed.Config{}, func(r request) reply {
		if strings.HasPrefix(r.Input[0], "long") {
			return reply{status: 400, body: `{"error":{"message":"maximum context length is 512 tokens"}}`}
		}
		return good(r)
	})
	_, err := c.Query(t.Context(), "long question")
	if err == nil || errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "512 tokens") || !c.Health().Healthy {
		t.Errorf("got %v, health %+v", err, c.Health())
	}
}

// Hazard E09: a thousand callers with the same query make one request.
func TestInFlightQueriesShareOneRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, slow)
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if got, err := c.Query(t.Context(), "same"); err != nil || !near(got, unitOf("same")) {
					t.Error(got, err)
				}
			})
		}
		wg.Wait()
		if n := len(f.seen()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func slow(r request) reply {
	a := good(r)
	a.delay = time.Second
	return a
}

func TestInFlightQueryDoesNotShareWithADocument(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, slow)
		var wg sync.WaitGroup
		wg.Go(func() { c.Documents(t.Context(), []string{"same"}) })
		wg.Go(func() { c.Query(t.Context(), "same") })
		wg.Wait()
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d requests: some models embed the two differently", n)
		}
	})
}

func TestInFlightCallersOutliveTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, slow)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Query(ctx, "same"); !errors.Is(err, context.Canceled) {
				t.Errorf("the first caller got %v", err)
			}
		})
		synctest.Wait()
		var served atomic.Int32
		for range 5 {
			wg.Go(func() {
				if got, err := c.Query(t.Context(), "same"); err == nil && near(got, unitOf("same")) {
					served.Add(1)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if served.Load() != 5 || len(f.seen()) != 2 {
			t.Errorf("%d of 5 served with %d requests", served.Load(), len(f.seen()))
		}
	})
}

// Hazard E02: callers that share a request share its failure, and do not each try again.
func TestInFlightCallersShareAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, func(request) reply { return reply{status: 401, delay: time.Second} })
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := c.Query(t.Context(), "same"); !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "401") {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if n := len(f.seen()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestInFlightCallersKeepTheirDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{}, slow)
		var wg sync.WaitGroup
		wg.Go(func() { c.Query(t.Context(), "same") })
		synctest.Wait()
		ctx, cancel := contextFor(t, 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := c.Query(ctx, "same"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 100*time.Millisecond {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		wg.Wait()
	})
}

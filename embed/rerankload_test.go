package embed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed/local"
)

// A search waits for a re-ranker that is loaded only as long as it may take, and says why it has no scores. That is no failure: the
// first search after it is loaded is re-ranked.
func TestRerankWaitsForALoadOnlyInItsTime(t *testing.T) {
	t.Parallel()
	model, err := local.Open("local/testdata/cross", local.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	synctest.Test(t, func(t *testing.T) {
		loaded := make(chan struct{})
		time.AfterFunc(4*time.Second, func() { close(loaded) })
		read := func() error { <-loaded; return nil }
		r := &Reranker{now: time.Now, circuit: newBreaker(time.Now, minFailures), scorer: newCrossEncoder(model, read)}
		for range 2 * minFailures {
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			scores, err := r.Score(ctx, "q", []string{"a", "b"})
			cancel()
			if !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrLoading) || scores != nil || time.Since(start) != 300*time.Millisecond {
				t.Fatalf("%v, %v after %s", scores, err, time.Since(start))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if _, err := r.Score(ctx, "q", []string{"a"}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
			t.Errorf("given up: %v", err)
		}
		if h := r.Health(); !h.Healthy || h.Err != nil {
			t.Errorf("%+v", h)
		}
		if scores, err := r.Score(t.Context(), "q", []string{"a", "b"}); err != nil || len(scores) != 2 { // waits for the rest
			t.Errorf("%v, %v", scores, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 {
			if _, err := r.scorer.score(ended, "q", []string{"a"}); errors.Is(err, ErrLoading) {
				t.Fatal("a loaded model is said to be loading when the time is over")
			}
		}
	})
}

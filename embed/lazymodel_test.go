package embed

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// constantScorer gives each passage the same score.
type constantScorer float64

func (s constantScorer) score(_ context.Context, _ string, passages []string) ([]float64, error) {
	return slices.Repeat([]float64{float64(s)}, len(passages)), nil
}

// A search waits for a re-ranker that is loaded only as long as it may take, and says why it has no scores. That is no failure: the
// first search after it is loaded is re-ranked. The model is loaded once.
func TestRerankWaitsForALoadOnlyInItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int32
		r := &Reranker{now: time.Now, circuit: newBreaker(time.Now, minFailures), scorer: newLazyModel(func() scorer {
			opened.Add(1)
			time.Sleep(4 * time.Second)
			return constantScorer(2)
		})}
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
		scores, err := r.Score(t.Context(), "q", []string{"a", "b"}) // waits for the rest
		if err != nil || !slices.Equal(scores, []float64{2, 2}) || opened.Load() != 1 {
			t.Errorf("%v, %v, loaded %d times", scores, err, opened.Load())
		}
	})
}

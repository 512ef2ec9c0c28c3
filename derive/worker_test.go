package derive_test

import (
	"context"
	"testing"
	"time"
)

// worker runs the worker of a world for a while, in a bubble of synctest to which the world belongs.
func worker(t *testing.T, w *world, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := w.Work(ctx); err != nil {
		t.Error(err)
	}
}

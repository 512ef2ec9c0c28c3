package fair

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// start acquires in the background and appends name to order once it is granted. Granted requests are sent to grants.
func start(t *testing.T, q *Queue, name string, grants chan<- *Grant) {
	t.Helper()
	go func() {
		g, err := q.Acquire(t.Context(), name, 1)
		if err != nil {
			t.Error(err)
			return
		}
		grants <- g
	}()
	synctest.Wait()
}

func TestQueueLetsClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 1, Share: 1, Waiting: 10})
		grants := make(chan *Grant, 10)
		for _, name := range []string{"a", "a", "a", "a", "b", "c", "b"} {
			start(t, q, name, grants)
		}
		var order []string
		for range 7 {
			g := <-grants
			order = append(order, g.client.name)
			g.Release()
			synctest.Wait()
		}
		if diff := cmp.Diff([]string{"a", "a", "b", "c", "a", "b", "a"}, order); diff != "" {
			t.Error(diff)
		}
		if len(q.clients) != 0 || q.Used() != 0 {
			t.Errorf("%d clients are remembered, %d units are used", len(q.clients), q.Used())
		}
	})
}

func TestQueueReservesRoomForClientsThatUseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 2, Share: 2, Reserve: 1, Waiting: 10})
		grants := make(chan *Grant, 10)
		for range 5 {
			start(t, q, "greedy", grants)
		}
		if len(grants) != 2 {
			t.Fatalf("%d requests of one client are granted, want its share", len(grants))
		}
		start(t, q, "other", grants)
		start(t, q, "third", grants)
		if len(grants) != 3 {
			t.Fatalf("%d requests are granted, want one of the other client", len(grants))
		}
		for range 7 {
			(<-grants).Release()
			synctest.Wait()
		}
	})
}

func TestQueueGrantsOneLargeRequestOfAClientThatUsesNothing(t *testing.T) {
	q := New(Limits{Capacity: 4, Share: 2, Waiting: 1})
	g, err := q.Acquire(t.Context(), "a", 9)
	if err != nil {
		t.Fatal(err)
	}
	g.Shrink(3)
	other, err := q.Acquire(t.Context(), "b", 1)
	if err != nil {
		t.Fatal(err)
	}
	g.Release()
	g.Release()
	if q.Used() != 1 {
		t.Errorf("%d units are used, want 1", q.Used())
	}
	other.Release()
}

func TestAcquireReturnsErrFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 1, Share: 1, Waiting: 2})
		grants := make(chan *Grant, 10)
		for range 3 {
			start(t, q, "a", grants)
		}
		if _, err := q.Acquire(t.Context(), "a", 1); !errors.Is(err, ErrFull) {
			t.Errorf("the fourth request returns %v", err)
		}
		start(t, q, "b", grants)
		for range 4 {
			(<-grants).Release()
			synctest.Wait()
		}
	})
}

func TestAcquireEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 1, Share: 1, Waiting: 2})
		held, err := q.Acquire(t.Context(), "a", 1)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { _, err := q.Acquire(ctx, "b", 1); ended <- err }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire returned %v", err)
		}
		held.Release()
		if len(q.clients) != 0 || len(q.turns) != 0 {
			t.Errorf("%d clients are remembered, %d wait", len(q.clients), len(q.turns))
		}
	})
}

// Whatever clients do, no limit is exceeded, and nothing is left in use.
func TestQueueStaysWithinItsLimits(t *testing.T) {
	limits := Limits{Capacity: 10, Share: 6, Reserve: 4, Waiting: 3}
	q := New(limits)
	var running sync.WaitGroup
	for i := range 40 {
		running.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(3) == 0 {
					go cancel()
				}
				g, err := q.Acquire(ctx, fmt.Sprint(i%7), 1+r.Int64N(4))
				if used := q.Used(); used > limits.Capacity+limits.Reserve {
					t.Errorf("%d units are used", used)
				}
				if err == nil {
					g.Shrink(r.Int64N(4))
					g.Release()
				}
				cancel()
			}
		})
	}
	running.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used != 0 || len(q.turns) != 0 || len(q.clients) != 0 {
		t.Errorf("%d units are used, %d clients wait, %d are remembered", q.used, len(q.turns), len(q.clients))
	}
}

package fair

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// start acquires in the background for a client, or a "client/connection". Granted requests are sent to grants.
func start(t *testing.T, q *Queue, name string, grants chan<- *Grant) {
	t.Helper()
	go func() {
		client, connection, _ := strings.Cut(name, "/")
		g, err := q.Acquire(t.Context(), client, connection, 1)
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
			order = append(order, g.connection.client.name)
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
	g, err := q.Acquire(t.Context(), "a", "", 9)
	if err != nil {
		t.Fatal(err)
	}
	g.Shrink(3)
	other, err := q.Acquire(t.Context(), "b", "", 1)
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
		if _, err := q.Acquire(t.Context(), "a", "", 1); !errors.Is(err, ErrFull) {
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
		held, err := q.Acquire(t.Context(), "a", "", 1)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { _, err := q.Acquire(ctx, "b", "", 1); ended <- err }()
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

func TestQueueLetsConnectionsOfAClientTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 1, Share: 1, Waiting: 10})
		grants := make(chan *Grant, 10)
		for _, name := range []string{"a/1", "a/1", "a/1", "a/1", "a/2", "b/1", "a/2", "b/1"} {
			start(t, q, name, grants)
		}
		var order []string
		for range 8 {
			g := <-grants
			order = append(order, g.connection.client.name+"/"+g.connection.name)
			g.Release()
			synctest.Wait()
		}
		if diff := cmp.Diff([]string{"a/1", "a/1", "b/1", "a/2", "b/1", "a/1", "a/2", "a/1"}, order); diff != "" {
			t.Error(diff)
		}
	})
}

// However many connections a client has, they use its share, and those that use nothing come first.
func TestQueueBoundsTheConnectionsOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 4, Share: 3, Reserve: 2, Waiting: 10})
		grants := make(chan *Grant, 10)
		for _, name := range []string{"a/1", "a/1", "a/1", "a/2", "a/3"} {
			start(t, q, name, grants)
		}
		if len(grants) != 3 {
			t.Errorf("%d requests of one client are granted, want its share", len(grants))
		}
		start(t, q, "b/1", grants)
		start(t, q, "b/1", grants) // waits: the reserve is for connections that use nothing
		start(t, q, "b/2", grants)
		if len(grants) != 5 {
			t.Errorf("%d requests are granted, want two more of another client", len(grants))
		}
		for range 8 {
			(<-grants).Release()
			synctest.Wait()
		}
		if len(q.clients) != 0 || q.Used() != 0 {
			t.Errorf("%d clients are remembered, %d units are used", len(q.clients), q.Used())
		}
	})
}

// The connection of a client with the most waiting requests is refused, not one that comes later and has few.
func TestAcquireRefusesTheConnectionThatWaitsForMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 1, Share: 1, Waiting: 2})
		grants := make(chan *Grant, 10)
		start(t, q, "a/1", grants)
		start(t, q, "a/1", grants)
		refused := make(chan error, 1)
		go func() { _, err := q.Acquire(t.Context(), "a", "1", 1); refused <- err }()
		synctest.Wait()
		start(t, q, "a/2", grants)
		if err := <-refused; !errors.Is(err, ErrFull) {
			t.Errorf("the last request of the first connection returns %v", err)
		}
		for range 3 {
			(<-grants).Release()
			synctest.Wait()
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
				g, err := q.Acquire(ctx, fmt.Sprint(i%4), fmt.Sprint(i%3), 1+r.Int64N(4))
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

// Hazard D12: a client that asks now and then finds room for its next request although another asks for all there is, and the other gets all
// of it again once nothing was heard of the first for a while. Alone on one unit, nobody is kept waiting for a client that may come.
func TestQueueKeepsRoomForAClientThatWillAskAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Capacity: 2, Share: 3, Reserve: 1, Waiting: 10, Recent: time.Second})
		running := make(chan *Grant, 10)
		for range 4 {
			go func() {
				if g, err := q.Acquire(t.Context(), "greedy", "", 1); err == nil {
					running <- g
				}
			}()
		}
		synctest.Wait()
		small, err := q.Acquire(t.Context(), "small", "", 1) // beyond the capacity
		if err != nil || len(running) != 2 {
			t.Fatalf("%d greedy requests run, %v", len(running), err)
		}
		small.Release()
		(<-running).Release()
		synctest.Wait()
		if q.Used() != 1 {
			t.Errorf("%d units are used, want 1: the other is kept free", q.Used())
		}
		time.Sleep(2 * time.Second)
		(<-running).Release()
		synctest.Wait()
		if q.Used() != 2 {
			t.Errorf("%d units are used after a while, want 2", q.Used())
		}
		(<-running).Release()
		(<-running).Release()
		one := New(Limits{Capacity: 1, Share: 2, Reserve: 1, Waiting: 10, Recent: time.Second})
		for _, name := range []string{"small", "greedy"} {
			g, err := one.Acquire(t.Context(), name, "", 1)
			if err != nil {
				t.Fatal(err)
			}
			g.Release()
		}
	})
}

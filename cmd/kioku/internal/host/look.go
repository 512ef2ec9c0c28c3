package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kioku"
	"kioku/memory"
	"kioku/pgstore"
	"kioku/server"
)

// look asks the store for the state of an agent, and remembers how that went.
type look struct {
	mu     sync.Mutex
	seen   time.Time // when the store was last reached
	missed time.Time // when it was last not, zero if it was since
}

// ask returns the state of an agent in the store. The error is memory.ErrUnreachable, at once if the store was away just now.
func (l *look) ask(ctx context.Context, c *cluster, agent string) (a pgstore.Agent, err error) {
	l.mu.Lock()
	missed := l.missed
	l.mu.Unlock()
	if time.Since(missed) < lookAgain {
		return a, fmt.Errorf("%w: the databases of the cluster do not answer", memory.ErrStoreAway)
	}
	asking, done := context.WithTimeout(ctx, lookTime)
	defer done()
	a, err = c.store.Agent(asking, agent)
	if ctx.Err() != nil { // the caller has gone, which says nothing of the store
		return a, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(err, memory.ErrUnreachable) {
		l.missed = time.Now()
	} else {
		l.missed, l.seen = time.Time{}, c.now()
	}
	return a, err
}

// miss remembers that the store could not be followed.
func (l *look) miss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed = time.Now()
}

// missedAt says at the beginning whether the store is away.
func (l *look) missedAt(away bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen = now; away {
		l.missed = time.Now()
	}
}

// reached returns when the store was last reached.
func (l *look) reached() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

// storeAway says that something may be missing because the store is away.
func (l *look) storeAway() (all []memory.Degradation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.missed.IsZero() {
		all = append(all, memory.Degradation{Code: memory.StoreAway, Text: "The databases of the cluster do not answer in time; what was written since they did may be missing."})
	}
	return all
}

// marked is a memory whose answers and status say what may be missing.
type marked struct {
	server.Memory
	degraded func() []memory.Degradation
}

// Search implements server.Memory.
func (m marked) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	a, err := m.Memory.Search(ctx, q)
	a.Degraded = append(a.Degraded, m.degraded()...)
	return a, err
}

// Status implements server.Memory.
func (m marked) Status(ctx context.Context) (kioku.Status, error) {
	st, err := m.Memory.Status(ctx)
	st.Degraded = append(st.Degraded, m.degraded()...)
	return st, err
}

// Units implements memory.UnitLister.
func (m marked) Units(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error) {
	return memory.UnitsOf(ctx, m.Memory, q, words)
}

// lock is a mutex that a caller with a deadline does not wait for in vain.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// take locks. The error is memory.ErrUnreachable if ctx ends before.
func (l lock) take(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", memory.ErrUnreachable, ctx.Err())
	}
}

func (l lock) release() { <-l }

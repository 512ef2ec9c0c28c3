package embed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// minFailures is the least number of failures in a row that opens the circuit.
const minFailures = 5

// breaker keeps callers from a provider that is down (the circuit is open) or that asked for a pause (the
// cool-down). When the circuit has been open for a while, one caller may try; its outcome closes the circuit or
// keeps it open for longer.
type breaker struct {
	now   func() time.Time
	limit int // failures in a row that open the circuit

	mu        sync.Mutex // guards what follows
	failures  int        // in a row
	failedAt  time.Time
	err       error     // of the last failure, nil after a success
	openUntil time.Time // zero while the circuit is closed
	probing   bool      // a caller tries whether the circuit can be closed
	coolUntil time.Time
	coolErr   error // the answer that asked for the cool-down
	outage    *backoff.ExponentialBackOff
	locked    *backoff.ExponentialBackOff // after a terminal fault
}

func newBreaker(now func() time.Time, limit int) *breaker {
	return &breaker{
		now:    now,
		limit:  limit,
		outage: pace(5*time.Second, 2, 10*time.Minute),
		locked: pace(15*time.Minute, 2, 2*time.Hour),
	}
}

// pace returns delays that start near first and grow by factor up to about longest, with jitter.
func pace(first time.Duration, factor float64, longest time.Duration) *backoff.ExponentialBackOff {
	p := backoff.NewExponentialBackOff()
	p.InitialInterval, p.Multiplier, p.MaxInterval = first, factor, longest
	p.RandomizationFactor = 0.2
	return p
}

// enter asks to make a request. probe is true if the circuit is open and this caller is to try it, with one
// request; the error says since what and until when nobody may. A caller let in must leave.
func (b *breaker) enter() (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() {
		return false, nil
	}
	if b.probing || b.now().Before(b.openUntil) {
		return false, fmt.Errorf("not asked before %s: %w", b.openUntil.Format(time.RFC3339), b.err)
	}
	b.probing = true
	return true, nil
}

func (b *breaker) leave(probe bool) {
	if !probe {
		return
	}
	b.mu.Lock()
	b.probing = false
	b.mu.Unlock()
}

func (b *breaker) isOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.openUntil.IsZero()
}

// record takes the outcome of a request that began at started. A refusal of texts is a sign of life.
func (b *breaker) record(started time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil || verdictOf(err) == refused {
		b.close()
		return
	}
	now := b.now()
	b.err = err
	if wait := waitOf(err); wait > 0 && now.Add(wait).After(b.coolUntil) {
		b.coolUntil, b.coolErr = now.Add(wait), err
	}
	switch {
	case !b.openUntil.IsZero() && !b.probing, verdictOf(err) != terminal && started.Before(b.failedAt):
		// Under way when another request failed, this one tells nothing new: many workers are not many outages.
	case verdictOf(err) == terminal:
		b.open(now, b.locked)
	default:
		b.failures++
		b.failedAt = now
		if b.failures >= b.limit {
			b.open(now, b.outage)
		}
	}
}

// close is called with mu held.
func (b *breaker) close() {
	b.failures, b.failedAt, b.err, b.openUntil = 0, time.Time{}, nil, time.Time{}
	b.outage.Reset()
	b.locked.Reset()
}

// open is called with mu held.
func (b *breaker) open(now time.Time, pace *backoff.ExponentialBackOff) {
	until := now.Add(pace.NextBackOff())
	if b.coolUntil.After(until) {
		until = b.coolUntil
	}
	b.openUntil = until
}

// cool waits for the end of the cool-down. It returns an error at once if ctx would end before.
func (b *breaker) cool(ctx context.Context) error {
	var waited time.Time
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.mu.Lock()
		until, cause := b.coolUntil, b.coolErr
		b.mu.Unlock()
		wait := until.Sub(b.now())
		if wait <= 0 || until.Equal(waited) {
			return nil
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return fmt.Errorf("not asked before %s: %w", until.Format(time.RFC3339), cause)
		}
		// Callers that waited together must not come back together.
		sleep(ctx, wait+rand.N(min(wait/4, 2*time.Second)+1))
		waited = until
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (b *breaker) health() Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		return Health{Healthy: true}
	}
	at := b.now()
	for _, t := range []time.Time{b.openUntil, b.coolUntil} {
		if t.After(at) {
			at = t
		}
	}
	return Health{Err: b.err, RetryAt: at}
}

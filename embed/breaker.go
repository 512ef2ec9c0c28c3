package embed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"kioku/internal/modelhttp"
)

// minProbePause is the shortest time between a failure and a probe.
const minProbePause = 2 * time.Second

// minFailures is the minimum number of consecutive failures that open the circuit.
const minFailures = 5

// breaker is a circuit breaker. It keeps callers from a provider that is down (the circuit is open) or that asked for a
// pause (a rate limit). It opens after some failures, or at once if no server listens at the address. When the circuit has been open for a while, at first 2 s, one caller may probe the provider with one
// text. Its success closes the circuit on trial: one failure opens it again, for twice as long as before, until a request
// without a probe has succeeded.
type breaker struct {
	now       func() time.Time
	threshold int // consecutive failures that open the circuit

	mu           sync.Mutex // guards the fields below
	failures     int        // consecutive
	failedAt     time.Time  // of the last failure that counted
	err          error      // of the last failure, nil after a success
	openUntil    time.Time  // zero while the circuit is closed
	probing      bool       // a caller probes the provider
	limitedUntil time.Time
	limitErr     error // the answer that asked for the pause
	outage       modelhttp.Backoff
	terminal     modelhttp.Backoff // for errors that only a person can fix
}

func newBreaker(now func() time.Time, threshold int) *breaker {
	return &breaker{
		now:       now,
		threshold: threshold,
		outage:    modelhttp.Backoff{First: minProbePause, Factor: 2, Longest: 10 * time.Minute},
		terminal:  modelhttp.Backoff{First: minProbePause, Factor: 2, Longest: 2 * time.Hour},
	}
}

// enter asks to make a request. probe is true if the circuit is open and this caller is to try it, with one request. The
// error says why and until when nobody may. A caller that is let in must call leave.
func (b *breaker) enter() (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() {
		return false, nil
	}
	if b.probing || b.now().Before(b.openUntil) {
		return false, notBefore(b.openUntil, b.err)
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

// allowProbe ends the wait for a probe, but for minProbePause after the last failure and for a rate limit.
func (b *breaker) allowProbe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() || b.probing {
		return
	}
	earliest := b.failedAt.Add(minProbePause)
	if b.limitedUntil.After(earliest) {
		earliest = b.limitedUntil
	}
	if earliest.Before(b.openUntil) {
		b.openUntil = earliest
	}
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
	class := modelhttp.ClassOf(err)
	if err == nil || class.Refusal() {
		b.close(err == nil)
		return
	}
	now := b.now()
	b.err = err
	if e, ok := errors.AsType[*modelhttp.Error](err); ok && e.Pause() > 0 && now.Add(e.Pause()).After(b.limitedUntil) {
		b.limitedUntil, b.limitErr = now.Add(e.Pause()), err
	}
	switch {
	case !b.openUntil.IsZero() && !b.probing, !class.Terminal() && started.Before(b.failedAt):
		// This request was under way when another one failed: many workers are not many outages.
	case class.Terminal():
		b.failedAt = now
		b.open(now.Add(b.terminal.Next()))
	default:
		b.failures++
		b.failedAt = now
		if b.failures >= b.threshold || errors.Is(err, syscall.ECONNREFUSED) { // no server is there, so retries are idle
			b.open(now.Add(b.outage.Next()))
		}
	}
}

// close closes the circuit, on trial if it was open: a provider that answers a probe may still fail with more. success is
// false if texts were refused; a provider that refuses all of them must not be asked again and again. The caller holds mu.
func (b *breaker) close(success bool) {
	trial := !b.openUntil.IsZero()
	b.failures, b.failedAt, b.err, b.openUntil = 0, time.Time{}, nil, time.Time{}
	switch {
	case trial:
		b.failures = b.threshold - 1
	case success:
		b.outage.Reset()
		b.terminal.Reset()
	}
}

// open opens the circuit, for as long as the rate limit lasts at least. The caller holds mu.
func (b *breaker) open(until time.Time) {
	b.openUntil = until
	if b.limitedUntil.After(until) {
		b.openUntil = b.limitedUntil
	}
}

// waitRateLimit waits until the server's rate limit ends. It returns an error at once if ctx would end before.
func (b *breaker) waitRateLimit(ctx context.Context) error {
	var waited time.Time
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.mu.Lock()
		until, cause := b.limitedUntil, b.limitErr
		b.mu.Unlock()
		wait := until.Sub(b.now())
		if wait <= 0 || until.Equal(waited) {
			return nil
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return notBefore(until, cause)
		}
		// Callers that waited together must not come back together.
		modelhttp.Sleep(ctx, wait+rand.N(min(wait/4, 2*time.Second)+1))
		waited = until
	}
}

// notBefore is the error of a request that is not made before a time because of an earlier one.
func notBefore(t time.Time, cause error) error {
	return fmt.Errorf("not asked before %s: %w", t.Format(time.RFC3339), cause)
}

func (b *breaker) health() Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		return Health{Healthy: true}
	}
	at := b.now()
	for _, t := range []time.Time{b.openUntil, b.limitedUntil} {
		if t.After(at) {
			at = t
		}
	}
	return Health{Err: b.err, RetryAt: at}
}

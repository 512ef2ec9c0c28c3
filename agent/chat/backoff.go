package chat

import "time"

// minWait and maxWait are the waits after the first failure and at most.
const (
	minWait = 10 * time.Second
	maxWait = 10 * time.Minute
)

// backoff says when to try again what has failed. The zero value has not failed.
type backoff struct {
	// wait is the time between the last failure and the next try, 0 if the last try has succeeded.
	wait time.Duration
	// next is the time of the next try.
	next time.Time
	// reason is the last failure.
	reason string
}

// due reports whether to try now.
func (b *backoff) due(now time.Time) bool { return b.wait == 0 || !now.Before(b.next) }

// fail takes note of a failure, after which the wait is twice as long. It reports whether the failure differs from the one before.
func (b *backoff) fail(now time.Time, err error) bool {
	b.wait = min(max(2*b.wait, minWait), maxWait)
	b.next = now.Add(b.wait)
	changed := err.Error() != b.reason
	b.reason = err.Error()
	return changed
}

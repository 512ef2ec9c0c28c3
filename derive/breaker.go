package derive

import (
	"errors"
	"fmt"
	"time"

	"kioku/internal/modelhttp"
	"kioku/llm"
)

const (
	// firstPause and longestPause bound the pause after calls that failed; it doubles with each failure in a row.
	firstPause, longestPause = 5 * time.Second, time.Hour
	// refusedPause is the pause after a failure that only a person can mend.
	refusedPause = time.Hour
)

// breaker keeps a model from being asked that fails or is too dear. The zero value lets it be asked.
type breaker struct {
	// until is the end of the pause, and problem why there is one, for people.
	until   time.Time
	problem string
	// failures in a row; exhausted reports that the pause is for the budget.
	failures  int
	exhausted bool
}

// allows reports whether the model may be asked.
func (b *breaker) allows(now time.Time) bool { return !now.Before(b.until) }

// reset lets the model be asked again at once.
func (b *breaker) reset() { *b = breaker{} }

// fail begins a pause after a call that failed for a reason that lies not in what was asked. It returns its end.
func (b *breaker) fail(now time.Time, err error) time.Time {
	pause := min(firstPause<<min(b.failures, 20), longestPause)
	b.failures++
	b.exhausted, b.problem = false, err.Error()
	if e, ok := errors.AsType[*llm.Error](err); ok {
		pause = max(pause, e.RetryAfter)
	}
	if needsPerson(err) {
		pause = refusedPause
		b.problem = fmt.Sprintf("%v; mend it and run kioku derive run", err)
	}
	b.until = now.Add(pause)
	return b.until
}

// exhaust begins a pause until there is budget again.
func (b *breaker) exhaust(until time.Time, problem string) {
	b.until, b.problem, b.exhausted = until, problem, true
}

// needsPerson reports whether an error stays until a person does something: the key is wrong, or there is no money left.
func needsPerson(err error) bool {
	if llm.KindOf(err) == llm.KindAuth {
		return true
	}
	e, ok := errors.AsType[*modelhttp.Error](err)
	return ok && e.Class.Terminal()
}

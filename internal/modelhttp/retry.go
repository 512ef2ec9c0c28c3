package modelhttp

import (
	"context"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Backoff returns pauses that start near First and grow by Factor up to about Longest, with a jitter of 20 %. It is not
// safe for concurrent use.
type Backoff struct {
	// First pause; 0 means that there are no pauses.
	First time.Duration
	// Factor by which each pause is longer than the one before.
	Factor float64
	// Longest pause before its jitter.
	Longest time.Duration
	// Patience is how long after the first try Retry may begin another; 0 means no bound.
	Patience time.Duration
	// next is the next pause without its jitter; 0 means First.
	next time.Duration
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	pause := max(b.next, b.First)
	b.next = min(time.Duration(float64(pause)*b.Factor), b.Longest)
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}

// Reset makes First the next pause.
func (b *Backoff) Reset() { b.next = 0 }

// Retry calls attempt up to tries times until it succeeds or reports that another try makes no sense. It waits between two
// calls as long as b says, and at least as long as attempt wants. It returns the last error of attempt, at once if ctx has
// ended or would end within the pause, or if b.Patience would.
func Retry(ctx context.Context, tries int, b Backoff, attempt func() (again bool, wait time.Duration, err error)) error {
	began := time.Now()
	for n := 1; ; n++ {
		again, wait, err := attempt()
		if err == nil || !again || n >= tries {
			return err
		}
		pause := max(b.Next(), wait)
		if end, ok := ctx.Deadline(); ok && time.Until(end) < pause {
			return err
		}
		if b.Patience > 0 && time.Since(began)+pause > b.Patience {
			return err
		}
		if Sleep(ctx, pause) != nil {
			return err
		}
	}
}

// Sleep waits for d, or until ctx ends, whose cause it returns then.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// maxRetryAfter bounds the pause that a server may ask for.
const maxRetryAfter = time.Hour

// retryDelay is how Google asks for a pause, a RetryInfo in the body.
var retryDelay = regexp.MustCompile(`"retryDelay"\s*:\s*"([0-9.]+)s"`)

// retryAfter returns how long a server wants to be left alone, 0 if it does not say: Retry-After in seconds or as a date,
// retry-after-ms, RetryInfo, or else the time when an exhausted rate limit is reset.
func retryAfter(h http.Header, body []byte, now time.Time) time.Duration {
	if d := parseDelay(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	after := h.Get("Retry-After")
	if d := parseDelay(after, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(after); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	if m := retryDelay.FindSubmatch(body); m != nil {
		return parseDelay(string(m[1]), time.Second)
	}
	return resetAfter(h, now)
}

// resets are the headers that say when a rate limit is reset, by those that say what remains of it: of OpenAI, the draft of
// the IETF and what is like it, and Anthropic.
var resets = map[string]string{
	"X-Ratelimit-Remaining-Requests":         "X-Ratelimit-Reset-Requests",
	"X-Ratelimit-Remaining-Tokens":           "X-Ratelimit-Reset-Tokens",
	"X-Ratelimit-Remaining":                  "X-Ratelimit-Reset",
	"Ratelimit-Remaining":                    "Ratelimit-Reset",
	"Anthropic-Ratelimit-Requests-Remaining": "Anthropic-Ratelimit-Requests-Reset",
	"Anthropic-Ratelimit-Tokens-Remaining":   "Anthropic-Ratelimit-Tokens-Reset",
}

// resetAfter returns how long until all rate limits of which nothing remains are reset, 0 if there are none.
func resetAfter(h http.Header, now time.Time) time.Duration {
	var longest time.Duration
	for remaining, reset := range resets {
		if left := h.Get(remaining); left == "" || left == "0" {
			longest = max(longest, parseReset(h.Get(reset), now))
		}
	}
	return min(longest, maxRetryAfter)
}

// parseReset parses "6m0s", seconds, a time in seconds or milliseconds since 1970, or RFC 3339. It returns 0 for anything else
// and for the past.
func parseReset(s string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(s); err == nil {
		return d
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.Sub(now)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return 0
	case n > 1e11:
		return time.UnixMilli(n).Sub(now)
	case n > 1e9:
		return time.Unix(n, 0).Sub(now)
	}
	return time.Duration(n) * time.Second
}

// parseDelay returns number times unit, 0 if number is not a positive number.
func parseDelay(number string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter)))
}

package modelhttp

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

var errTry = errors.New("try again")

func TestBackoffGrowsToItsLongest(t *testing.T) {
	t.Parallel()
	b := Backoff{First: time.Second, Factor: 3, Longest: 10 * time.Second}
	for i, want := range []time.Duration{time.Second, 3 * time.Second, 9 * time.Second, 10 * time.Second, 10 * time.Second} {
		if got := b.Next(); got < want*8/10 || got > want*12/10 {
			t.Errorf("pause %d is %s, want about %s", i, got, want)
		}
	}
	b.Reset()
	if got := b.Next(); got > 2*time.Second {
		t.Errorf("after a reset %s", got)
	}
}

// Hazard G06: pauses pass in virtual time.
func TestRetry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tries    int
		deadline time.Duration // 0 for none
		attempts func(n int) (again bool, wait time.Duration, err error)
		want     int // calls of attempts
		err      error
		min, max time.Duration
	}{
		"success":         {5, 0, func(n int) (bool, time.Duration, error) { return true, 0, nil }, 1, nil, 0, 0},
		"later success":   {5, 0, func(n int) (bool, time.Duration, error) { return true, 0, failUntil(n, 3) }, 3, nil, 2 * time.Second, 4 * time.Second},
		"no other try":    {5, 0, func(n int) (bool, time.Duration, error) { return false, 0, errTry }, 1, errTry, 0, 0},
		"all tries":       {3, 0, func(n int) (bool, time.Duration, error) { return true, 0, errTry }, 3, errTry, 2 * time.Second, 4 * time.Second},
		"wait":            {2, 0, func(n int) (bool, time.Duration, error) { return true, time.Minute, errTry }, 2, errTry, time.Minute, time.Minute},
		"deadline":        {9, time.Second / 2, func(n int) (bool, time.Duration, error) { return true, 0, errTry }, 1, errTry, 0, 0},
		"longer deadline": {2, 5 * time.Second, func(n int) (bool, time.Duration, error) { return true, 0, errTry }, 2, errTry, time.Second / 2, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				n, began := 0, time.Now()
				err := Retry(ctx, c.tries, Backoff{First: time.Second, Factor: 2, Longest: time.Minute}, func() (bool, time.Duration, error) {
					n++
					return c.attempts(n)
				})
				if took := time.Since(began); n != c.want || !errors.Is(err, c.err) || took < c.min || took > c.max {
					t.Errorf("%v after %d tries and %s", err, n, took)
				}
			})
		})
	}
}

func failUntil(n, success int) error {
	if n < success {
		return errTry
	}
	return nil
}

func TestRetryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the caller is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(gone) })
		began := time.Now()
		err := Retry(ctx, 9, Backoff{First: time.Minute, Factor: 1, Longest: time.Minute}, func() (bool, time.Duration, error) { return true, 0, errTry })
		if took := time.Since(began); err != errTry || took != 5*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		if err := Sleep(ctx, time.Hour); err != gone {
			t.Error(err)
		}
	})
}

// Hazard E01: a server says in many ways how long it wants to be left alone.
func TestRetryAfterInAllForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		header map[string]string
		body   string
		want   time.Duration
	}{
		"seconds":            {header: map[string]string{"Retry-After": "7"}, want: 7 * time.Second},
		"part of a second":   {header: map[string]string{"Retry-After": "0.5"}, want: 500 * time.Millisecond},
		"milliseconds":       {header: map[string]string{"Retry-After-Ms": "250", "Retry-After": "1"}, want: 250 * time.Millisecond},
		"date":               {header: map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"}, want: 30 * time.Second},
		"a date of the past": {header: map[string]string{"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}},
		"days":               {header: map[string]string{"Retry-After": "864000"}, want: time.Hour},
		"RetryInfo":          {body: `{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}`, want: 34 * time.Second},
		"reset of requests":  {header: map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "1m2s"}, want: 62 * time.Second},
		"reset of both": {header: map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "1s",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "120ms"}, want: time.Second},
		"reset of what remains": {header: map[string]string{"X-Ratelimit-Remaining-Requests": "59", "X-Ratelimit-Reset-Requests": "1m"}},
		"reset in seconds":      {header: map[string]string{"Ratelimit-Remaining": "0", "Ratelimit-Reset": "9"}, want: 9 * time.Second},
		"reset at a time":       {header: map[string]string{"X-Ratelimit-Reset": "1772366405"}, want: 5 * time.Second},
		"reset at a time in ms": {header: map[string]string{"X-Ratelimit-Reset": "1772366405500"}, want: 5500 * time.Millisecond},
		"reset in RFC 3339":     {header: map[string]string{"Anthropic-Ratelimit-Tokens-Reset": "2026-03-01T12:01:00Z"}, want: time.Minute},
		"none":                  {},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range c.header {
				h.Set(k, v)
			}
			if got := retryAfter(h, []byte(c.body), now); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func FuzzRetryAfterIsBounded(f *testing.F) {
	for _, s := range []string{"5", "-1", "1e300", "NaN", "0.5", "Wed, 21 Oct 2037 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-9223372036854775808", "6m0s", "99999999999999"} {
		f.Add(s, `{"retryDelay":"`+s+`s"}`)
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		h := http.Header{"Retry-After": {header}, "X-Ratelimit-Reset": {header}}
		if d := retryAfter(h, []byte(body), time.Unix(1_800_000_000, 0)); d < 0 || d > maxRetryAfter {
			t.Errorf("a pause of %s", d)
		}
	})
}

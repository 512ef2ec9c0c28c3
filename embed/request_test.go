package embed_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
)

// Hazard E01: the client keeps a pause that the server asks for in any form.
func TestRateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func() reply{
		"seconds":   func() reply { return reply{header: map[string]string{"Retry-After": "20"}} },
		"date":      func() reply { return reply{header: map[string]string{"Retry-After": inGMT(20 * time.Second)}} },
		"ms":        func() reply { return reply{header: map[string]string{"Retry-After-Ms": "20000"}} },
		"RetryInfo": func() reply { return reply{body: `[{"error":{"details":[{"retryDelay":"20s"}]}}]`} },
	} {
		for _, status := range []int{429, 503} {
			t.Run(fmt.Sprint(name, status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, c := newFake(t, embed.Config{}, func(r request) reply {
						if r.N == 1 {
							a := ask()
							a.status = status
							return a
						}
						return good(r)
					})
					got, err := c.Documents(t.Context(), []string{"tea"})
					if err != nil {
						t.Fatal(err)
					}
					wantVectors(t, []string{"tea"}, got)
					seen := f.seen()
					if gap := seen[1].At.Sub(seen[0].At); gap < 19*time.Second || gap > 26*time.Second {
						t.Errorf("asked again after %s", gap)
					}
				})
			})
		}
	}
}

func inGMT(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }

// Hazard E01: all callers share one pause and do not come back at the same instant.
func TestRateLimitHoldsBackAllCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, func(r request) reply {
			if r.N == 1 {
				return reply{status: 429, header: map[string]string{"Retry-After": "30"}}
			}
			return good(r)
		})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if _, err := c.Documents(t.Context(), []string{fmt.Sprint("note ", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		seen := f.seen()
		if len(seen) != 9 {
			t.Errorf("%d requests for 8 texts and one refusal", len(seen))
		}
		instants := map[time.Time]bool{}
		for _, r := range seen[1:] {
			instants[r.At] = true
			if gap := r.At.Sub(seen[0].At); gap < 30*time.Second {
				t.Errorf("a request %s after the server asked for 30 s", gap)
			}
		}
		if len(instants) < 4 {
			t.Errorf("8 callers came back at %d instants", len(instants))
		}
	})
}

// Hazard E01: indexing waits for a rate limit, a search does not.
func TestRateLimitOfDocumentsAndOfQueries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{}, func(r request) reply {
			if r.N <= 3 {
				return reply{status: 429}
			}
			return good(r)
		})
		start := time.Now()
		if _, err := c.Documents(t.Context(), []string{"tea"}); err != nil {
			t.Errorf("documents gave up after %s: %v", time.Since(start), err)
		}
		if d := time.Since(start); d < 10*time.Second {
			t.Errorf("four tries within %s", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, func(request) reply {
			return reply{status: 429, header: map[string]string{"Retry-After": "20"}}
		})
		start := time.Now()
		for range 5 {
			if _, err := c.Query(t.Context(), "tea"); !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "429") {
				t.Errorf("got %v", err)
			}
		}
		if d := time.Since(start); d > 2*time.Second || len(f.seen()) != 1 {
			t.Errorf("five searches took %s and %d requests though the server asked for 20 s", d, len(f.seen()))
		}
		h := c.Health()
		if h.Healthy || h.RetryAt.Sub(start) != 20*time.Second {
			t.Errorf("health %+v", h)
		}
	})
}

func TestRetryPausesGrow(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]reply{
		"408":   {status: 408},
		"500":   {status: 500, body: "boom"},
		"502":   {status: 502, body: "<html>bad gateway</html>"},
		"reset": {err: errors.New("connection reset by peer")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, c := newFake(t, embed.Config{MaxTries: 4}, func(r request) reply {
					if r.N <= 3 {
						return trouble
					}
					return good(r)
				})
				if _, err := c.Documents(t.Context(), []string{"tea"}); err != nil {
					t.Fatal(err)
				}
				seen := f.seen()
				first, last := seen[1].At.Sub(seen[0].At), seen[3].At.Sub(seen[2].At)
				if last < 4*first {
					t.Errorf("pauses of %s and then %s", first, last)
				}
				if !c.Health().Healthy {
					t.Errorf("health %+v", c.Health())
				}
			})
		})
	}
}

func TestRetryTriesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, func(request) reply { return reply{status: 500, body: "boom"} })
		_, err := c.Documents(t.Context(), []string{"tea"})
		if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "openai: 500") || !strings.Contains(err.Error(), "boom") {
			t.Errorf("got %v", err)
		}
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d tries", n)
		}
	})
}

// Hazard E08: a server that never answers costs one deadline a try, and a search its own deadline.
func TestTimeoutOfAServerThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{TryTimeout: 10 * time.Second, MaxTries: 2}, func(request) reply {
			return reply{delay: time.Hour}
		})
		start := time.Now()
		_, err := c.Query(t.Context(), "tea")
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("the search took %s", d)
		}
		if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "no answer in the time") {
			t.Errorf("got %v", err)
		}
		start = time.Now()
		_, err = c.Documents(t.Context(), []string{"tea"})
		if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "check that the server answers") {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d < 20*time.Second || d > 30*time.Second || len(f.seen()) != 3 {
			t.Errorf("two tries of 10 s took %s and %d requests", d, len(f.seen())-1)
		}
	})
}

// Hazard E08: a request ends although the server asks for pauses again and again.
func TestTimeoutOfARequestInAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{MaxTries: 1000}, func(request) reply {
			return reply{status: 503, header: map[string]string{"Retry-After": "25"}}
		})
		start := time.Now()
		_, err := c.Documents(t.Context(), []string{"tea"})
		if d := time.Since(start); !errors.Is(err, embed.ErrUnavailable) || d < time.Minute || d > 5*time.Minute {
			t.Errorf("ended after %s with %v", d, err)
		}
	})
}

func TestTimeoutOfTheCallerIsNoOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := contextFor(t, time.Second)
		defer cancel()
		_, c := newFake(t, embed.Config{}, func(request) reply { return reply{delay: time.Hour} })
		_, err := c.Query(ctx, "tea")
		if !errors.Is(err, ctx.Err()) || errors.Is(err, embed.ErrUnavailable) || !c.Health().Healthy {
			t.Errorf("got %v, health %+v", err, c.Health())
		}
	})
}

// Hazard E08: a connection that breaks within the answer is retried.
func TestRetryAfterABrokenBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: good}
		c, err := embed.New(embed.Config{Provider: "openai", APIKey: testKey, Transport: cutting{f}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Documents(t.Context(), []string{"tea"})
		if err != nil {
			t.Fatal(err)
		}
		wantVectors(t, []string{"tea"}, got)
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// cutting breaks off the first answer.
type cutting struct{ *fake }

func (c cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.fake.RoundTrip(r)
	if err == nil && len(c.seen()) == 1 {
		resp.Body = io.NopCloser(io.MultiReader(io.LimitReader(resp.Body, 20), brokenReader{}))
	}
	return resp, err
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

package embed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
)

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

// Hazard E02: an error that only a person can fix is not retried, and says where to look.
func TestCircuitOpensAtATerminalError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply reply
		want  string
	}{
		"401":             {reply{status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-test-****cdef"}}`}, "openai: 401: check OPENAI_API_KEY or remote.apiKey"},
		"403":             {reply{status: 403, body: "key reported as leaked"}, "OPENAI_API_KEY"},
		"quota":           {reply{status: 429, body: `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`}, "billing"},
		"402":             {reply{status: 402}, "billing"},
		"bad key in 400":  {reply{status: 400, body: `{"error":{"message":"API key not valid. Please pass a valid API key."}}`}, "OPENAI_API_KEY"},
		"no such model":   {reply{status: 404, body: `{"error":{"message":"The model does not exist"}}`}, "model"},
		"not implemented": {reply{status: 501, body: "start the server with --embeddings"}, "--embeddings"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, c := newFake(t, embed.Config{}, func(r request) reply {
					if r.N == 1 {
						return test.reply
					}
					return good(r)
				})
				for i := range 100 {
					_, err := c.Query(t.Context(), fmt.Sprint("question ", i))
					if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), test.want) {
						t.Fatalf("got %v, want %q", err, test.want)
					}
					if strings.Contains(err.Error(), "sk-") || strings.Contains(err.Error(), "cdef") {
						t.Fatalf("the error shows the key: %v", err)
					}
				}
				if n := len(f.seen()); n != 1 {
					t.Errorf("%d requests in a row", n)
				}
				h := c.Health()
				if wait := time.Until(h.RetryAt); h.Healthy || h.Err == nil || wait < time.Second || wait > 3*time.Second {
					t.Errorf("healthy %v (%v), tried again in %s", h.Healthy, h.Err, wait)
				}
				time.Sleep(time.Until(h.RetryAt))
				if _, err := c.Query(t.Context(), "mended"); err != nil || !c.Health().Healthy {
					t.Errorf("after it was mended: %v, %+v", err, c.Health())
				}
			})
		})
	}
}

// Hazard E02: the client waits for a rate limit a minute, which Gemini words like an exhausted quota.
func TestCircuitStaysClosedAtARateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{}, func(r request) reply {
			if r.N == 1 {
				return reply{status: 429, body: `[{"error":{"message":"You exceeded your current quota, please check your plan","details":[{"retryDelay":"9s"}]}}]`}
			}
			return good(r)
		})
		if _, err := c.Documents(t.Context(), []string{"tea"}); err != nil {
			t.Error(err)
		}
	})
}

func TestCircuitCountsConcurrentFailuresOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{MaxTries: 2, Concurrency: 10}, func(r request) reply {
			if r.N <= 10 {
				return reply{status: 500, delay: time.Duration(r.N) * time.Millisecond}
			}
			return good(r)
		})
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				if _, err := c.Documents(t.Context(), []string{fmt.Sprint("note ", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestCircuitOpensAfterFailuresAndOneCallerProbes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := true
		f, c := newFake(t, embed.Config{}, func(r request) reply {
			if down {
				return reply{status: 500}
			}
			a := good(r)
			a.delay = time.Second
			return a
		})
		for range 3 {
			if _, err := c.Documents(t.Context(), []string{"tea"}); !errors.Is(err, embed.ErrUnavailable) {
				t.Fatal(err)
			}
		}
		if n := len(f.seen()); n != 5 {
			t.Errorf("the circuit opened after %d failures", n)
		}
		time.Sleep(time.Until(c.Health().RetryAt))
		down = false
		var wg sync.WaitGroup
		var mu sync.Mutex
		refused := 0
		for i := range 10 {
			wg.Go(func() {
				if _, err := c.Documents(t.Context(), []string{fmt.Sprint("note ", i)}); err != nil {
					mu.Lock()
					refused++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if n := len(f.seen()); n != 6 || refused != 9 {
			t.Errorf("%d requests tried the circuit, %d callers were refused", n-5, refused)
		}
		if _, err := c.Documents(t.Context(), []string{"tea"}); err != nil || !c.Health().Healthy {
			t.Errorf("the circuit did not close: %v", err)
		}
	})
}

// Hazard E02: a caller does not retry after another caller has learned that the key is refused.
func TestCircuitEndsTheTriesOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, func(r request) reply {
			if r.N == 1 {
				return reply{status: 500}
			}
			return reply{status: 401}
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Documents(t.Context(), []string{"one"}); !errors.Is(err, embed.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		if _, err := c.Query(t.Context(), "two"); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		wg.Wait()
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestCircuitProbeThatIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := newFake(t, embed.Config{}, func(r request) reply {
			switch r.N {
			case 1:
				return reply{status: 401}
			case 2:
				return reply{delay: time.Hour}
			}
			return good(r)
		})
		if _, err := c.Query(t.Context(), "one"); err == nil {
			t.Fatal("no error")
		}
		time.Sleep(time.Until(c.Health().RetryAt))
		ctx, cancel := contextFor(t, time.Second)
		defer cancel()
		if _, err := c.Query(ctx, "two"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if _, err := c.Query(t.Context(), "three"); err != nil {
			t.Error(err)
		}
	})
}

// One useless answer costs seconds, not minutes: the provider is probed with one text from 2 s on, and everything goes on as
// soon as the probe succeeds.
func TestCircuitProbesWithOneTextFromTwoSecondsOn(t *testing.T) {
	t.Parallel()
	for name, useless := range map[string]func(request) reply{
		"zeros only": func(r request) reply {
			return reply{body: answerTo(r.Input, func(string) []float64 { return make([]float64, 3) })}
		},
		"a wrong key":  func(request) reply { return reply{status: 401} },
		"refuses each": func(request) reply { return reply{status: 400, body: "no"} },
		"no service":   func(request) reply { return reply{status: 404} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bad := false
				f, c := newFake(t, embed.Config{}, func(r request) reply {
					if bad {
						return useless(r)
					}
					return good(r)
				})
				if _, err := c.Documents(t.Context(), []string{"first"}); err != nil {
					t.Fatal(err)
				}
				bad = true
				if _, err := c.Documents(t.Context(), numbered(64)); !errors.Is(err, embed.ErrUnavailable) {
					t.Fatal(err)
				}
				bad = false
				if wait := time.Until(c.Health().RetryAt); wait > 3*time.Second {
					t.Fatalf("probed in %s", wait)
				}
				time.Sleep(time.Until(c.Health().RetryAt))
				before := len(f.seen())
				texts := numbered(64)
				got, err := c.Documents(t.Context(), texts)
				if err != nil {
					t.Fatal(err)
				}
				wantVectors(t, texts, got)
				if n := sizes(f.seen())[before:]; len(n) != 2 || n[0] != 1 || n[1] != 63 {
					t.Errorf("requests of %v texts", n)
				}
			})
		})
	}
}

// A person who has mended a setting need not wait, and cannot cause more than a request in two seconds.
func TestCircuitLetsAPersonProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := true
		f, c := newFake(t, embed.Config{}, func(r request) reply {
			if down {
				return reply{status: 401}
			}
			return good(r)
		})
		for time.Until(c.Health().RetryAt) < time.Hour {
			time.Sleep(time.Until(c.Health().RetryAt))
			c.Documents(t.Context(), []string{"tea"})
		}
		before := len(f.seen())
		for range 100 {
			c.AllowProbe()
			c.Documents(t.Context(), []string{"tea"})
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(f.seen()) - before; n < 3 || n > 6 {
			t.Errorf("%d requests in 10 s of asking", n)
		}
		down = false
		time.Sleep(2 * time.Second)
		c.AllowProbe()
		if _, err := c.Documents(t.Context(), []string{"tea"}); err != nil {
			t.Error(err)
		}
		c.AllowProbe()
		if h := c.Health(); !h.Healthy {
			t.Errorf("%+v", h)
		}
	})
}

// The pause that a server asks for also holds for a person.
func TestCircuitKeepsTheServersPauseForAPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{MaxTries: 1}, func(request) reply {
			return reply{status: 503, header: map[string]string{"Retry-After": "600"}}
		})
		for range 5 {
			c.Documents(t.Context(), []string{"tea"})
			time.Sleep(601 * time.Second)
		}
		c.Documents(t.Context(), []string{"tea"})
		n := len(f.seen())
		c.AllowProbe()
		c.Query(t.Context(), "tea")
		if len(f.seen()) != n {
			t.Error("the provider was asked within its pause")
		}
	})
}

package vectors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
	"kioku/vectors"
)

// service is an embeddings service behind an http.RoundTripper.
type service struct {
	// fails returns the status of the answer to texts, 0 for vectors; it is called with mu held.
	fails func(texts []string) int

	mu       sync.Mutex
	requests int
	bytes    int // of all texts that were sent
}

// RoundTrip implements http.RoundTripper.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	var items []map[string]any
	for i, text := range req.Input {
		s.bytes += len(text)
		items = append(items, map[string]any{"index": i, "embedding": []float64{1, float64(len(text))}})
	}
	status, body := http.StatusOK, []byte("{}")
	if code := s.fails(req.Input); code < 0 {
		return nil, errors.New("connection refused")
	} else if code > 0 {
		status = code
	} else {
		body, _ = json.Marshal(map[string]any{"data": items})
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// spent returns how many requests and bytes of text there were, and counts anew.
func (s *service) spent() (requests, sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, sent = s.requests, s.bytes
	s.requests, s.bytes = 0, 0
	return requests, sent
}

// set changes how the service fails.
func (s *service) set(fails func([]string) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

// watchFill runs the loop of an index of n texts of some 100 bytes against a service.
func watchFill(t *testing.T, n int, s *service, check func(index *memIndex, c *embed.Client, f *vectors.Fill)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cache := openCache(t, dir, 1000)
		defer cache.Close()
		texts := many(n)
		for i := range texts {
			texts[i] += strings.Repeat(" and more", 10)
		}
		index := newMemIndex(cache, memFile{"a", 1, texts})
		c, err := embed.New(embed.Config{Provider: "openai", Model: "m", BaseURL: "http://provider.invalid", Transport: s})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f, done := vectors.NewFill(cache, index, c, nil, nil), make(chan struct{})
		go func() {
			defer close(done)
			f.Watch(ctx)
		}()
		check(index, c, f)
		cancel()
		<-done
	})
}

func always(status int) func([]string) int { return func([]string) int { return status } }

// Hazard E03: a watch whose provider fails for a day, while notes are saved every minute, sends a bounded number of requests and
// of texts.
func TestFillCostsLittleWhileTheProviderFailsForADay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails    func([]string) int
		requests int
		texts    int // of 100 bytes
	}{
		"down":        {always(500), 400, 1500},
		"unreachable": {always(-1), 400, 1500},
		"a wrong key": {always(401), 40, 200},
		"refuses all": {always(400), 400, 1500},
		"too long":    {always(413), 400, 1500},
		"fails for more than one": {func(texts []string) int {
			if len(texts) > 1 {
				return 500
			}
			return 0
		}, 3000, 80_000},
		"refuses half": {func(texts []string) int {
			for _, text := range texts {
				if strings.Contains(text, "text 1") || strings.Contains(text, "text 2") {
					return 400
				}
			}
			return 0
		}, 4000, 10_000}, // a refused text is sent again after 1, 2, 4, ... hours
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{fails: c.fails}
			watchFill(t, 256, s, func(_ *memIndex, _ *embed.Client, b *vectors.Fill) {
				for range 24 * 60 {
					pass(time.Minute)
					b.Wake()
				}
			})
			if requests, sent := s.spent(); requests > c.requests || sent/100 > c.texts {
				t.Errorf("%d requests with %d texts, more than %d and %d", requests, sent/100, c.requests, c.texts)
			}
		})
	}
}

// One useless answer, or a minute of them, is made good within the same time again.
func TestFillGoesOnSoonAfterAUselessAnswer(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"a wrong key": 401, "refuses all": 400, "no service": 404, "down": 500} {
		for _, outage := range []time.Duration{time.Millisecond, time.Minute} {
			t.Run(name+outage.String(), func(t *testing.T) {
				t.Parallel()
				s := &service{fails: always(status)}
				watchFill(t, 256, s, func(index *memIndex, c *embed.Client, _ *vectors.Fill) {
					pass(outage)
					s.set(always(0))
					pass(2*outage + 30*time.Second)
					if n := index.lacking(c.Space()); n > 0 {
						t.Errorf("%d texts without a vector", n)
					}
				})
			})
		}
	}
}

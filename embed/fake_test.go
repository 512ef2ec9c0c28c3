package embed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/embed"
)

const testKey = "sk-test-0123456789abcdef"

// fake is an OpenAI-compatible service behind an http.RoundTripper, so that a test can script its answers, also in
// virtual time.
type fake struct {
	answer func(request) reply

	mu       sync.Mutex
	requests []request
}

type request struct {
	N          int // 1 for the first
	At         time.Time
	URL        string
	Header     http.Header
	Model      string
	Input      []string
	Dimensions int
	Encoding   string `json:"encoding_format"`
}

type reply struct {
	status int // 0 means 200
	header map[string]string
	body   string
	delay  time.Duration
	err    error
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	var req request
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, err
	}
	req.At, req.URL, req.Header = time.Now(), r.URL.String(), r.Header
	f.mu.Lock()
	req.N = len(f.requests) + 1
	f.requests = append(f.requests, req)
	f.mu.Unlock()

	a := f.answer(req)
	if a.delay > 0 {
		select {
		case <-time.After(a.delay):
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}
	if a.status != 0 {
		resp.StatusCode = a.status
	}
	for k, v := range a.header {
		resp.Header.Set(k, v)
	}
	return resp, nil
}

func (f *fake) seen() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request(nil), f.requests...)
}

// newFake returns a service and a client for it.
func newFake(t *testing.T, cfg embed.Config, answer func(request) reply) (*fake, *embed.Client) {
	t.Helper()
	f := &fake{answer: answer}
	cfg.Provider, cfg.APIKey, cfg.Transport = "openai", testKey, f
	c, err := embed.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f, c
}

// good answers with a vector for each text.
func good(r request) reply { return reply{body: answerTo(r.Input, vectorOf)} }

// vectorOf returns three numbers that differ from text to text.
func vectorOf(text string) []float64 {
	sum := 1.0
	for i, b := range []byte(text) {
		sum += float64(i+1) * float64(b)
	}
	return []float64{math.Mod(sum, 997), 100, float64(len(text))}
}

func answerTo(texts []string, vector func(string) []float64) string {
	type item struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var items []item
	for i, t := range texts {
		items = append(items, item{i, vector(t)})
	}
	body, err := json.Marshal(map[string]any{"object": "list", "data": items})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// unitOf returns vectorOf scaled to unit length.
func unitOf(text string) []float32 {
	v := vectorOf(text)
	n := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	return []float32{float32(v[0] / n), float32(v[1] / n), float32(v[2] / n)}
}

func near(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-6 {
			return false
		}
	}
	return true
}

// numbered returns n different texts.
func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("note number %d", i)
	}
	return texts
}

// wantVectors fails the test unless got holds the right vector for every text.
func wantVectors(t *testing.T, texts []string, got []embed.Embedding) {
	t.Helper()
	if len(got) != len(texts) {
		t.Fatalf("got %d embeddings for %d texts", len(got), len(texts))
	}
	for i, text := range texts {
		if got[i].Err != nil || !near(got[i].Vector, unitOf(text)) {
			t.Errorf("text %d: got %v, %v; want %v", i, got[i].Vector, got[i].Err, unitOf(text))
		}
	}
}

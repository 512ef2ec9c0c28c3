package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// countingProvider is an OpenAI-compatible server that counts the texts it is sent.
func countingProvider(t *testing.T) (url string, texts func() int) {
	var mu sync.Mutex
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type item struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		}
		var resp struct {
			Data []item `json:"data"`
		}
		for i, text := range req.Input {
			resp.Data = append(resp.Data, item{i, []float64{1, float64(len(text) % 7), 0.5}})
		}
		mu.Lock()
		n += len(req.Input)
		mu.Unlock()
		_ = json.NewEncoder(w).Encode(resp) // a client that is gone needs no answer
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() int {
		mu.Lock()
		defer mu.Unlock()
		defer func() { n = 0 }()
		return n
	}
}

func TestSearchWithOtherSettingsDoesNotRebuild(t *testing.T) {
	t.Parallel()
	url, texts := countingProvider(t)
	other := []string{"--provider", "openai", "--model", "m", "--base-url", url}
	for _, tc := range []struct {
		name         string
		built, asked []string
		degraded     string
		told         string
		texts        int
	}{
		{"chunking", nil, []string{"--set", "chunking.tokens=100"}, "", "chunking changed", 0},
		{"another model", []string{"--provider", "hash"}, other, "hybrid with hash", "embedding model changed", 0}, // the vectors that are there answer
		{"a first model", nil, other, "vectors_missing", "3 passages have no vector yet", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSandbox(t, notes())
			before := s.object(append([]string{"index", "--json"}, tc.built...)...)
			texts()
			got := s.run(append([]string{"search", "boiler pressure"}, tc.asked...)...)
			got.wants(t, exitOK, tc.told, "run kioku index", tc.degraded)
			if !strings.Contains(got.stdout, "memory/2026-01-10.md") {
				t.Errorf("it answers %q", got.stdout)
			}
			if n := texts(); n != tc.texts {
				t.Errorf("%d texts were embedded for a question, want %d", n, tc.texts)
			}
			for _, args := range [][]string{{"explain", "boiler"}, {"status"}, {"status", "--deep"}} {
				if got := s.run(append(args, tc.asked...)...); got.code != exitOK || !strings.Contains(got.stdout+got.stderr, tc.told) {
					t.Errorf("%q: %+v", args, got)
				}
			}
			after := s.object(append([]string{"index", "--json"}, tc.built...)...)
			if after["generation"] != before["generation"] {
				t.Errorf("a question changed the index from generation %v to %v", before["generation"], after["generation"])
			}
			s.run(append([]string{"index"}, tc.asked...)...).wants(t, exitOK)
			if again := s.run(append([]string{"search", "boiler pressure"}, tc.asked...)...); strings.Contains(again.stderr, tc.told) {
				t.Errorf("after kioku index: %s", again.stderr)
			}
		})
	}
}

func TestSearchFillsAnEmptyIndex(t *testing.T) {
	t.Parallel()
	url, texts := countingProvider(t)
	s := newSandbox(t, notes())
	got := s.run("search", "boiler pressure", "--provider", "openai", "--model", "m", "--base-url", url)
	got.wants(t, exitOK)
	if !strings.Contains(got.stdout, "memory/2026-01-10.md") || strings.Contains(got.stderr, "kioku index") || texts() < 4 {
		t.Errorf("it answers %q and says %q", got.stdout, got.stderr)
	}
}

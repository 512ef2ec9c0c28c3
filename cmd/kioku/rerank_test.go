package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// judge starts a server with the format of re-rankers that likes the word "valve".
func judge(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		var req struct{ Documents []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		type result struct {
			Index int     `json:"index"`
			Score float64 `json:"relevance_score"`
		}
		var results []result
		for i, d := range req.Documents {
			results = append(results, result{i, float64(strings.Count(d, "valve"))})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
	}))
	t.Cleanup(s.Close)
	return s
}

// A re-ranker of the settings orders the answers of commands and of a daemon, a slow one leaves the order as it was and degraded
// says rerank_partial, and explain shows its scores.
func TestSearchWithAReranker(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"memory/a.md": "Boiler pressure, boiler pressure.\n", "memory/b.md": "The boiler pressure was low because of a valve.\n"})
	first := func(args ...string) string {
		t.Helper()
		hits := s.object(append([]string{"search", "--json", "boiler pressure"}, args...)...)["results"].([]any)
		return fmt.Sprint(hits[0].(map[string]any)["path"], " of ", len(hits))
	}
	if got := first(); got != "memory/a.md of 2" {
		t.Fatalf("without a re-ranker: %s", got)
	}
	url := judge(t).URL
	use := []string{"--set", "rerank.baseUrl=" + url}
	if got := first(use...); got != "memory/b.md of 2" {
		t.Errorf("with a re-ranker: %s", got)
	}
	if out := s.must(append([]string{"explain", "boiler pressure"}, use...)...); !strings.Contains(out, "re-ranked: score 1.000, rank 1 of the passages that were scored again") {
		t.Errorf("explain: %s", out)
	}
	slow := []string{"--set", "rerank.baseUrl=" + url + "/slow"}
	if got := first(slow...); got != "memory/a.md of 2" {
		t.Errorf("with a slow re-ranker: %s", got)
	}
	if got := s.object(append([]string{"search", "--json", "boiler pressure"}, slow...)...)["degraded"].([]any)[0].(map[string]any); got["code"] != "rerank_partial" || !strings.Contains(fmt.Sprint(got["text"]), "reached 0 of 2 passages in 300ms") {
		t.Errorf("degraded: %v", got)
	}
	s.serve(use...)
	if got := first(); got != "memory/b.md of 2" {
		t.Errorf("with a daemon: %s", got)
	}
}

// A cross-encoder is used after model add --as reranker, and only then.
func TestSearchWithAnAddedReranker(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"memory/a.md": "The garden and the money.\n", "memory/b.md": "A laptop for the garden.\n"})
	dir := t.TempDir()
	copyModel(t, dir, "cross")
	if out := s.must("explain", "the garden"); strings.Contains(out, "re-ranked") {
		t.Errorf("without a model: %s", out)
	}
	s.must("model", "add", dir, "--name", "judge", "--as", "reranker")
	if out := s.must("explain", "the garden"); strings.Count(out, "re-ranked: score ") != 2 || strings.Contains(out, "rerank_partial") {
		t.Errorf("with a model: %s", out)
	}
	if out := s.must("explain", "the garden", "--set", "rerank.provider=none"); strings.Contains(out, "re-ranked") {
		t.Errorf("turned off: %s", out)
	}
}

// kioku status and kioku doctor name the re-ranker.
func TestStatusAndDoctorNameTheReranker(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"memory/a.md": "Boiler pressure.\n"})
	use := []string{"--set", "rerank.baseUrl=" + judge(t).URL, "--set", "rerank.model=judge"}
	if out := s.must(append([]string{"status"}, use...)...); !strings.Contains(out, "re-ranker") || !strings.Contains(out, "http judge") {
		t.Errorf("status: %s", out)
	}
	if got := s.object(append([]string{"status", "--json"}, use...)...)["reranker"]; got != "http judge" {
		t.Errorf("status --json: %v", got)
	}
	if out := s.must(append([]string{"doctor"}, use...)...); !strings.Contains(out, "http judge scores a stranger as high as an answer") {
		t.Errorf("doctor: %s", out)
	}
}

package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/embed/local"
)

// rerankRequest is what a server for re-ranking reads.
type rerankRequest struct {
	Model     string
	Query     string
	Documents []string
	TopN      int `json:"top_n"`
}

// rerankServer starts a server that answers with a function, and returns a re-ranker of it.
func rerankServer(t *testing.T, cfg embed.RerankConfig, answer http.HandlerFunc) *embed.Reranker {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	cfg.Provider, cfg.BaseURL = "http", s.URL+cfg.BaseURL
	r, err := embed.NewReranker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hang waits until the client is gone, which the server notices only after the whole request.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// Over HTTP in the rerank format that vLLM, Jina, llama.cpp and Cohere-compatible servers share: POST /v1/rerank with model, query,
// documents and top_n; results come in any order.
func TestRerankOverHTTP(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/v1", "/v1/rerank", "/v2", "/api/v1"} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			var got rerankRequest
			var path, key string
			r := rerankServer(t, embed.RerankConfig{BaseURL: base, Model: "bge-reranker-v2-m3", APIKey: testKey}, func(w http.ResponseWriter, r *http.Request) {
				path, key = r.Method+" "+r.URL.Path, r.Header.Get("Authorization")
				if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
					t.Error(err)
				}
				// As Jina and vLLM answer, with what nobody needs.
				fmt.Fprint(w, `{"id":"r-1","model":"m","usage":{"total_tokens":57},"results":[
					{"index":2,"relevance_score":0.87,"document":{"text":"c"}},{"index":0,"relevance_score":-3.5},{"index":1,"relevance_score":-4e0}]}`)
			})
			scores, err := r.Score(t.Context(), "how do I cancel?", []string{"a", "b", "c"})
			if diff := cmp.Diff([]float64{-3.5, -4, 0.87}, scores); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			want := rerankRequest{"bge-reranker-v2-m3", "how do I cancel?", []string{"a", "b", "c"}, 3}
			if diff := cmp.Diff(want, got); diff != "" || key != "Bearer "+testKey {
				t.Errorf("sent with %q: %s", key, diff)
			}
			if want := "POST " + map[string]string{"": "/v1", "/v1/rerank": "/v1"}[base]; path != want+"/rerank" && path != "POST "+base+"/rerank" {
				t.Errorf("asked %s", path)
			}
		})
	}
}

// Answers are validated strictly: each passage has exactly one finite score.
func TestRerankRefusesAnswersThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`<html>`:       "a web page",
		`{}`:           "0 results for 2 passages",
		`{"error":""}`: "0 results for 2 passages",
		`{"results":[{"index":0,"relevance_score":1}]}`:                                                              "1 results for 2 passages",
		`{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":2}]}`:                              "two results have the index 0",
		`{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":2}]}`:                              "index 2, of 2",
		`{"results":[{"index":0,"relevance_score":1},{"index":-1,"relevance_score":2}]}`:                             "index -1",
		`{"results":[{"index":0,"relevance_score":1},{"relevance_score":2}]}`:                                        "no index",
		`{"results":[{"index":0,"relevance_score":1},{"index":1}]}`:                                                  "no relevance_score",
		`{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1e999}]}`:                          "not JSON",
		`{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":"2"}]}`:                            "not JSON",
		`{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1,"document":"secret note"}`:       "not JSON",
		`{"results":[{"index":0,"relevance_score":1},{"index":1.5,"relevance_score":1}]}`:                            "not JSON",
		`{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1}]}` + strings.Repeat(" ", 1<<20): "larger than",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			r := rerankServer(t, embed.RerankConfig{}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
			scores, err := r.Score(t.Context(), "q", []string{"secret note", "b"})
			if err == nil || !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, %v", scores, err)
			}
		})
	}
}

// A key goes to no other host, a wrong one is named by its setting, and the passages are not in the error.
func TestRerankKeepsKeyAndPassagesToItself(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host was asked with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	r := rerankServer(t, embed.RerankConfig{APIKey: testKey}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if _, err := r.Score(t.Context(), "q", []string{"a"}); err == nil {
		t.Error("a redirect is followed")
	}
	r = rerankServer(t, embed.RerankConfig{APIKey: testKey}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message":"invalid key %s for the document private diary"}`, testKey)
	})
	_, err := r.Score(t.Context(), "q", []string{"the private diary of Ana"})
	if err == nil || !strings.Contains(err.Error(), "rerank.apiKey") || strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "private diary") {
		t.Errorf("%v", err)
	}
	if _, err := r.Score(t.Context(), "q", []string{"a"}); err == nil || !strings.Contains(err.Error(), "not asked before") || r.Health().Healthy {
		t.Errorf("asked again with a wrong key: %v", err)
	}
}

// A server that is down or too slow is left alone for a while, and asked again later.
func TestRerankLeavesAServerAloneThatIsDown(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var asked, status atomic.Int32
	status.Store(http.StatusBadGateway)
	r := rerankServer(t, embed.RerankConfig{Now: func() time.Time { return now }}, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if status.Load() == 0 {
			hang(r)
			return
		}
		w.WriteHeader(int(status.Load()))
		fmt.Fprint(w, `{"results":[{"index":0,"relevance_score":1}]}`)
	})
	score := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := r.Score(ctx, "q", []string{"a"})
		return err
	}
	for range 20 {
		if err := score(time.Minute); !errors.Is(err, embed.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if asked.Load() != 5 {
		t.Errorf("asked %d times", asked.Load())
	}
	now = now.Add(time.Minute)
	status.Store(0)
	if err := score(100 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "no answer in the time there was") {
		t.Errorf("slow: %v", err)
	}
	now = now.Add(time.Minute)
	status.Store(http.StatusOK)
	if err := score(time.Minute); err != nil || !r.Health().Healthy {
		t.Errorf("mended: %v", err)
	}
}

// A caller that gives up is no failure of the server.
func TestRerankCanceledIsNoFailure(t *testing.T) {
	t.Parallel()
	r := rerankServer(t, embed.RerankConfig{}, func(_ http.ResponseWriter, r *http.Request) { hang(r) })
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, cancel)
		if _, err := r.Score(ctx, "q", []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if h := r.Health(); !h.Healthy {
		t.Errorf("%+v", h)
	}
}

// A cross-encoder of the same family as the local models scores pairs: as the model itself does, whatever else is scored with them.
func TestRerankWithALocalCrossEncoder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyModel(t, dir, "cross")
	r, err := embed.NewReranker(embed.RerankConfig{Provider: "local", ModelDir: dir, ModelThreads: 1})
	if err != nil {
		t.Fatal(err)
	}
	var passages []string
	for i := range 25 {
		passages = append(passages, strings.Repeat("the money of the garden and the laptop ", i%7+1)+strings.Repeat("meeting ", i/7))
	}
	scores, err := r.Score(t.Context(), "can I get my money back", passages)
	if err != nil {
		t.Fatal(err)
	}
	m, err := local.Open(dir, local.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	different := map[float64]bool{}
	for i, p := range passages {
		one, _, err := m.Score(t.Context(), "can I get my money back", []string{p})
		if err != nil || math.Abs(one[0]-scores[i]) > 1e-4 {
			t.Errorf("passage %d has the score %v, %v by itself; %v", i, scores[i], one, err)
		}
		different[math.Round(scores[i]*1e6)] = true
	}
	if len(different) < 20 {
		t.Errorf("only %d different scores: %v", len(different), scores)
	}
}

// Passages that a cross-encoder does not reach have no score; the first ones are reached first.
func TestRerankWithALocalCrossEncoderWithinADeadline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyModel(t, dir, "cross")
	r, err := embed.NewReranker(embed.RerankConfig{Provider: "local", ModelDir: dir, ModelThreads: 1})
	if err != nil {
		t.Fatal(err)
	}
	passages := make([]string, 2000)
	for i := range passages {
		passages[i] = strings.Repeat("the money of the garden and the laptop ", 20)
	}
	if _, err := r.Score(t.Context(), "money", passages[:1]); err != nil { // loads the model
		t.Fatal(err)
	}
	scores := []float64{math.NaN()}
	for limit := 5 * time.Millisecond; math.IsNaN(scores[0]); limit *= 2 { // until there is time for a few, which is never enough for all
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		scores, err = r.Score(ctx, "money", passages)
		cancel()
		if !errors.Is(err, embed.ErrUnavailable) || len(scores) != len(passages) {
			t.Fatalf("%d scores, %v", len(scores), err)
		}
	}
	if last := scores[len(scores)-1]; !math.IsNaN(last) {
		t.Errorf("the last has %v", last)
	}
}

// What cannot be used says what to do: a wrong setting at once, a missing or other model with each search.
func TestNewRerankerSaysWhatToDo(t *testing.T) {
	t.Parallel()
	if r, err := embed.NewReranker(embed.RerankConfig{}); r != nil || err != nil {
		t.Errorf("none: %v, %v", r, err)
	}
	for want, cfg := range map[string]embed.RerankConfig{
		"set rerank.baseUrl":           {Provider: "http"},
		"rerank.baseUrl is not a URL":  {Provider: "http", BaseURL: "localhost:80"},
		"choose one of none":           {Provider: "cohere"},
		"the API key has a line break": {Provider: "http", BaseURL: "http://localhost", APIKey: "a\nb"},
	} {
		if _, err := embed.NewReranker(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	embedder := t.TempDir()
	copyModel(t, embedder, "transformer")
	for want, dir := range map[string]string{"--as reranker": "", "no such file": t.TempDir() + "/gone", "set rerank.model": embedder} {
		r, err := embed.NewReranker(embed.RerankConfig{Provider: "local", ModelDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Score(t.Context(), "q", []string{"a"}); !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

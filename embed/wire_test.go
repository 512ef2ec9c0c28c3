package embed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/embed"
)

// wire is the interface of a provider over HTTP, as its documentation describes it. Its answers are written by hand.
type wire struct {
	// base is the address of the own service, path that of the requests.
	base, path string
	// key is the header that carries the key.
	key string
	// indexed is true if the answer has OpenAI's form, a list of {index, embedding}.
	indexed bool
	// rateLimit asks for a pause of 7 s. badKey and tooLong (of 9,000 tokens) are refusals, and tooMany is one of too many texts.
	rateLimit, badKey, tooLong, tooMany reply
}

var wires = map[string]wire{
	"openai": {
		base: "https://api.openai.com", path: "/v1/embeddings", key: "Authorization", indexed: true,
		rateLimit: reply{status: 429, header: map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "7s",
			"X-Ratelimit-Remaining-Tokens": "149984", "X-Ratelimit-Reset-Tokens": "6m0s"},
			body: `{"error":{"message":"Rate limit reached for text-embedding-3-small in organization org-1 on requests per min (RPM): Limit 500, Used 500, Requested 1.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
		badKey:  reply{status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-test-*******cdef. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		tooLong: reply{status: 400, body: `{"error":{"message":"This model's maximum context length is 8192 tokens, however you requested 9000 tokens (9000 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.","type":"invalid_request_error","param":null,"code":null}}`},
		tooMany: reply{status: 400, body: `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Value error, batch size is invalid, it should not be larger than 10.: input.contents","type":"InvalidParameter","param":null,"code":"InvalidParameter"}}`},
	},
	"gemini": {
		base: "https://generativelanguage.googleapis.com", path: "/v1beta/models/gemini-embedding-001:batchEmbedContents", key: "X-Goog-Api-Key",
		rateLimit: reply{status: 429, body: `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[` +
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/embed_content_free_tier_requests","quotaId":"EmbedContentRequestsPerMinutePerUserPerProjectPerModel-FreeTier","quotaValue":"100"}]},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}`},
		badKey:  reply{status: 400, body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`},
		tooLong: reply{status: 400, body: `{"error":{"code":400,"message":"The input token count (9000) exceeds the maximum number of tokens allowed (2048).","status":"INVALID_ARGUMENT"}}`},
		tooMany: reply{status: 400, body: `{"error":{"code":400,"message":"* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch\n","status":"INVALID_ARGUMENT"}}`},
	},
	"voyage": {
		base: "https://api.voyageai.com", path: "/v1/embeddings", key: "Authorization", indexed: true,
		rateLimit: reply{status: 429, header: map[string]string{"Retry-After": "7"}, body: `{"detail":"You have not yet added your payment method in the billing page and will have reduced rate limits of 3 RPM and 10K TPM."}`},
		badKey:    reply{status: 401, body: `{"detail":"Provided API key is invalid."}`},
		tooLong:   reply{status: 400, body: `{"detail":"Request to model 'voyage-4-large' failed. The example at index 0 in your batch has too many tokens and does not fit into the model's context window of 32000 tokens. Please lower the number of tokens in the listed example(s) or use truncation."}`},
		tooMany:   reply{status: 400, body: `{"detail":"Request to model 'voyage-4-large' failed. The max allowed tokens per submitted batch is 120000. Your batch has 124302 tokens after truncation. Please lower the number of tokens in the batch."}`},
	},
	"mistral": {
		base: "https://api.mistral.ai", path: "/v1/embeddings", key: "Authorization", indexed: true,
		rateLimit: reply{status: 429, header: map[string]string{"Ratelimit-Remaining": "0", "Ratelimit-Reset": "7"}, body: `{"object":"error","message":"Requests rate limit exceeded","type":"rate_limited","param":null,"code":"1300"}`},
		badKey:    reply{status: 401, body: `{"detail":"Unauthorized"}`},
		tooLong:   reply{status: 400, body: `{"object":"error","message":"Too many tokens overall, split into more batches.","type":"invalid_request_prompt","param":null,"code":"3210"}`},
		tooMany:   reply{status: 400, body: `{"object":"error","message":"Too many inputs in request, split into more batches.","type":"invalid_request_prompt","param":null,"code":"3210"}`},
	},
	"ollama": {
		base: "http://localhost:11434", path: "/api/embed", key: "Authorization",
		rateLimit: reply{status: 503, header: map[string]string{"Retry-After": "7"}, body: `{"error":"server busy, please try again. maximum pending requests exceeded"}`},
		badKey:    reply{status: 401, body: `{"error":"unauthorized"}`},
		tooLong:   reply{status: 400, body: `{"error":"the input length exceeds the context length"}`},
		tooMany:   reply{status: 413, body: `{"error":"request body too large"}`}, // of a proxy before it
	},
}

// wireRequest is a request in the form of any provider.
type wireRequest struct {
	N      int // 1 for the first
	Header http.Header
	URL    string
	// Texts are those to embed; Fields is the whole body.
	Texts  []string
	Fields map[string]any
	// Kind is what the request says of queries and documents; empty if it says nothing.
	Kind string
}

// wireServer is an http.Handler that speaks the form of one provider and refuses what the provider would.
type wireServer struct {
	t      *testing.T
	name   string
	answer func(wireRequest) reply

	mu       sync.Mutex
	requests []wireRequest
}

// ServeHTTP implements http.Handler.
func (s *wireServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	req := wireRequest{Header: r.Header, URL: r.URL.String()}
	if err == nil {
		err = s.parse(body, &req)
	}
	if want := wires[s.name].path; err != nil || r.URL.Path != want || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		s.t.Errorf("%s %s, want %s: %v", r.Method, r.URL.Path, want, err)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	req.N = len(s.requests) + 1
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	a := s.answer(req)
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	io.WriteString(w, a.body)
}

// parse reads the body of a request.
func (s *wireServer) parse(body []byte, req *wireRequest) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&req.Fields); err != nil {
		return err
	}
	if s.name != "gemini" {
		for _, t := range req.Fields["input"].([]any) {
			req.Texts = append(req.Texts, t.(string))
		}
		req.Kind, _ = req.Fields["input_type"].(string)
		return nil
	}
	for _, one := range req.Fields["requests"].([]any) {
		fields := one.(map[string]any)
		if fields["model"] != "models/gemini-embedding-001" {
			return fmt.Errorf("a part is for the model %v", fields["model"])
		}
		parts := fields["content"].(map[string]any)["parts"].([]any)
		req.Texts = append(req.Texts, parts[0].(map[string]any)["text"].(string))
		req.Kind, _ = fields["taskType"].(string)
	}
	return nil
}

// good answers with a vector for each text.
func (s *wireServer) good(r wireRequest) reply {
	return reply{body: s.body(r.Texts, func(t string) string { return numbers(vectorOf(t)) })}
}

func numbers(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// body returns an answer with a vector, as JSON, for each text.
func (s *wireServer) body(texts []string, vector func(string) string) string {
	var items []string
	for i, t := range texts {
		switch {
		case wires[s.name].indexed:
			items = append(items, fmt.Sprintf(`{"object":"embedding","embedding":%s,"index":%d}`, vector(t), i))
		case s.name == "gemini":
			items = append(items, `{"values":`+vector(t)+`}`)
		default:
			items = append(items, vector(t))
		}
	}
	list := "[" + strings.Join(items, ",") + "]"
	if wires[s.name].indexed {
		return `{"object":"list","data":` + list + `,"model":"m","usage":{"total_tokens":10}}`
	}
	return `{"model":"m","embeddings":` + list + `,"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":8}`
}

func (s *wireServer) seen() []wireRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]wireRequest(nil), s.requests...)
}

// RoundTrip calls the handler without a network, so that a test can run in virtual time.
func (s *wireServer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// eachProvider runs a test for each provider over HTTP. answer gets a server and a request.
func eachProvider(t *testing.T, test func(t *testing.T, name string, w wire)) {
	t.Helper()
	t.Parallel()
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name, w)
		})
	}
}

// newWire returns a server and a client that reaches it without a network.
func newWire(t *testing.T, name string, cfg embed.Config, answer func(s *wireServer, r wireRequest) reply) (*wireServer, *embed.Client) {
	t.Helper()
	s := &wireServer{t: t, name: name}
	s.answer = func(r wireRequest) reply { return answer(s, r) }
	cfg.Provider, cfg.APIKey, cfg.KeySource, cfg.Transport = name, testKey, "the vault", s
	c, err := embed.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func goodWire(s *wireServer, r wireRequest) reply { return s.good(r) }

// dayLong calls f every ten seconds for a day.
func dayLong(f func()) {
	for start := time.Now(); time.Since(start) < 24*time.Hour; time.Sleep(10 * time.Second) {
		f()
	}
}

// geminiTwo answers as Gemini and remembers the body of the last request.
type geminiTwo struct{ body string }

// RoundTrip implements http.RoundTripper.
func (g *geminiTwo) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	g.body = string(body)
	w := httptest.NewRecorder()
	io.WriteString(w, `{"embeddings":[{"values":[1,2,3]}]}`)
	return w.Result(), err
}

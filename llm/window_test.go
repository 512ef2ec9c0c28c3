package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kioku/llm"
)

// asked is a server that has fixed answers by their paths and 404 for others.
type asked struct {
	answers map[string]string
	// hang keeps every request open until the client leaves.
	hang bool

	mu     sync.Mutex
	counts map[string]int
	bodies []string
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	if a.counts == nil {
		a.counts = map[string]int{}
	}
	a.counts[r.URL.Path]++
	a.bodies = append(a.bodies, string(body))
	answer, ok := a.answers[r.URL.Path]
	a.mu.Unlock()
	switch {
	case a.hang:
		<-r.Context().Done()
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		io.WriteString(w, answer)
	}
}

// requests returns how many requests the server had, in all and to a path.
func (a *asked) requests(path string) (all, there int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.counts {
		all += n
	}
	return all, a.counts[path]
}

// set gives a path another answer.
func (a *asked) set(path, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[path] = answer
}

// last returns the body of the last request.
func (a *asked) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bodies[len(a.bodies)-1]
}

// serveAnswers returns a server with fixed answers and a model that asks it.
func serveAnswers(t *testing.T, cfg llm.Config, answers map[string]string) (*asked, llm.Model) {
	t.Helper()
	a := &asked{answers: answers}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	cfg.BaseURL = server.URL + cfg.BaseURL
	cfg.MaxRetries = -1
	return a, newModel(t, cfg)
}

func wantWindow(t *testing.T, m llm.Model, tokens int, source string) {
	t.Helper()
	if got, from := m.Window(), llm.WindowSource(m); got != tokens || from != source {
		t.Errorf("a window of %d, %q; want %d, %q", got, from, tokens, source)
	}
}

func TestWindowIsToldByTheServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg     llm.Config
		answers map[string]string
		tokens  int
		source  string
	}{
		"vLLM": {llm.Config{}, map[string]string{"/v1/models": `{"data":[{"id":"other","max_model_len":1},{"id":"test-model","owned_by":"vllm","max_model_len":12000}]}`}, 12_000, llm.WindowTold},
		"one model by another name": {llm.Config{BaseURL: "/v1"}, map[string]string{"/v1/models": `{"data":[{"id":"/models/x","max_model_len":9000}]}`},
			9000, llm.WindowTold},
		"no such model": {llm.Config{}, map[string]string{"/v1/models": `{"data":[{"id":"a","max_model_len":1000},{"id":"b","max_model_len":2000}]}`}, 0, ""},
		"OpenRouter": {llm.Config{BaseURL: "/api/v1"}, map[string]string{"/api/v1/models": `{"data":[{"id":"test-model","context_length":131072,"top_provider":{"context_length":32768}},{"id":"b"}]}`},
			32_768, llm.WindowTold},
		"llama.cpp": {llm.Config{}, map[string]string{"/v1/models": `{"data":[{"id":"test-model","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
			"/props": `{"default_generation_settings":{"n_ctx":4096}}`}, 4096, llm.WindowTold},
		"LM Studio": {llm.Config{BaseURL: "/v1"}, map[string]string{"/v1/models": `{"data":[{"id":"test-model"},{"id":"b"}]}`,
			"/api/v0/models": `{"data":[{"id":"test-model","state":"loaded","max_context_length":131072,"loaded_context_length":6000},{"id":"b"}]}`}, 6000, llm.WindowTold},
		"told before known": {llm.Config{Model: "gpt-4"}, map[string]string{"/v1/models": `{"data":[{"id":"gpt-4","max_model_len":5000}]}`}, 5000, llm.WindowTold},
		"set before told":   {llm.Config{Window: 3000}, map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":5000}]}`}, 3000, llm.WindowSet},
		"known by name":     {llm.Config{Model: "gpt-4"}, nil, 8192, llm.WindowKnown},
		"no JSON":           {llm.Config{}, map[string]string{"/v1/models": "<html>", "/props": "<html>", "/api/v0/models": "[]"}, 0, ""},
		"Anthropic's interface": {llm.Config{Provider: "anthropic"}, map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":7000}]}`},
			7000, llm.WindowTold},
		"Ollama, trained": {llm.Config{Provider: "ollama"}, map[string]string{"/api/show": `{"model_info":{"llama.context_length":8192,"llama.block_count":32}}`}, 8192, llm.WindowTold},
		"Ollama, large":   {llm.Config{Provider: "ollama"}, map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":262144}}`}, 32_768, llm.WindowTold},
		"Ollama, by its maker": {llm.Config{Provider: "ollama"}, map[string]string{"/api/show": `{"parameters":"stop \"x\"\nnum_ctx                        65536","model_info":{"llama.context_length":131072}}`},
			65_536, llm.WindowTold},
		"Ollama, loaded with more": {llm.Config{Provider: "ollama"}, map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":262144}}`,
			"/api/ps": `{"models":[{"name":"other","context_length":1},{"name":"test-model:latest","context_length":65536}]}`}, 65_536, llm.WindowTold},
		"Ollama, loaded with less": {llm.Config{Provider: "ollama"}, map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":262144}}`,
			"/api/ps": `{"models":[{"name":"test-model","context_length":4096}]}`}, 32_768, llm.WindowTold},
		"Ollama says little": {llm.Config{Provider: "ollama"}, map[string]string{"/api/show": `{}`}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.cfg.Provider == "" {
				c.cfg.Provider = "openai"
			}
			s, m := serveAnswers(t, c.cfg, c.answers)
			wantWindow(t, m, c.tokens, c.source)
			all, _ := s.requests("")
			wantWindow(t, m, c.tokens, c.source)
			if again, _ := s.requests(""); again != all || all > 3 {
				t.Errorf("%d requests, then %d", all, again)
			}
		})
	}
}

// A request to Ollama asks for the window that Window says.
func TestWindowOfOllamaIsWhatRequestsAskFor(t *testing.T) {
	t.Parallel()
	for shown, want := range map[string]string{`{"model_info":{"llama.context_length":8192}}`: `"num_ctx":8192`, `{}`: `"options":{}`} {
		s, m := serveAnswers(t, llm.Config{Provider: "ollama"}, map[string]string{"/api/show": shown, "/api/chat": ndjson(lines...)})
		if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
			t.Fatal(err)
		}
		if got := s.last(); !strings.Contains(got, want) && !(want == `"options":{}` && !strings.Contains(got, "num_ctx")) {
			t.Errorf("sent %s", got)
		}
	}
}

// A server that loads its model for the first request tells the window after it.
func TestWindowOfAModelThatIsLoadedLater(t *testing.T) {
	t.Parallel()
	s, m := serveAnswers(t, llm.Config{Provider: "openai"}, map[string]string{
		"/api/v0/models":       `{"data":[{"id":"test-model","state":"not-loaded","max_context_length":131072}]}`,
		"/v1/chat/completions": completionSSE(completions...),
	})
	wantWindow(t, m, 0, "")
	wantWindow(t, m, 0, "")
	if _, n := s.requests("/api/v0/models"); n != 1 {
		t.Errorf("asked %d times before a request", n)
	}
	s.set("/api/v0/models", `{"data":[{"id":"test-model","state":"loaded","max_context_length":131072,"loaded_context_length":4096}]}`)
	if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
		t.Fatal(err)
	}
	wantWindow(t, m, 4096, llm.WindowTold)
}

// A server that hangs costs two seconds, then nothing for a minute, and no request fails for it.
func TestWindowOfAServerThatHangs(t *testing.T) {
	t.Parallel()
	s := &asked{hang: true}
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, llm.Config{Provider: "openai", BaseURL: "http://localhost:1/v1", Transport: hanging{s}})
		began := time.Now()
		for range 10 {
			wantWindow(t, m, 0, "")
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
		time.Sleep(24 * time.Hour)
		for range 24 * 60 {
			m.Window()
			time.Sleep(time.Minute)
		}
		if all, _ := s.requests(""); all > 35 {
			t.Errorf("asked %d times in a day", all)
		}
	})
}

// hanging is a transport whose requests end with their context.
type hanging struct{ *asked }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	if h.counts == nil {
		h.counts = map[string]int{}
	}
	h.counts[r.URL.Path]++
	h.mu.Unlock()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// The key goes to no other host, also if the server redirects.
func TestWindowIsAskedOfNoOtherHost(t *testing.T) {
	t.Parallel()
	elsewhere := &asked{answers: map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":666}]}`}}
	other := httptest.NewServer(elsewhere)
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/models", http.StatusFound))
	t.Cleanup(server.Close)
	wantWindow(t, newModel(t, llm.Config{Provider: "openai", BaseURL: server.URL}), 0, "")
	if all, _ := elsewhere.requests(""); all > 0 {
		t.Errorf("%d requests to another host", all)
	}
}

// refusal is how a server refuses a request as too long, and what that teaches.
type refusal struct {
	status int
	body   string
	limit  int // the tokens of the model that the server names, 0 if it names none
}

var refusals = map[string]refusal{
	"OpenAI":         {400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9012 tokens (8012 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, 8192},
	"OpenAI, now":    {400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9012 tokens.","code":"context_length_exceeded"}}`, 8192},
	"vLLM":           {400, `{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 8192 tokens and your request has 8100 input tokens (5000 > 8192 - 8100).","code":400}`, 8192},
	"Anthropic":      {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9012 tokens > 8192 maximum"}}`, 8192},
	"Anthropic, sum": {400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 8000 + 2000 > 8192, decrease input length\"}}", 8192},
	"OpenRouter":     {400, `{"error":{"message":"This endpoint's maximum context length is 8192 tokens. However, you requested about 9100 tokens (9000 of text input, 100 in the output).","code":400}}`, 8192},
	"llama.cpp":      {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9012,"n_ctx":8192}}`, 8192},
	"llama.cpp, 2":   {400, `{"error":{"code":400,"message":"request (9012 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error"}}`, 8192},
	"llama.cpp, old": {400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"invalid_request_error"}}`, 0},
	"LM Studio":      {400, `{"error":"Trying to keep the first 9012 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough."}`, 8192},
	"Ollama":         {400, `{"error":"the input length exceeds the context length"}`, 0},
	"Gemini":         {400, `{"error":{"code":400,"message":"The input token count (9012) exceeds the maximum number of tokens allowed (8192).","status":"INVALID_ARGUMENT"}}`, 8192},
	"Gemini, 2":      {400, `{"error":{"code":400,"message":"The input token count is 9012 but model only supports up to 8192.","status":"INVALID_ARGUMENT"}}`, 8192},
	"Mistral":        {400, `{"message":"Prompt contains 9012 tokens and 0 draft tokens, too large for model with 8192 maximum context length"}`, 8192},
	"xAI":            {400, `{"error":"This model's maximum prompt length is 8192 but the request contains 9012 tokens."}`, 8192},
	"Moonshot":       {400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}`, 8192},
	"DashScope":      {400, `{"code":"InvalidParameter","message":"Range of input length should be [1, 8192]"}`, 8192},
	"Groq":           {400, `{"error":{"message":"Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, 0},
	"TGI":            {422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9012 `inputs` tokens and 200 `max_new_tokens`\"}", 8192},
	"Chinese":        {400, `{"error":{"message":"请求超过模型最大上下文长度限制8192，当前输入9012个token"}}`, 8192},
	"Chinese, bare":  {400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, 0},
	"a proxy":        {413, `<html>Request Entity Too Large</html>`, 0},
}

// tea is a request of about n tokens by the estimate.
func tea(n int) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: strings.Repeat("tea ", n)}}}
}

// Whatever a server says of a request that is too long, the window is smaller than the request afterwards, and at most what the
// server names.
func TestWindowIsLearntFromARefusal(t *testing.T) {
	t.Parallel()
	const size = 8050
	for name, r := range refusals {
		for _, cfg := range []llm.Config{{}, {Window: 100_000}, {Model: "gpt-4o"}} {
			t.Run(fmt.Sprint(name, cfg.Window, cfg.Model), func(t *testing.T) {
				t.Parallel()
				cfg.Provider = "openai"
				_, m := serve(t, cfg, reply{status: r.status, body: r.body})
				if _, err := m.Generate(t.Context(), tea(size), nil); llm.KindOf(err) != llm.KindOverflow {
					t.Fatalf("kind %q of %v", llm.KindOf(err), err)
				}
				got := m.Window()
				if r.limit == 0 && (got > size*4/5+10 || got < size*4/5-10) || r.limit > 0 && (got > r.limit || got < r.limit/2) || got >= size+10 {
					t.Errorf("a window of %d after a request of %d", got, size)
				}
				if source := llm.WindowSource(m); source != llm.WindowLearnt {
					t.Errorf("source %q", source)
				}
			})
		}
	}
}

// A refusal whose numbers contradict what the caller knows teaches all the same, and a small one never takes all.
func TestWindowAfterARefusalWithoutSense(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		size int
		want int
	}{
		"a limit above the request": {`{"error":{"message":"maximum context length is 900000 tokens"}}`, 10_000, 8003},
		"a limit of nothing":        {`{"error":{"message":"maximum context length is 3 tokens"}}`, 10_000, 8003},
		"a tiny request":            {`{"error":{"message":"context_length_exceeded"}}`, 5, 512},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m := serve(t, llm.Config{Provider: "openai"}, reply{status: 400, body: c.body})
			m.Generate(t.Context(), tea(c.size), nil)
			wantWindow(t, m, c.want, llm.WindowLearnt)
		})
	}
}

// No sequence of refusals makes the window grow.
func TestWindowShrinksOnlyUntilRequestsFit(t *testing.T) {
	t.Parallel()
	_, m := serve(t, llm.Config{Provider: "openai", Window: 50_000}, reply{status: 400, body: `{"error":"context_length_exceeded"}`})
	for before := m.Window(); before > 1000; {
		m.Generate(t.Context(), tea(before-10), nil)
		after := m.Window()
		if after >= before {
			t.Fatalf("%d after %d", after, before)
		}
		before = after
	}
}

// answerOf returns an answer that counts a prompt as n tokens.
func answerOf(n int) reply {
	usage, _ := json.Marshal(map[string]any{"choices": []any{}, "usage": map[string]int{"prompt_tokens": n, "completion_tokens": 1}})
	return reply{header: eventStream, body: sse(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`, string(usage), "[DONE]")}
}

// Where the server counts more tokens than RequestTokens, the window shrinks by as much, within bounds, and a single odd answer
// does not decide. Where it counts fewer, the window is what is set.
func TestWindowCountsLikeRequestTokens(t *testing.T) {
	t.Parallel()
	const size = 5000
	for name, c := range map[string]struct {
		counted  []int // the server's counts, the last one again and again
		least    int
		most     int
		requests int
	}{
		"equal":           {[]int{5000}, 99_000, 100_000, 20},
		"half as many":    {[]int{2500}, 100_000, 100_000, 20},
		"twice as many":   {[]int{10_000}, 49_000, 53_000, 20},
		"three times":     {[]int{15_000}, 33_000, 35_000, 20},
		"one odd answer":  {[]int{500_000, 5000}, 60_000, 95_000, 10},
		"nonsense":        {[]int{1 << 40}, 25_000, 26_000, 20},
		"no usage":        {[]int{0}, 100_000, 100_000, 3},
		"negative, a lie": {[]int{-7}, 100_000, 100_000, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var replies []reply
			for _, n := range c.counted {
				replies = append(replies, answerOf(n))
			}
			_, m := serve(t, llm.Config{Provider: "openai", Window: 100_000}, replies...)
			for range c.requests {
				if _, err := m.Generate(t.Context(), tea(size), nil); err != nil {
					t.Fatal(err)
				}
			}
			if got := m.Window(); got < c.least || got > c.most {
				t.Errorf("a window of %d, want %d to %d", got, c.least, c.most)
			}
			if source := llm.WindowSource(m); source != llm.WindowSet {
				t.Errorf("source %q", source)
			}
		})
	}
}

// The frame of a short request says nothing of the tokenizer.
func TestWindowIgnoresTheUsageOfShortRequests(t *testing.T) {
	t.Parallel()
	_, m := serve(t, llm.Config{Provider: "openai", Window: 8000}, answerOf(300))
	for range 10 {
		if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
			t.Fatal(err)
		}
	}
	wantWindow(t, m, 8000, llm.WindowSet)
}

func TestWindowSourceOfAModelWithLimits(t *testing.T) {
	t.Parallel()
	wantWindow(t, newModel(t, llm.Config{Provider: "openai", Model: "gpt-4", Limits: llm.Limits{TokensPerDay: 1}}), 8192, llm.WindowKnown)
}

// A guess ends after an hour, since a proxy or a model that lies must not keep the window small; a number stays.
func TestWindowForgetsAGuess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, m := direct(t, llm.Config{Provider: "openai", Window: 50_000}, reply{status: 413})
		for range 20 {
			m.Generate(t.Context(), tea(max(m.Window()-100, 300)), nil)
		}
		if got := m.Window(); got > 2000 {
			t.Errorf("a window of %d after 20 refusals", got)
		}
		time.Sleep(time.Hour)
		wantWindow(t, m, 50_000, llm.WindowSet)

		_, m = direct(t, llm.Config{Provider: "openai", Window: 50_000}, reply{status: 400, body: `{"error":"maximum context length is 8192 tokens"}`})
		m.Generate(t.Context(), tea(10_000), nil)
		time.Sleep(time.Hour)
		wantWindow(t, m, 8192, llm.WindowLearnt)
	})
}

// Many callers at once have the server asked once, and may learn at the same time.
func TestWindowWithManyCallers(t *testing.T) {
	t.Parallel()
	s, m := serveAnswers(t, llm.Config{Provider: "openai"}, map[string]string{
		"/v1/models": `{"data":[{"id":"test-model","max_model_len":12000}]}`, "/v1/chat/completions": completionSSE(completions...),
	})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			wantWindow(t, m, 12_000, llm.WindowTold)
			if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if _, n := s.requests("/v1/models"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

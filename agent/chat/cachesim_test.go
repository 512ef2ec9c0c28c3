package chat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/llm"
)

// cachePrices are public prices in US dollars per million tokens, as the providers listed them in April 2026:
// docs.anthropic.com/en/docs/about-claude/pricing, developers.openai.com/api/docs/pricing and api-docs.deepseek.com.
var cachePrices = map[string]struct {
	model string
	llm.Prices
}{
	"anthropic": {"Claude Sonnet 4.6", llm.Prices{Input: 3, CacheWrite: 3.75, CacheRead: 0.30, Output: 15}},
	"openai":    {"GPT-5.2", llm.Prices{Input: 1.75, CacheRead: 0.175, Output: 14}},
	"deepseek":  {"DeepSeek V3.2", llm.Prices{Input: 0.28, CacheRead: 0.028, Output: 0.42}},
}

const (
	// simTTL is how long the simulated caches live since their last use.
	simTTL = 5 * time.Minute
	// simLeast is the size in tokens below which nothing is cached, and simStep what OpenAI rounds down to.
	simLeast, simStep = 1024, 128
	// simLookback is how many blocks before a breakpoint Anthropic looks for a cached prefix.
	simLookback = 20
)

// segment is a piece of the input of a request, in the order in which providers cache: tools, system, messages.
type segment struct {
	text       string
	breakpoint bool
}

// sentRequest is a request as it went over the wire.
type sentRequest struct {
	segments []segment
	// input is all of it, and shared the number of bytes that it has in common with the beginning of the request before.
	input  string
	shared int
	usage  llm.Usage
	// aside says that it is a request of a flush or a compaction.
	aside bool
}

// provider is a server that speaks the protocol of a provider, answers from a script and counts as its cache would.
type provider struct {
	kind  string
	now   func() time.Time
	reply func(body string) llm.Message

	mu       sync.Mutex
	requests []*sentRequest
	last     map[bool]*sentRequest
	// cached are the prefixes in the cache, with the time of their last use.
	cached map[string]time.Time
	calls  int
	// before moves a breakpoint on a turn block to the block before it.
	before bool
}

// newProvider starts one and returns a model that asks it.
func newProvider(t testing.TB, kind string, window int, now func() time.Time, reply func(string) llm.Message) (*provider, llm.Model) {
	t.Helper()
	p := &provider{kind: kind, now: now, reply: reply, cached: map[string]time.Time{}, last: map[bool]*sentRequest{}}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	speaks := kind
	if kind == "deepseek" {
		speaks = "openai"
	}
	m, err := llm.New(llm.Config{Provider: speaks, Model: "test-model", BaseURL: server.URL, APIKey: "sk-test-0123456789", Window: window, MaxRetries: -1, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// ServeHTTP implements http.Handler.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/show" || r.URL.Path == "/api/ps" || r.Method == http.MethodGet {
		http.NotFound(w, r)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.read(raw)
	answer := p.reply(string(raw))
	for i := range answer.ToolCalls {
		p.calls++
		answer.ToolCalls[i].ID = fmt.Sprintf("call_%d", p.calls)
	}
	s.usage.Output = len(spoken(answer)) / 4
	p.requests = append(p.requests, s)
	p.write(w, answer, s.usage)
}

// unmarked takes away what a breakpoint adds to a block.
var unmarked = strings.NewReplacer(`,"cache_control":{"type":"ephemeral"}`, "", `"cache_control":{"type":"ephemeral"},`, "")

// read takes a request apart and counts what of it is cached.
func (p *provider) read(raw []byte) *sentRequest {
	var body struct {
		Tools    []json.RawMessage
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	var whole struct{ Messages []json.RawMessage }
	if json.Unmarshal(raw, &body) != nil || json.Unmarshal(raw, &whole) != nil {
		panic("a request is no JSON")
	}
	s := &sentRequest{aside: strings.Contains(string(raw), "## Saving memories") || len(body.Tools) == 0}
	var input strings.Builder
	add := func(text string) {
		plain := unmarked.Replace(text)
		s.segments = append(s.segments, segment{plain, plain != text})
		input.WriteString(plain + "\n")
	}
	for _, tool := range body.Tools {
		add(string(tool))
	}
	blocks := func(content json.RawMessage) (all []json.RawMessage) {
		if json.Unmarshal(content, &all) != nil {
			all = []json.RawMessage{content}
		}
		return all
	}
	if p.kind == "anthropic" {
		for _, block := range blocks(body.System) {
			add(string(block))
		}
	}
	for i, m := range body.Messages {
		if p.kind != "anthropic" {
			add(string(whole.Messages[i]))
			continue
		}
		for _, block := range blocks(m.Content) {
			add(m.Role + string(block))
		}
	}
	s.input = input.String()
	if n := len(s.segments); p.before && n > 1 && s.segments[n-1].breakpoint && strings.Contains(s.segments[n-1].text, "<this-turn") {
		s.segments[n-1].breakpoint, s.segments[n-2].breakpoint = false, true
	}
	if before := p.last[s.aside]; before != nil {
		s.shared = sharedPrefix(before.input, s.input)
	}
	p.last[s.aside] = s
	p.count(s)
	return s
}

// sharedPrefix returns the length of the beginning that two texts have in common.
func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// count sets the usage of a request and remembers what is cached now.
func (p *provider) count(s *sentRequest) {
	now := p.now()
	for prefix, used := range p.cached {
		if now.Sub(used) > simTTL {
			delete(p.cached, prefix)
		}
	}
	total := len(s.input) / 4
	switch p.kind {
	case "anthropic":
		s.usage = p.countBreakpoints(s, now)
	case "ollama":
		s.usage = llm.Usage{Input: total}
	default:
		most := 0
		for prefix := range p.cached {
			most = max(most, sharedPrefix(prefix, s.input)/4)
		}
		if most -= most % simStep; most < simLeast {
			most = 0
		}
		p.cached[s.input] = now
		s.usage = llm.Usage{Input: total - most, CacheRead: most}
	}
}

// countBreakpoints counts as Anthropic does: the longest cached prefix within some blocks before a breakpoint is read, what
// follows up to the last breakpoint is written.
func (p *provider) countBreakpoints(s *sentRequest, now time.Time) llm.Usage {
	ends := make([]int, len(s.segments))
	at := 0
	for i, seg := range s.segments {
		at += len(seg.text) + 1
		ends[i] = at
	}
	read, written, breakpoints := 0, 0, 0
	for i, seg := range s.segments {
		if !seg.breakpoint {
			continue
		}
		breakpoints++
		for back := i; back >= 0 && back > i-simLookback; back-- {
			if _, hit := p.cached[s.input[:ends[back]]]; hit {
				read = max(read, ends[back])
				break
			}
		}
		if ends[i]/4 >= simLeast {
			written = ends[i]
		}
	}
	if breakpoints > 4 {
		panic("more than four breakpoints")
	}
	for i, seg := range s.segments {
		if _, hit := p.cached[s.input[:ends[i]]]; hit && ends[i] <= read || seg.breakpoint && ends[i]/4 >= simLeast {
			p.cached[s.input[:ends[i]]] = now
		}
	}
	written = max(written, read)
	return llm.Usage{Input: (len(s.input) - written) / 4, CacheRead: read / 4, CacheWrite: (written - read) / 4}
}

// write sends an answer in the protocol of the provider.
func (p *provider) write(w http.ResponseWriter, m llm.Message, u llm.Usage) {
	event := func(value any) {
		data, _ := json.Marshal(value)
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	type o = map[string]any
	switch p.kind {
	case "anthropic":
		w.Header().Set("Content-Type", "text/event-stream")
		typed := func(name string, value o) {
			value["type"] = name
			fmt.Fprintf(w, "event: %s\n", name)
			event(value)
		}
		stop := "end_turn"
		typed("message_start", o{"message": o{"id": "m", "type": "message", "role": "assistant", "content": []any{}, "usage": o{
			"input_tokens": u.Input, "output_tokens": 1, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}}})
		n := 0
		if m.Text != "" {
			typed("content_block_start", o{"index": n, "content_block": o{"type": "text", "text": m.Text}})
			typed("content_block_stop", o{"index": n})
			n++
		}
		for _, c := range m.ToolCalls {
			stop = "tool_use"
			typed("content_block_start", o{"index": n, "content_block": o{"type": "tool_use", "id": c.ID, "name": c.Name, "input": o{}}})
			typed("content_block_delta", o{"index": n, "delta": o{"type": "input_json_delta", "partial_json": string(c.Input)}})
			typed("content_block_stop", o{"index": n})
			n++
		}
		typed("message_delta", o{"delta": o{"stop_reason": stop}, "usage": o{"output_tokens": u.Output}})
		typed("message_stop", o{})
	case "ollama":
		var calls []o
		for _, c := range m.ToolCalls {
			calls = append(calls, o{"function": o{"name": c.Name, "arguments": c.Input}})
		}
		data, _ := json.Marshal(o{"message": o{"content": m.Text, "tool_calls": calls}, "done": true, "done_reason": "stop",
			"prompt_eval_count": u.Input, "eval_count": u.Output})
		fmt.Fprintf(w, "%s\n", data)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		var calls []o
		for i, c := range m.ToolCalls {
			calls = append(calls, o{"index": i, "id": c.ID, "type": "function", "function": o{"name": c.Name, "arguments": string(c.Input)}})
		}
		reason := "stop"
		if len(calls) > 0 {
			reason = "tool_calls"
		}
		usage := o{"prompt_tokens": u.Prompt(), "completion_tokens": u.Output, "prompt_tokens_details": o{"cached_tokens": u.CacheRead}}
		if p.kind == "deepseek" {
			usage = o{"prompt_tokens": u.Prompt(), "completion_tokens": u.Output, "prompt_cache_hit_tokens": u.CacheRead, "prompt_cache_miss_tokens": u.Input}
		}
		event(o{"choices": []o{{"delta": o{"content": m.Text, "tool_calls": calls}, "finish_reason": reason}}})
		event(o{"choices": []o{}, "usage": usage})
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

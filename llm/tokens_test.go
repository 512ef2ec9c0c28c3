package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMessageTokens(t *testing.T) {
	t.Parallel()
	m := Message{Text: "eight of", Images: make([]Image, 2), ToolCalls: []ToolCall{{Name: "read", Input: json.RawMessage(`{"a":123}`)}}}
	if got := MessageTokens(nil, m); got != 4+2+2*2000+4+1+3 {
		t.Errorf("estimated %d", got)
	}
	if got := MessageTokens(func(s string) int { return len(s) }, m); got != 4+8+2*2000+4+4+9 {
		t.Errorf("counted %d", got)
	}
}

func TestRequestTokens(t *testing.T) {
	t.Parallel()
	req := Request{
		System: strings.Repeat("word ", 80), Schema: json.RawMessage(`{}`), Messages: []Message{{Text: "記憶"}},
		Tools: []Tool{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
	if got := RequestTokens(req); got != 100+1+4+2+1+2+5 {
		t.Errorf("estimated %d", got)
	}
	if got := ToolTokens(req.Tools); got != 1+2+5 {
		t.Errorf("tools: estimated %d", got)
	}
}

func TestUsagePlusAndMinus(t *testing.T) {
	t.Parallel()
	one := Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}
	got := one.Plus(Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40})
	if got != (Usage{Input: 11, Output: 22, CacheRead: 33, CacheWrite: 44}) || got.Prompt() != 88 {
		t.Errorf("%+v", got)
	}
	if rest := got.Minus(one); rest != (Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40}) {
		t.Errorf("%+v", rest)
	}
}

package repl

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"kioku/agent/chat"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/internal/render"
	"kioku/llm"
	"kioku/memory"
)

func called(name, input, output string, err error) *chat.Result {
	return &chat.Result{
		Call: llm.ToolCall{Name: name, Input: json.RawMessage(input)}, Output: json.RawMessage(output), Err: err, Took: 12 * time.Millisecond,
	}
}

func TestEventIsOneLine(t *testing.T) {
	t.Parallel()
	recalled := &sidecar.Prompt{}
	recalled.Recalled = []prompt.Memory{
		{Path: "MEMORY.md", StartLine: 3, EndLine: 5}, {Agent: "team", Shared: true, Path: "memory/2026-01-10.md", StartLine: 7, EndLine: 7},
	}
	failed := &sidecar.Prompt{Recall: recall.Outcome{Searches: []recall.Search{{Agent: "main", Err: errors.New("too slow")}}}}
	for want, e := range map[string]chat.Event{
		"· recalled 2 memories: MEMORY.md#L3-L5, team:memory/2026-01-10.md#L7":                    {Prompt: recalled},
		"· nothing could be recalled from the memory of main: too slow":                           {Prompt: failed},
		`· memory_append text="plums" → memory/2026-01-20.md:4 (12ms)`:                            {Result: called("memory_append", `{"text":"plums"}`, `{"path":"memory/2026-01-20.md","start_line":4,"deduplicated":false}`, nil)},
		`· memory_append text="plums" → MEMORY.md:4, where it was already (12ms)`:                 {Result: called("memory_append", `{"text":"plums"}`, `{"path":"MEMORY.md","start_line":4,"deduplicated":true}`, nil)},
		`· memory_search max_results=2 query="a b" → 2 results: MEMORY.md#L1, notes.md#L2 (12ms)`: {Result: called("memory_search", `{"query":"a b","max_results":2}`, `{"results":[{"citation":"MEMORY.md#L1"},{"citation":"notes.md#L2"}]}`, nil)},
		`· memory_search query="x" → 0 results (12ms)`:                                            {Result: called("memory_search", `{"query":"x"}`, `{"results":[]}`, nil)},
		`· memory_get path="MEMORY.md" → 3 lines from line 1 of MEMORY.md (12ms)`:                 {Result: called("memory_get", `{"path":"MEMORY.md"}`, `{"path":"MEMORY.md","text":"...","from":1,"lines":3}`, nil)},
		`· other [1] → {"a":1} (12ms)`:                                                            {Result: called("other", `[1]`, `{"a":1}`, nil)},
		`· other → said (12ms)`:                                                                   {Result: called("other", `{}`, `"said"`, nil)},
		`· memory_get path="x" → failed: no such memory file (12ms)`:                              {Result: called("memory_get", `{"path":"x"}`, ``, memory.ErrNotFound)},
		"· pruned 1 old tool result: 40,000 characters are sent instead of 1,234,567":             {Pruned: &prune.Plan{New: make([]prune.Edit, 1), Before: 1234567, After: 40000}},
		"· flush done: stored 1 note in memory/2026-01-20.md:9":                                   {Flushed: &flush.Outcome{Outcome: session.FlushDone, Notes: []memory.Appended{{Path: "memory/2026-01-20.md", StartLine: 9}}}},
		"· flush done: stored 1 note in a.md:1, without 1 secret":                                 {Flushed: &flush.Outcome{Outcome: session.FlushDone, Notes: []memory.Appended{{Path: "a.md", StartLine: 1, Secrets: []memory.ReplacedSecret{{}}}}}},
		"· flush done: nothing new, 1 note known already":                                         {Flushed: &flush.Outcome{Outcome: session.FlushDone, Notes: []memory.Appended{{Path: "x.md", Deduplicated: true}}}},
		"· flush done: nothing to store":                                                          {Flushed: &flush.Outcome{Outcome: session.FlushDone}},
		"· compacted: a summary replaces the old messages, 800 tokens instead of 2,100":           {Compacted: &session.Compaction{TokensBefore: 2100, TokensAfter: 800}},
		"· something happened":                                                                    {Notice: "something happened"},
	} {
		v, screen := seen()
		v.event(e)
		if got := screen.String(); got != want+"\n" {
			t.Errorf("got  %qwant %q", got, want)
		}
	}
}

// Hazard F04: what a model, a tool or a note says stays on its line, short and without control of the terminal.
func TestToolLineIsShortAndClean(t *testing.T) {
	t.Parallel()
	long, _ := json.Marshal(map[string]string{"text": strings.Repeat("long\n\x1b[2J\u202e", 500), "b\x1b[31m": "x"})
	for _, r := range []*chat.Result{
		called("evil\x1b]0;t\a\nname", string(long), string(long), nil),
		called("evil", `"`+strings.Repeat("x", 5000)+`"`, ``, errors.New(strings.Repeat("why\n\x1b[31m", 500))),
	} {
		v, screen := seen()
		v.event(chat.Event{Result: r})
		got := screen.String()
		if strings.Count(got, "\n") != 1 || len(got) > 500 || strings.IndexFunc(got, render.Forbidden) >= 0 {
			t.Errorf("got %q", got)
		}
	}
}

func TestEventOfACallEndsTheLineOfTheAnswer(t *testing.T) {
	t.Parallel()
	v, screen := seen()
	v.event(chat.Event{Text: "Let me look."})
	v.event(chat.Event{Call: &llm.ToolCall{Name: "memory_search"}})
	v.event(chat.Event{Text: "Found."})
	v.done()
	if got := screen.String(); got != "Let me look.\nFound.\n" {
		t.Errorf("got %q", got)
	}
}

package echo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// memoryTools are the tools of a conversation with a memory.
var memoryTools = []llm.Tool{{Name: "memory_search"}, {Name: "memory_get"}, {Name: "memory_append"}}

const flushMessage = "The conversation is about to be compacted. Save now, or answer NO_REPLY."

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

func assistant(text string) llm.Message { return llm.Message{Role: llm.RoleAssistant, Text: text} }

// generate returns the answer to req, and fails the test unless it was streamed whole.
func generate(t *testing.T, req llm.Request) llm.Response {
	t.Helper()
	streamed := llm.Message{Role: llm.RoleAssistant}
	resp, err := new(Model).Generate(t.Context(), req, func(e llm.Event) {
		streamed.Text += e.Text
		if e.ToolCall != nil {
			streamed.ToolCalls = append(streamed.ToolCalls, *e.ToolCall)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(resp.Message, streamed); diff != "" {
		t.Errorf("answered and streamed: %s", diff)
	}
	return resp
}

// calls returns the tool calls of an answer, one a line.
func calls(resp llm.Response) string {
	var all []string
	for _, c := range resp.Message.ToolCalls {
		all = append(all, c.Name+" "+string(c.Input))
	}
	return strings.Join(all, "\n")
}

// flushed returns the notes that are stored of a conversation, one a line.
func flushed(t *testing.T, conversation ...llm.Message) string {
	t.Helper()
	resp := generate(t, llm.Request{Messages: append(conversation, user(flushMessage)), Tools: memoryTools})
	var notes []string
	for _, c := range resp.Message.ToolCalls {
		var input struct{ Text string }
		if err := json.Unmarshal(c.Input, &input); err != nil || c.Name != "memory_append" {
			t.Fatalf("%+v, %v", c, err)
		}
		notes = append(notes, input.Text)
	}
	if len(notes) > maxNotes || len(notes) == 0 && resp.Message.Text != "NO_REPLY" {
		t.Errorf("%d notes, answered %q", len(notes), resp.Message.Text)
	}
	return strings.Join(notes, "\n")
}

func TestAnswerQuotesTheFirstRecalledMemory(t *testing.T) {
	t.Parallel()
	system := "See notes.md#L1.\n\n<recalled-memories id=\"0123456789abcdef\">\n" +
		`{"source":"memory/2026-01-02.md#L3-L5","agent":"main","score":0.71,"text":"The deploy key is\nin vault 7."}` + "\n" +
		`{"source":"b.md#L1","text":"Other."}` + "\n</recalled-memories id=\"0123456789abcdef\">"
	got := generate(t, llm.Request{System: system, Messages: []llm.Message{user("where is the deploy key?")}, Tools: memoryTools})
	if want := "I recall from memory/2026-01-02.md#L3-L5: The deploy key is in vault 7."; got.Message.Text != want || got.Stop != llm.StopEnd {
		t.Errorf("%q", got.Message.Text)
	}
	got = generate(t, llm.Request{System: "# Identity", Messages: []llm.Message{user("where is it?")}})
	if want := "I recall nothing about that. You said: where is it?"; got.Message.Text != want {
		t.Errorf("without memories: %q", got.Message.Text)
	}
}

func TestAnswerQuotesWhatStandsInThePrompt(t *testing.T) {
	t.Parallel()
	system := "## Memory\n\n### Evergreen Memory\n\n# Task runner\n\n- The task runner is called tanuki.\n- 自転車の鍵の番号は七四一九です。\n\n### Using Memory\n\n- The task runner is no tool."
	for message, want := range map[string]string{
		"What is the task runner called?":       "I recall from MEMORY.md: The task runner is called tanuki.",
		"[Ana] What is the task runner called?": "I recall from MEMORY.md: The task runner is called tanuki.",
		"自転車の鍵は?":                               "I recall from MEMORY.md: 自転車の鍵の番号は七四一九です。",
		"Where is the runner?":                  "I recall nothing about that. You said: Where is the runner?",
	} {
		got := generate(t, llm.Request{System: system, Messages: []llm.Message{user(message)}, Tools: memoryTools})
		if got.Message.Text != want {
			t.Errorf("%s: %q", message, got.Message.Text)
		}
	}
}

func TestAnswerQuotesAtMost300Characters(t *testing.T) {
	t.Parallel()
	system := `<recalled-memories id="1">` + "\n" + `{"source":"a.md#L1","text":"` + strings.Repeat("お茶", 400) + `"}`
	got := generate(t, llm.Request{System: system, Messages: []llm.Message{user("お茶は?")}})
	if want := "I recall from a.md#L1: " + strings.Repeat("お茶", 149) + "お…"; got.Message.Text != want {
		t.Errorf("%q", got.Message.Text)
	}
}

func TestCommandsCallTools(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"remember that the tea is in the blue tin": `memory_append {"text":"the tea is in the blue tin"}`,
		"Please remember: call Ann":                `memory_append {"text":"call Ann"}`,
		"覚えて：鍵は机の中":                                `memory_append {"text":"鍵は机の中"}`,
		"记住：茶在蓝色的罐子里":                              `memory_append {"text":"茶在蓝色的罐子里"}`,
		"search for blue tin":                      `memory_search {"query":"blue tin"}`,
		"検索：お茶":                                    `memory_search {"query":"お茶"}`,
		"搜索 茶叶":                                    `memory_search {"query":"茶叶"}`,
		"hello":                                    "",
		"do you remember the tea?":                 "",
	} {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			req := llm.Request{Messages: []llm.Message{user(message)}, Tools: memoryTools}
			if got := generate(t, req); calls(got) != want || (got.Stop == llm.StopTools) != (want != "") {
				t.Errorf("called %q", calls(got))
			}
			req.Tools = nil
			if got := generate(t, req); calls(got) != "" || got.Message.Text == "" {
				t.Errorf("without tools: %+v", got.Message)
			}
		})
	}
}

func TestAnswerContainsTheResultOfATool(t *testing.T) {
	t.Parallel()
	for want, result := range map[string]llm.Message{
		"I have remembered it in memory/2026-01-02.md.": {ToolName: "memory_append", Text: `{"path":"memory/2026-01-02.md","start_line":3}`},
		"I found in a.md#L1: blue tin":                  {ToolName: "memory_search", Text: `{"results":[{"path":"a.md","citation":"a.md#L1","snippet":"blue\n tin"},{"snippet":"no"}]}`},
		"I found nothing about that.":                   {ToolName: "memory_search", Text: `{"results":[]}`},
		"The tool now answers: a line of a file.":       {ToolName: "now", Text: "a line\nof a file."},
		"The tool memory_append failed: read-only":      {ToolName: "memory_append", Text: "read-only", Failed: true},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			result.Role, result.ToolCallID = llm.RoleTool, "1"
			got := generate(t, llm.Request{Tools: memoryTools, Messages: []llm.Message{user("remember the tin"),
				{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: result.ToolName}}}, result}})
			if got.Message.Text != want || len(got.Message.ToolCalls) > 0 {
				t.Errorf("%+v", got.Message)
			}
		})
	}
}

func TestFlushStoresEachSentenceThatIsNoQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ message, want string }{
		"English":         {"My cat is called Miso. How are you? We use port 8443 on api.example.com, v1.4.2.", "My cat is called Miso.\nWe use port 8443 on api.example.com, v1.4.2."},
		"Japanese":        {"私の誕生日は五月三日です。天気はどう?猫は元気ですか。明日は東京へ行きます", "私の誕生日は五月三日です。\n明日は東京へ行きます"},
		"Chinese":         {"我的狗是柯基。你喜欢茶吗？我住在厦门！你是谁呢", "我的狗是柯基。\n我住在厦门！"},
		"lines":           {"- The first of two\n- the second one", "The first of two\nthe second one"},
		"small talk":      {"ok. Thanks! Hello there", ""},
		"question":        {"Where is the key? (the old one?)", ""},
		"program's words": {"[My notes are in memory already.]", ""},
		"summary":         {"Summary of the conversation up to here:\n\n## Decisions\n- We decided to move.", ""},
		"search":          {"search for the blue tin", ""},
		"command":         {"Remember that my boat is red.", "my boat is red."},
		"twice":           {"My boat is red. My boat is red.", "My boat is red."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, flushed(t, user(c.message), assistant("My name is Echo, and I decided that."))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFlushStoresManySentencesInFewNotes(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("My number %d is %d.", i, i*i))
	}
	if diff := cmp.Diff(strings.Join(all, "\n"), flushed(t, user(strings.Join(all, " ")))); diff != "" {
		t.Error(diff)
	}
}

func TestFlushStoresNothingTwice(t *testing.T) {
	t.Parallel()
	req := llm.Request{Messages: []llm.Message{user("My desk is blue."), user(flushMessage)}, Tools: memoryTools}
	first := generate(t, req)
	req.Messages = append(req.Messages, first.Message)
	for _, c := range first.Message.ToolCalls {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, ToolName: c.Name, Text: "{}"})
	}
	if got := generate(t, req); got.Message.Text != "NO_REPLY" || calls(got) != "" {
		t.Errorf("after the results: %+v", got.Message)
	}
	req.Messages = append(req.Messages, assistant("NO_REPLY"), user(flushMessage))
	if got := generate(t, req); got.Message.Text != "NO_REPLY" || calls(got) != "" {
		t.Errorf("the second time: %+v", got.Message)
	}
}

func TestFlushStoresWhatFailedBefore(t *testing.T) {
	t.Parallel()
	call := llm.ToolCall{ID: "echo_1_0", Name: "memory_append", Input: json.RawMessage(`{"text":"my boat is red"}`)}
	for failed, want := range map[bool]string{true: "my boat is red", false: ""} {
		got := flushed(t, user("Remember that my boat is red"), llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}},
			llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Text: "done", Failed: failed})
		if got != want {
			t.Errorf("failed %v: stored %q", failed, got)
		}
	}
}

func TestSummaryHasTheSectionsAndTheRequiredIdentifiers(t *testing.T) {
	t.Parallel()
	got := generate(t, llm.Request{
		System: "You summarise the old part of a conversation.\n\n## Decisions\nWhat.\n\n## Constraints\n\n## Identifiers",
		Messages: []llm.Message{user("Summarise this.\n\nThese identifiers must stand in the summary, letter for letter:\n- 19:55\n- INC-4711\n\n" +
			"<conversation>\n[user]\n  We decided to ship kioku v1.4.2. Who owns INC-4711?\n  我们七点五十五分见面。\n</conversation>")},
	})
	want := "## Decisions\n- We decided to ship kioku v1.4.2.\n- 我们七点五十五分见面。\n\n## Constraints\n- (none)\n\n## Identifiers\n- 19:55\n- INC-4711"
	if diff := cmp.Diff(want, got.Message.Text); diff != "" {
		t.Error(diff)
	}
}

func TestGenerateRefusesALongPrompt(t *testing.T) {
	t.Parallel()
	req := llm.Request{System: strings.Repeat("word ", 200), Messages: []llm.Message{user("hi")}}
	if _, err := (&Model{Tokens: 100}).Generate(t.Context(), req, nil); llm.KindOf(err) != llm.KindOverflow {
		t.Errorf("%v", err)
	}
}

func TestGenerateStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	parts := 0
	_, err := new(Model).Generate(ctx, llm.Request{Messages: []llm.Message{user("hi")}}, func(llm.Event) {
		parts++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || parts != 1 {
		t.Errorf("%v after %d parts", err, parts)
	}
}

func FuzzGenerateAnswersEverything(f *testing.F) {
	for _, s := range []string{"hi", "remember", "覚えて", "Summarize\n## A", "NO_REPLY", `<recalled-memories id=` + "\n" + `{"source":"a","text":"b"}`, "\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, system, message string) {
		for _, req := range []llm.Request{
			{System: system, Messages: []llm.Message{user(message)}},
			{System: system, Messages: []llm.Message{user(system), assistant(message), user(message)}, Tools: memoryTools},
			{System: system, Messages: []llm.Message{user(message), {Role: llm.RoleTool, Text: system}}, Tools: memoryTools},
			{System: "Summarise.\n## A\n" + system, Messages: []llm.Message{user(message)}},
		} {
			got := generate(t, req)
			if diff := cmp.Diff(got, generate(t, req)); diff != "" {
				t.Error(diff)
			}
			if got.Message.Text == "" && len(got.Message.ToolCalls) == 0 {
				t.Errorf("nothing to %+v", req)
			}
		}
	})
}

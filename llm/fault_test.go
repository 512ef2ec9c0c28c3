package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// claudeCall is an answer of Anthropic with a call whose arguments come as they are given.
func claudeCall(arguments, stop string) reply {
	events := []string{claudes[0], `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"memory_append","input":{}}}`}
	if arguments != "" {
		events = append(events, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+quoted(arguments)+`}}`)
	}
	events = append(events, `{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"`+stop+`"},"usage":{"output_tokens":4}}`, claudes[14])
	return reply{header: eventStream, body: sse(events...)}
}

// openAICall is the same of OpenAI.
func openAICall(arguments, stop string) reply {
	return reply{header: eventStream, body: sse(
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"memory_append","arguments":`+quoted(arguments)+`}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"`+stop+`"}]}`, "[DONE]")}
}

// A tool call cut by max_tokens, and bad JSON, are told as what they are, for each provider.
func TestAnswersTellWhatIsWrongWithACall(t *testing.T) {
	t.Parallel()
	const half, whole, bad = `{"text":"The locker`, `{"text":"tea"}`, `{"text": tea}`
	for name, c := range map[string]struct {
		provider string
		reply    reply
		stop     string
		input    string
		fault    string
	}{
		"anthropic cut":        {"anthropic", claudeCall(half, "max_tokens"), llm.StopLength, quoted(half), llm.FaultCutOff},
		"anthropic not begun":  {"anthropic", claudeCall("", "max_tokens"), llm.StopLength, `{}`, llm.FaultCutOff},
		"anthropic window":     {"anthropic", claudeCall(half, "model_context_window_exceeded"), llm.StopLength, quoted(half), llm.FaultCutOff},
		"anthropic whole":      {"anthropic", claudeCall(whole, "tool_use"), llm.StopTools, whole, ""},
		"anthropic bad JSON":   {"anthropic", claudeCall(bad, "tool_use"), llm.StopTools, quoted(bad), llm.FaultNoJSON},
		"anthropic no input":   {"anthropic", claudeCall("", "tool_use"), llm.StopTools, `{}`, ""},
		"openai cut":           {"openai", openAICall(half, "length"), llm.StopLength, quoted(half), llm.FaultCutOff},
		"openai complete, cut": {"openai", openAICall(whole, "length"), llm.StopLength, whole, ""},
		"openai bad JSON":      {"openai", openAICall(bad, "tool_calls"), llm.StopTools, quoted(bad), llm.FaultNoJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m := serve(t, llm.Config{Provider: c.provider}, c.reply)
			got, err := m.Generate(t.Context(), hi(), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := []llm.ToolCall{{ID: "t", Name: "memory_append", Input: []byte(c.input), Fault: c.fault}}
			if diff := cmp.Diff(want, got.Message.ToolCalls); diff != "" || got.Stop != c.stop {
				t.Errorf("stop %s, %s", got.Stop, diff)
			}
		})
	}
}

// A refusal is told as what it is, for each provider.
func TestAnswersTellARefusal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		provider string
		reply    reply
		text     string
	}{
		"anthropic": {"anthropic", reply{header: eventStream, body: sse(claudes[0], `{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":1}}`, claudes[14])}, ""},
		"openai":    {"openai", reply{header: eventStream, body: sse(`{"choices":[{"delta":{"refusal":"I can't."},"finish_reason":"stop"}]}`, "[DONE]")}, "I can't."},
		"filter":    {"openai", reply{header: eventStream, body: sse(`{"choices":[{"delta":{"content":"So"},"finish_reason":"content_filter"}]}`, "[DONE]")}, "So"},
	} {
		_, m := serve(t, llm.Config{Provider: c.provider}, c.reply)
		got, err := m.Generate(t.Context(), hi(), nil)
		if err != nil || got.Stop != llm.StopRefusal || got.Message.Text != c.text {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// quoted is a text as JSON.
func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

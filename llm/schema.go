package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// describeSchema returns req with a description of its schema in the system prompt, unless the server enforces it.
func describeSchema(req Request, mode schemaMode) Request {
	if mode == schemaEnforced || mode == noSchema {
		return req
	}
	req.System = strings.TrimSpace(req.System + "\n\nAnswer with one JSON value and nothing else: no explanation, no code fence. " +
		"It must be valid against this JSON Schema:\n" + string(req.Schema))
	return req
}

// bareJSON returns resp with only the JSON value in its text. It does not change an answer with tool calls.
func bareJSON(provider string, resp Response) (Response, error) {
	if len(resp.Message.ToolCalls) > 0 {
		return resp, nil
	}
	text := strings.TrimSpace(resp.Message.Text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner = strings.TrimPrefix(inner, "json")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), "```"))
	}
	if !json.Valid([]byte(text)) {
		why := "is not the JSON that was asked for"
		if resp.Stop == StopLength {
			why = "was cut off before its JSON was complete: allow it more tokens"
		}
		return Response{Usage: resp.Usage}, &Error{Kind: KindAnswer,
			Message: fmt.Sprintf("%s: the answer of %d characters %s", provider, len([]rune(text)), why)}
	}
	resp.Message.Text = text
	return resp, nil
}

// textsOf returns the texts of a request that no error may show. Very short texts are words that errors need.
func textsOf(req Request) []string {
	texts := []string{req.System}
	for _, m := range req.Messages {
		texts = append(texts, m.Text, m.Turn)
		for _, c := range m.ToolCalls {
			texts = append(texts, string(c.Input))
		}
	}
	return slices.DeleteFunc(texts, func(text string) bool { return len(text) < 12 })
}

// maxBrokenInput bounds in bytes the input of a tool that is not JSON.
const maxBrokenInput = 10_000

// inputOf returns the input that a model wrote for a tool as JSON: an empty object if it wrote nothing, and a JSON string and
// a fault if it is not JSON.
func inputOf(arguments string) (input json.RawMessage, fault string) {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		return json.RawMessage("{}"), ""
	}
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments), ""
	}
	quoted, _ := json.Marshal(arguments[:min(len(arguments), maxBrokenInput)]) // a string always has a JSON form
	return quoted, FaultNoJSON
}

// objectOf returns the input of a tool as a JSON object, which providers require.
func objectOf(input json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) == nil && object != nil {
		return input
	}
	if !json.Valid(input) {
		return json.RawMessage("{}")
	}
	wrapped, _ := json.Marshal(map[string]json.RawMessage{"input": input}) // valid JSON in valid JSON
	return wrapped
}

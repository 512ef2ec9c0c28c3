package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kioku/internal/modelhttp"
)

// inWords returns req with its schema told in the system prompt, where the server alone does not see to it.
func inWords(req Request, h hold) Request {
	if h == bySchema {
		return req
	}
	req.System = strings.TrimSpace(req.System + "\n\nAnswer with one JSON value and nothing else: no explanation, no code fence. " +
		"It must be valid against this JSON Schema:\n" + string(req.Schema))
	return req
}

// bareJSON returns resp with nothing but the JSON value in its text. An answer with tool calls is left as it is.
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
		return Response{Usage: resp.Usage}, &Error{Kind: KindAnswer, final: true,
			Message: fmt.Sprintf("%s: the answer of %d characters %s", provider, len([]rune(text)), why)}
	}
	resp.Message.Text = text
	return resp, nil
}

// textWindow bytes in a row of a request's text are not shown in an error. Fewer would hide much of what servers say.
const textWindow = 40

// textsOf returns the texts of a request that no error may show. Very short ones are words that errors need.
func textsOf(req Request) []string {
	texts := []string{req.System}
	for _, m := range req.Messages {
		texts = append(texts, m.Text)
		for _, c := range m.ToolCalls {
			texts = append(texts, string(c.Input))
		}
	}
	return slices.DeleteFunc(texts, func(text string) bool { return len(text) < 12 })
}

// inputOf returns what a model wrote as a tool's input as JSON: an empty object where it wrote nothing, and a JSON string
// where it is no JSON, so that the tool can say so.
func inputOf(arguments string) json.RawMessage {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	quoted, _ := json.Marshal(modelhttp.Shorten(arguments, 10_000)) // a string always has a JSON form
	return quoted
}

// objectOf returns a tool's input as the JSON object that providers insist on.
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

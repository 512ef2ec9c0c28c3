package derivetest

import (
	"cmp"
	"encoding/json"
	"fmt"

	"kioku/llm"
)

// chatPath is the end of the addresses that ask a model, in the wire format of OpenAI's chat completions.
const chatPath = "/chat/completions"

// object is a JSON object.
type object = map[string]any

// encode returns the JSON of a value of which all parts have one.
func encode(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return b
}

// readChat returns the system prompt and the texts of a request.
func readChat(body []byte) (Request, error) {
	var c struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return Request{}, fmt.Errorf("a request is no JSON: %w", err)
	}
	var system, user []string
	for _, m := range c.Messages {
		if m.Role == "system" {
			system = append(system, m.Content)
		} else {
			user = append(user, m.Content)
		}
	}
	return Request{System: texts(system), User: texts(user)}, nil
}

// chatBody returns the body of an answer.
func chatBody(s *step) []byte {
	reason := cmp.Or(map[string]string{llm.StopEnd: "stop", llm.StopRefusal: "content_filter"}[s.stop], s.stop)
	return sse(
		encode(object{"choices": []any{object{"index": 0, "delta": object{"role": "assistant", "content": s.text}}}}),
		encode(object{"choices": []any{object{"index": 0, "delta": object{}, "finish_reason": reason}}}),
		encode(object{"choices": []any{}, "usage": object{"prompt_tokens": s.in, "completion_tokens": s.out}}),
		[]byte("[DONE]"))
}

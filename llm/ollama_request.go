package llm

import "encoding/json"

// ollamaBody is a request to /api/chat.
type ollamaBody struct {
	Model    string          `json:"model"`
	Messages []openAIMessage `json:"messages"`
	Tools    []openAITool    `json:"tools,omitempty"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  map[string]int  `json:"options,omitempty"`
	// Truncate is false so that the server refuses a prompt that is too long and does not cut it silently; older servers
	// ignore it.
	Truncate bool `json:"truncate"`
}

func (o *ollama) body(req Request, mode schemaMode) ollamaBody {
	b := ollamaBody{Model: o.model, Tools: functions(req.Tools), Stream: true, Options: map[string]int{}}
	if req.System != "" {
		b.Messages = append(b.Messages, openAIMessage{Role: "system", Content: req.System})
	}
	for _, m := range req.Messages {
		message := openAIMessage{Role: string(m.Role), Content: withTurn(m), ToolName: m.ToolName}
		for _, image := range m.Images {
			message.Images = append(message.Images, image.Data)
		}
		for _, c := range m.ToolCalls {
			message.ToolCalls = append(message.ToolCalls, openAICall{Function: openAIFunction{c.Name, objectOf(c.Input)}})
		}
		b.Messages = append(b.Messages, message)
	}
	if mode == schemaEnforced {
		b.Format, b.Options["temperature"] = req.Schema, 0 // small models leave the schema's meaning otherwise
	}
	if req.MaxTokens > 0 {
		b.Options["num_predict"] = req.MaxTokens
	}
	if tokens := o.win.model(); tokens > 0 {
		b.Options["num_ctx"] = tokens
	}
	return b
}

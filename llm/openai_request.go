package llm

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
)

// openAIBody is a request of OpenAI's chat completions.
type openAIBody struct {
	Model      string          `json:"model"`
	Messages   []openAIMessage `json:"messages"`
	Tools      []openAITool    `json:"tools,omitempty"`
	Stream     bool            `json:"stream"`
	StreamWith map[string]bool `json:"stream_options,omitempty"`
	// OpenAI's newer models refuse max_tokens, other servers know only max_tokens.
	MaxTokens           int `json:"max_tokens,omitempty"`
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
	Format              any `json:"response_format,omitempty"`
	// CacheKey leads the requests of a conversation to the machine that has its prefix in the cache. Only OpenAI's own servers
	// are sent one; others may refuse what they do not know.
	CacheKey string `json:"prompt_cache_key,omitempty"`
}

// openAIMessage is a message in the form of OpenAI and of Ollama.
type openAIMessage struct {
	Role       string       `json:"role"`
	Content    any          `json:"content"`          // a string; for OpenAI also a list of parts, or null
	Images     [][]byte     `json:"images,omitempty"` // only for Ollama
	ToolCalls  []openAICall `json:"tool_calls,omitempty"`
	ToolCallID string       `json:"tool_call_id,omitempty"` // only for OpenAI
	ToolName   string       `json:"tool_name,omitempty"`    // only for Ollama
}

// openAICall is a tool call. Only OpenAI has ID and Type.
type openAICall struct {
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"` // an object for Ollama, its JSON as a string for OpenAI
}

type openAITool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (o *openAI) body(req Request, mode schemaMode) openAIBody {
	b := openAIBody{Model: o.model, Messages: openAIMessages(req), Tools: functions(req.Tools), Stream: true,
		StreamWith: map[string]bool{"include_usage": true}}
	if o.own {
		b.MaxCompletionTokens, b.CacheKey = req.MaxTokens, cacheKey(req.Conversation)
	} else {
		b.MaxTokens = req.MaxTokens
	}
	switch mode {
	case schemaEnforced:
		schema := map[string]any{"name": "answer", "schema": req.Schema}
		if isStrict(req.Schema) {
			schema["strict"] = true
		}
		b.Format = map[string]any{"type": "json_schema", "json_schema": schema}
	case jsonEnforced:
		b.Format = map[string]any{"type": "json_object"}
	}
	return b
}

// cacheKey returns the name of a conversation in a form that tells nothing of it; empty if it has none.
func cacheKey(conversation string) string {
	if conversation == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(conversation))
	return hex.EncodeToString(sum[:16])
}

// withTurn returns the text of a message and what it is sent with.
func withTurn(m Message) string {
	if m.Text == "" || m.Turn == "" {
		return m.Text + m.Turn
	}
	return m.Text + "\n\n" + m.Turn
}

// functions returns tools in the form of OpenAI and of Ollama.
func functions(tools []Tool) []openAITool {
	var all []openAITool
	for _, t := range tools {
		f := openAITool{Type: "function"}
		f.Function.Name, f.Function.Description, f.Function.Parameters = t.Name, t.Description, t.Schema
		all = append(all, f)
	}
	return all
}

func openAIMessages(req Request) []openAIMessage {
	var all []openAIMessage
	if req.System != "" {
		all = append(all, openAIMessage{Role: "system", Content: req.System})
	}
	var shown []Image // by tools; their messages cannot contain images, which follow after the last result
	for i, m := range req.Messages {
		all = appendOpenAI(all, openAIMessageOf(m))
		if m.Role == RoleTool {
			shown = append(shown, m.Images...)
		}
		last := i+1 == len(req.Messages) || req.Messages[i+1].Role != RoleTool
		if last && len(shown) > 0 {
			all = append(all, openAIMessage{Role: "user", Content: parts(Message{Text: "The images of the tool results above:", Images: shown})})
			shown = nil
		}
	}
	return all
}

// appendOpenAI appends a message. Consecutive texts of the user, as after a failed answer or a summary, become one: some
// servers' templates do not accept two messages of the same role in a row.
func appendOpenAI(all []openAIMessage, m openAIMessage) []openAIMessage {
	if n := len(all); n > 0 && m.Role == "user" && all[n-1].Role == "user" {
		before, plain := all[n-1].Content.(string)
		if text, alsoPlain := m.Content.(string); plain && alsoPlain {
			all[n-1].Content = before + "\n\n" + text
			return all
		}
	}
	return append(all, m)
}

func openAIMessageOf(m Message) openAIMessage {
	switch m.Role {
	case RoleTool:
		return openAIMessage{Role: "tool", Content: m.Text, ToolCallID: m.ToolCallID}
	case RoleAssistant:
		message := openAIMessage{Role: "assistant", Content: m.Text}
		if m.Text == "" && len(m.ToolCalls) > 0 {
			message.Content = nil
		}
		for _, c := range m.ToolCalls {
			message.ToolCalls = append(message.ToolCalls, openAICall{ID: c.ID, Type: "function",
				Function: openAIFunction{Name: c.Name, Arguments: string(objectOf(c.Input))}})
		}
		return message
	}
	if len(m.Images) > 0 {
		return openAIMessage{Role: "user", Content: parts(m)}
	}
	return openAIMessage{Role: "user", Content: withTurn(m)}
}

// parts returns the text and the images of a message as a list.
func parts(m Message) []map[string]any {
	var all []map[string]any
	if text := withTurn(m); text != "" {
		all = append(all, map[string]any{"type": "text", "text": text})
	}
	for _, image := range m.Images {
		address := "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		all = append(all, map[string]any{"type": "image_url", "image_url": map[string]string{"url": address}})
	}
	return all
}

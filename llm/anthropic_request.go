package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// anthropicTokens bounds an answer if neither request nor settings do; the API requires a number.
const anthropicTokens = 8192

// anthropicBody is a request of the Messages API.
type anthropicBody struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	Stream    bool               `json:"stream"`
	Tools     []anthropicTool    `json:"tools,omitempty"`
	System    []anthropicBlock   `json:"system,omitempty"`
	Messages  []anthropicMessage `json:"messages"`
	Output    any                `json:"output_config,omitempty"`
}

// anthropicMessage is a message of the user's side or of the assistant's.
type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

// anthropicBlock is a block of a message, also one of an answer.
type anthropicBlock struct {
	Type string `json:"type"` // "text", "image", "tool_use" or "tool_result"
	Text string `json:"text,omitempty"`
	// Source of an image.
	Source *anthropicImage `json:"source,omitempty"`
	// ID, Name and Input of a call.
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// CallID, Failed and Content of a result.
	CallID  string           `json:"tool_use_id,omitempty"`
	Failed  bool             `json:"is_error,omitempty"`
	Content []anthropicBlock `json:"content,omitempty"`
	// Cache marks up to where a request is cached.
	Cache *anthropicCache `json:"cache_control,omitempty"`

	arguments string // of a call in an answer, as far as they have come
}

type anthropicImage struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *anthropicCache `json:"cache_control,omitempty"`
}

type anthropicCache struct {
	Type string `json:"type"`
}

// cached is the one kind of mark.
var cached = &anthropicCache{Type: "ephemeral"}

// body returns req in Anthropic's form. It returns an error for a schema that is not a JSON object.
func (a *anthropicAPI) body(req Request, mode schemaMode) (anthropicBody, error) {
	b := anthropicBody{Model: a.model, MaxTokens: anthropicTokens, Stream: true,
		System: anthropicSystem(req.System, req.CachedBytes), Messages: anthropicMessages(req.Messages)}
	if req.MaxTokens > 0 {
		b.MaxTokens = req.MaxTokens
	}
	for _, t := range req.Tools {
		schema, err := objectSchema(t.Schema)
		if err != nil {
			return b, fmt.Errorf("the schema of the tool %s is no JSON object: %w", t.Name, err)
		}
		b.Tools = append(b.Tools, anthropicTool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	if mode == schemaEnforced {
		schema, err := closeObjects(req.Schema)
		if err != nil {
			return b, fmt.Errorf("the schema of the answer is no JSON object: %w", err)
		}
		b.Output = map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}}
	}
	if req.Conversation != "" {
		b.setBreakpoints()
	}
	return b, nil
}

// setBreakpoints marks up to where a request is cached: the tools, and the messages up to the newest of the user's side and up
// to the one before it, with which the request before ended. The stable head of the system prompt has its own mark, so there
// are four at most, which is what the API takes.
func (b *anthropicBody) setBreakpoints() {
	if n := len(b.Tools); n > 0 {
		b.Tools[n-1].Cache = cached
	}
	left := 2
	for _, m := range slices.Backward(b.Messages) {
		if m.Role == "user" && left > 0 {
			m.Content[len(m.Content)-1].Cache = cached
			left--
		}
	}
}

// anthropicSystem returns the system prompt as one block that is cached and one that changes. The API accepts no blank
// blocks.
func anthropicSystem(system string, stable int) []anthropicBlock {
	stable = min(max(stable, 0), len(system))
	for stable > 0 && stable < len(system) && !utf8.RuneStart(system[stable]) {
		stable--
	}
	var blocks []anthropicBlock
	if head := system[:stable]; strings.TrimSpace(head) != "" {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: head, Cache: cached})
	}
	return append(blocks, textBlocks(system[stable:])...)
}

// textBlocks returns a text as a block, none if it is blank.
func textBlocks(text string) []anthropicBlock {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []anthropicBlock{{Type: "text", Text: text}}
}

// anthropicMessages returns the messages in Anthropic's form, in which the results of all calls of one message are in the one
// user message after it.
func anthropicMessages(messages []Message) []anthropicMessage {
	var all []anthropicMessage
	for _, m := range messages {
		role, blocks := "user", anthropicBlocks(m)
		if m.Role == RoleAssistant {
			role = "assistant"
		}
		if len(blocks) == 0 {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Role == role {
			all[n-1].Content = append(all[n-1].Content, blocks...)
			continue
		}
		all = append(all, anthropicMessage{Role: role, Content: blocks})
	}
	return all
}

func anthropicBlocks(m Message) []anthropicBlock {
	var images []anthropicBlock
	for _, image := range m.Images {
		images = append(images, anthropicBlock{Type: "image", Source: &anthropicImage{"base64", image.MediaType, image.Data}})
	}
	if m.Role == RoleTool {
		return []anthropicBlock{{Type: "tool_result", CallID: m.ToolCallID, Failed: m.Failed, Content: append(textBlocks(m.Text), images...)}}
	}
	text := m.Text
	if m.Role == RoleAssistant {
		text = strings.TrimRight(text, " \n\t") // the API refuses white space at the end
	}
	blocks := slices.Concat(images, textBlocks(text), textBlocks(m.Turn))
	for _, c := range m.ToolCalls {
		blocks = append(blocks, anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: objectOf(c.Input)})
	}
	return blocks
}

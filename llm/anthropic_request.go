package llm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// params returns req in Anthropic's form. It returns an error for a schema that is not a JSON object.
func (a *anthropicAPI) params(req Request, mode schemaMode) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{Model: anthropic.Model(a.model), MaxTokens: anthropicTokens,
		System: anthropicSystem(req.System, req.CachedBytes), Messages: anthropicMessages(req.Messages)}
	if req.MaxTokens > 0 {
		p.MaxTokens = int64(req.MaxTokens)
	}
	for _, t := range req.Tools {
		tool, err := anthropicTool(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, tool)
	}
	if mode == schemaEnforced {
		schema, err := closeObjects(req.Schema)
		if err != nil {
			return p, fmt.Errorf("the schema of the answer is no JSON object: %w", err)
		}
		p.OutputConfig.Format = param.Override[anthropic.JSONOutputFormatParam](answerFormat{Type: "json_schema", Schema: schema})
	}
	if req.Conversation != "" {
		setBreakpoints(&p)
	}
	return p, nil
}

// answerFormat is the form of an answer, with a schema whose keys keep their order.
type answerFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// anthropicTool returns a tool whose schema has the bytes of t.Schema: a provider caches bytes, and the SDK's own form of a
// schema has another order of keys each time.
func anthropicTool(t Tool) (anthropic.ToolUnionParam, error) {
	schema, err := objectSchema(t.Schema)
	if err != nil {
		return anthropic.ToolUnionParam{}, fmt.Errorf("the schema of the tool %s is no JSON object: %w", t.Name, err)
	}
	tool := anthropic.ToolParam{Name: t.Name, InputSchema: param.Override[anthropic.ToolInputSchemaParam](schema)}
	if t.Description != "" {
		tool.Description = param.NewOpt(t.Description)
	}
	return anthropic.ToolUnionParam{OfTool: &tool}, nil
}

// setBreakpoints marks up to where a request is cached: the tools, and the messages up to the newest of the user's side and up
// to the one before it, with which the request before ended. The stable head of the system prompt has its own mark, so there
// are four at most, which is what the API takes.
func setBreakpoints(p *anthropic.MessageNewParams) {
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	left := 2
	for _, m := range slices.Backward(p.Messages) {
		if m.Role != anthropic.MessageParamRoleUser || len(m.Content) == 0 {
			continue
		}
		if mark := m.Content[len(m.Content)-1].GetCacheControl(); mark != nil {
			*mark = anthropic.NewCacheControlEphemeralParam()
			left--
		}
		if left == 0 {
			return
		}
	}
}

// anthropicSystem returns the system prompt as one block that is cached and one that changes. The API accepts no blank
// blocks.
func anthropicSystem(system string, cached int) []anthropic.TextBlockParam {
	cached = min(max(cached, 0), len(system))
	for cached > 0 && cached < len(system) && !utf8.RuneStart(system[cached]) {
		cached--
	}
	var blocks []anthropic.TextBlockParam
	if head := system[:cached]; strings.TrimSpace(head) != "" {
		blocks = append(blocks, anthropic.TextBlockParam{Text: head, CacheControl: anthropic.NewCacheControlEphemeralParam()})
	}
	if tail := system[cached:]; strings.TrimSpace(tail) != "" {
		blocks = append(blocks, anthropic.TextBlockParam{Text: tail})
	}
	return blocks
}

// anthropicMessages returns the messages in Anthropic's form, in which the results of all calls of one message are in the one
// user message after it.
func anthropicMessages(messages []Message) []anthropic.MessageParam {
	var all []anthropic.MessageParam
	for _, m := range messages {
		role, blocks := anthropic.MessageParamRoleUser, anthropicBlocks(m)
		if m.Role == RoleAssistant {
			role = anthropic.MessageParamRoleAssistant
		}
		if len(blocks) == 0 {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Role == role {
			all[n-1].Content = append(all[n-1].Content, blocks...)
			continue
		}
		all = append(all, anthropic.MessageParam{Role: role, Content: blocks})
	}
	return all
}

func anthropicBlocks(m Message) []anthropic.ContentBlockParamUnion {
	if m.Role == RoleTool {
		return []anthropic.ContentBlockParamUnion{{OfToolResult: anthropicResult(m)}}
	}
	var blocks []anthropic.ContentBlockParamUnion
	for _, image := range m.Images {
		blocks = append(blocks, anthropic.NewImageBlockBase64(image.MediaType, base64.StdEncoding.EncodeToString(image.Data)))
	}
	if strings.TrimSpace(m.Text) != "" {
		text := m.Text
		if m.Role == RoleAssistant {
			text = strings.TrimRight(text, " \n\t") // the API refuses white space at the end
		}
		blocks = append(blocks, anthropic.NewTextBlock(text))
	}
	if strings.TrimSpace(m.Turn) != "" {
		blocks = append(blocks, anthropic.NewTextBlock(m.Turn))
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, objectOf(c.Input), c.Name))
	}
	return blocks
}

func anthropicResult(m Message) *anthropic.ToolResultBlockParam {
	result := &anthropic.ToolResultBlockParam{ToolUseID: m.ToolCallID}
	if m.Failed {
		result.IsError = param.NewOpt(true)
	}
	if strings.TrimSpace(m.Text) != "" {
		result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{OfText: &anthropic.TextBlockParam{Text: m.Text}})
	}
	for _, image := range m.Images {
		block := anthropic.NewImageBlockBase64(image.MediaType, base64.StdEncoding.EncodeToString(image.Data))
		result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: block.OfImage})
	}
	return result
}

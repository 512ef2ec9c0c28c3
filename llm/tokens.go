package llm

import (
	"slices"

	"kioku/internal/text"
)

const (
	// messageOverhead is the number of tokens that a provider spends on the frame of a message.
	messageOverhead = 4
	// imageTokens is the number of tokens that an image counts as.
	imageTokens = 2000
)

// MessageTokens returns how many tokens m takes of a model's window. count counts the tokens of a text; nil means
// text.EstimateTokens.
func MessageTokens(count func(text string) int, m Message) int {
	if count == nil {
		count = text.EstimateTokens
	}
	n := messageOverhead + len(m.Images)*imageTokens
	if m.Text != "" {
		n += count(m.Text)
	}
	if m.Turn != "" {
		n += count(m.Turn)
	}
	for _, c := range m.ToolCalls {
		n += messageOverhead + count(c.Name) + count(string(c.Input))
	}
	return n
}

// ToolTokens returns about how many tokens the descriptions of tools take of a model's window.
func ToolTokens(tools []Tool) int {
	n := 0
	for _, t := range tools {
		n += text.EstimateTokens(t.Name) + text.EstimateTokens(t.Description) + text.EstimateTokens(string(t.Schema))
	}
	return n
}

// RequestTokens returns about how many tokens the prompt of a request has. Model.Window counts in the same tokens.
func RequestTokens(req Request) int {
	n := text.EstimateTokens(req.System) + text.EstimateTokens(string(req.Schema)) + ToolTokens(req.Tools)
	for _, m := range req.Messages {
		n += MessageTokens(nil, m)
	}
	return n
}

// hasImages reports whether a request has images, whose estimate is rough.
func hasImages(req Request) bool {
	return slices.ContainsFunc(req.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

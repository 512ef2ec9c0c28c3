package llm

import "strings"

// windows are the context windows of well-known models in tokens, by the prefix of their names; the longest prefix counts.
// If models with one prefix differ, it is the smallest window.
var windows = map[string]int{
	"claude-":          200_000,
	"gpt-3.5-turbo":    16_385,
	"gpt-4":            8_192,
	"gpt-4-32k":        32_768,
	"gpt-4-turbo":      128_000,
	"gpt-4-1106":       128_000,
	"gpt-4-0125":       128_000,
	"gpt-4o":           128_000,
	"gpt-4.1":          1_047_576,
	"gpt-4.5":          128_000,
	"gpt-5":            400_000,
	"gpt-5-chat":       128_000,
	"chatgpt-4o":       128_000,
	"o1":               200_000,
	"o1-mini":          128_000,
	"o1-preview":       128_000,
	"o3":               200_000,
	"o4-mini":          200_000,
	"gemini-1.5-flash": 1_048_576,
	"gemini-1.5-pro":   2_097_152,
	"gemini-2.0-flash": 1_048_576,
	"gemini-2.5":       1_048_576,
	"gemini-3":         1_048_576,
	"deepseek-":        64_000,
	"grok-3":           131_072,
	"grok-4":           256_000,
	"mistral-large":    128_000,
	"mistral-small":    32_000,
	"kimi-k2":          131_072,
	"glm-4.5":          131_072,
	"glm-4.6":          200_000,
}

// knownWindow returns the window of a model in tokens, 0 if it is not known. It ignores a vendor before a slash, as routers
// write it.
func knownWindow(model string) int {
	name := strings.ToLower(model[strings.LastIndex(model, "/")+1:])
	longest, window := 0, 0
	for prefix, tokens := range windows {
		if strings.HasPrefix(name, prefix) && len(prefix) > longest {
			longest, window = len(prefix), tokens
		}
	}
	return window
}

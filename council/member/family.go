package member

import (
	"path"
	"slices"
	"strings"
)

// Unknown is the family of a model that nobody knows.
const Unknown = "unknown"

// families are the makers of models by how their names begin.
var families = []struct{ begin, family string }{
	{"claude", "anthropic"}, {"gpt", "openai"}, {"chatgpt", "openai"}, {"codex", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"gemini", "google"}, {"gemma", "google"}, {"llama", "meta"}, {"qwen", "alibaba"}, {"qwq", "alibaba"}, {"mistral", "mistral"}, {"mixtral", "mistral"},
	{"magistral", "mistral"}, {"devstral", "mistral"}, {"codestral", "mistral"}, {"ministral", "mistral"}, {"deepseek", "deepseek"}, {"phi", "microsoft"},
	{"grok", "xai"}, {"command-r", "cohere"}, {"command-a", "cohere"}, {"glm", "zhipu"}, {"kimi", "moonshot"}, {"granite", "ibm"}, {"nemotron", "nvidia"},
	{"echo", "echo"},
}

// Family returns who has made a model, by its name as a provider has it ("anthropic/claude-x", "qwen3:8b") or by the name of a
// command; Unknown if the name says nothing.
func Family(model string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(model, `\`, "/")))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "meta-"), "open-")
	for _, f := range families {
		if strings.HasPrefix(name, f.begin) {
			return f.family
		}
	}
	return Unknown
}

// Families returns the number of different families. All unknown ones count as one, because they may be the same.
func Families(all ...string) int {
	all = slices.Clone(all)
	slices.Sort(all)
	return len(slices.Compact(all))
}

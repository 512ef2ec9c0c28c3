package council

import (
	"path"
	"strings"
)

// UnknownFamily is the family of a model that nobody knows. All such models count as one family, because they may be the same.
const UnknownFamily = "unknown"

// families are the makers of models by how their names begin.
var families = []struct{ begin, family string }{
	{"claude", "anthropic"}, {"gpt", "openai"}, {"chatgpt", "openai"}, {"codex", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"gemini", "google"}, {"gemma", "google"}, {"llama", "meta"}, {"qwen", "alibaba"}, {"qwq", "alibaba"}, {"mistral", "mistral"}, {"mixtral", "mistral"},
	{"magistral", "mistral"}, {"devstral", "mistral"}, {"codestral", "mistral"}, {"ministral", "mistral"}, {"deepseek", "deepseek"}, {"phi", "microsoft"},
	{"grok", "xai"}, {"command-r", "cohere"}, {"command-a", "cohere"}, {"glm", "zhipu"}, {"kimi", "moonshot"}, {"granite", "ibm"}, {"nemotron", "nvidia"},
	{ModelEcho, "echo"},
}

// FamilyOf returns who has made a model, by its name as a provider has it ("anthropic/claude-x", "qwen3:8b"), as the settings have it
// ("ollama:qwen3:8b", "remote:gpt-5"), or by the name of a command; UnknownFamily if the name says nothing.
func FamilyOf(model string) string {
	_, behind, _ := strings.Cut(model, ":")
	for _, name := range []string{model, behind} {
		name = strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
		name = strings.TrimPrefix(strings.TrimPrefix(name, "meta-"), "open-")
		for _, f := range families {
			if strings.HasPrefix(name, f.begin) {
				return f.family
			}
		}
	}
	return UnknownFamily
}

// ModelEcho is the scripted model, which needs no network and no key.
const ModelEcho = "echo"

// ModelRemote is the model of a member that runs elsewhere; "remote:NAME" says which model it asks.
const ModelRemote = "remote"

// External reports whether a program answers for a member.
func (m Member) External() bool { return len(m.Command) > 0 || m.Preset != "" }

// Remote reports whether a member runs elsewhere and fetches its turns.
func (m Member) Remote() bool {
	return !m.External() && (m.Model == ModelRemote || strings.HasPrefix(m.Model, ModelRemote+":"))
}

// ModelName returns what tells the model of a member, as far as the settings say it: the name of the model, or that of the program.
func (m Member) ModelName() string {
	switch {
	case m.Model == "" && m.Preset != "":
		program, _, _ := strings.Cut(m.Preset, "-")
		return program
	case m.Model == "" && len(m.Command) > 0:
		return path.Base(m.Command[0])
	}
	return strings.TrimPrefix(m.Model, ModelRemote+":")
}

// Family returns who has made the model of a member: by its name, or by the program of its preset, which may have names of its own for
// models.
func (m Member) Family() string {
	f := FamilyOf(m.ModelName())
	if f == UnknownFamily && m.Preset != "" {
		f = FamilyOf(m.Preset)
	}
	return f
}

package config

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// openClawBlocks are the blocks under which OpenClaw keeps its settings of memory search: of today, and of earlier versions.
// Their settings count as if they stood at the left margin.
var openClawBlocks = []string{"memory.search", "memorySearch"}

// ignored returns the keys of such a block that have no counterpart, and what to know about each.
func ignored() map[string]string {
	return map[string]string{
		"enabled":                           "memory is always on",
		"experimental":                      "sources: [memory, sessions] is enough to have transcripts indexed",
		"rememberAcrossConversations":       "sources: [memory, sessions] has transcripts indexed",
		"local":                             "kioku model add adds a local model; GGUF files are read by servers such as Ollama and llama.cpp",
		"multimodal":                        "only Markdown is indexed",
		"fallback":                          "there is no second provider: words answer while the first one does not",
		"store":                             "the index is in the state folder",
		"sync.onSessionStart":               "the daemon keeps the index in sync",
		"sync.onSearch":                     "the daemon keeps the index in sync",
		"sync.watch":                        "the daemon keeps the index in sync",
		"sync.sessions.postCompactionForce": "the transcript keeps all messages after a compaction",
		"remote.batch":                      "batch jobs are not used",
		"cache.enabled":                     "the cache is always on",
		"inputType":                         "what a model needs before a query or a text is known by its name",
		"queryInputType":                    "what a model needs before a query is known by its name",
		"documentInputType":                 "what a model needs before a text is known by its name",
	}
}

// openClaw reads a key of the file if it belongs to OpenClaw, and returns whether it does. block is the pasted block that the key
// is in, empty outside of one.
func (p *fileParser) openClaw(key, block, where string, value *yaml.Node) bool {
	why, name := ignored()[key], key[strings.LastIndex(key, ".")+1:]
	switch inside := block != ""; {
	case !inside && slices.Contains(openClawBlocks, key):
		p.pasted(value)
		p.nested(value, where, key, "", key)
	case !inside && key == "memory":
		p.nested(value, where, key, "memory.", "")
	case !inside && strings.HasPrefix(key, "memory."):
		p.notice(where, key, "only memory.search has settings that are used here")
	case !inside && strings.HasPrefix(key, "agents.") && strings.Count(key, ".") > 1 && (name == "memory" || name == "memorySearch"):
		p.fail(where, key, fmt.Errorf("paste the block %s itself, at the left margin, without the blocks around it", name))
	case inside && cmp.Or(why, gone[key]) != "":
		p.notice(where, block+"."+key, cmp.Or(why, gone[key]))
	case inside && key == "sync.intervalMinutes" && value.Value == "0":
		p.notice(where, block+"."+key, "0 would mean never, and the folder is always scanned regularly, every 5 minutes unless set")
	default:
		return false
	}
	return true
}

// notice adds a sentence about a setting that has no effect.
func (p *fileParser) notice(where, key, why string) {
	p.conf.Notices = append(p.conf.Notices, fmt.Sprintf("%s: %s has no effect: %s", where, key, why))
}

// variable is a reference to an environment variable as OpenClaw writes it.
var variable = regexp.MustCompile(`^\$\{(\w+)\}$`)

// pasted rewrites what a block of OpenClaw says in other words than a file of ours.
func (p *fileParser) pasted(block *yaml.Node) {
	for i := 0; block.Kind == yaml.MappingNode && i+1 < len(block.Content); i += 2 {
		name, value := block.Content[i], resolve(block.Content[i+1])
		switch name.Value {
		case "outputDimensionality":
			name.Value = "dims"
		case "provider":
			if value.Value == "openai-compatible" {
				value.Value = "openai"
			}
		case "extraPaths":
			for _, item := range value.Content {
				joinPattern(resolve(item))
			}
		}
		useVariables(value)
	}
}

// joinPattern makes a text of {path: ..., pattern: ...}.
func joinPattern(item *yaml.Node) {
	dir := child(item, "path")
	if item.Kind != yaml.MappingNode || dir == nil {
		return
	}
	text := dir.Value
	if pattern := child(item, "pattern"); pattern != nil {
		text = strings.TrimSuffix(text, "/") + "/" + pattern.Value
	}
	*item = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: item.Line, Column: item.Column}
}

// useVariables writes references to variables as env:NAME.
func useVariables(n *yaml.Node) {
	if m := variable.FindStringSubmatch(n.Value); n.Kind == yaml.ScalarNode && m != nil {
		n.Value = "env:" + m[1]
	}
	for _, below := range n.Content {
		useVariables(below)
	}
}

// OpenClawIgnores returns why a setting of OpenClaw's block memory.search has no counterpart; empty if it may have one. The key is
// relative to the block.
func OpenClawIgnores(key string) string {
	reasons := ignored()
	maps.Copy(reasons, gone)
	for name := key; ; {
		if why := reasons[name]; why != "" {
			return why
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return ""
		}
		name = name[:dot]
	}
}

// Known reports whether there is a setting of this name.
func Known(key string) bool {
	_, ok := Default().lookup(key)
	return ok
}

// Check returns an error if a setting cannot have a value, as it is written on a command line.
func Check(key, value string) error {
	f, ok := Default().lookup(key)
	if !ok {
		return Default().registry.unknown("", key)
	}
	return f.value.setText(value)
}

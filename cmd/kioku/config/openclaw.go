package config

import (
	"maps"
	"strings"
)

// openClawBlocks are the blocks under which OpenClaw keeps its settings of memory search: of today, and of earlier versions.
var openClawBlocks = []string{"memory", "memorySearch"}

// ignored returns the keys of such a block, memory.search, that have no counterpart, and what to know about each.
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

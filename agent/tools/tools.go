package tools

import (
	"encoding/json"
	"slices"

	"kioku/llm"
)

// Names of the tools.
const (
	Search = "memory_search"
	Get    = "memory_get"
	Append = "memory_append"
	Update = "memory_update"
)

// All returns the definitions of the tools that [Call] runs, in a form that the APIs of model providers take.
func All() []llm.Tool {
	return []llm.Tool{
		{
			Name: Search,
			Description: "Search your long-term memory (notes in Markdown) by meaning and keywords. Use it before you answer anything " +
				"about earlier work, decisions, dates, people, preferences or plans. Returns passages with path and lines; " +
				"read more around one with memory_get. \"degraded\" says what a search had to do without.",
			Schema: json.RawMessage(searchSchema),
		},
		{
			Name: Get,
			Description: "Read lines of a memory file, by the path that memory_search gave. " +
				"Where \"next_from\" is not 0 the file goes on there.",
			Schema: json.RawMessage(getSchema),
		},
		{
			Name: Append,
			Description: "Remember something for later conversations: a fact, decision, preference or open task, in a sentence or two " +
				"that can be understood without this conversation. Search first: leave out what is stored, and correct what has changed " +
				"with memory_update. The same text is stored once.",
			Schema: json.RawMessage(appendSchema),
		},
		{
			Name: Update,
			Description: "Correct or remove a text in MEMORY.md, or in another memory file that is not of a day; with places in all notes. " +
				"The text before is kept.",
			Schema: json.RawMessage(updateSchema),
		},
	}
}

// Known reports whether there is a tool with this name.
func Known(name string) bool {
	return slices.ContainsFunc(All(), func(t llm.Tool) bool { return t.Name == name })
}

// Public reports whether a tool may be called in a conversation that others read: it shows nothing of the memory, and changes
// nothing that is in it.
func Public(name string) bool { return name == Append }

// Writes reports whether a tool writes to the memory. Unknown tools do.
func Writes(name string) bool { return name != Search && name != Get }

const searchSchema = `{
  "type": "object",
  "properties": {
    "query": {"type": "string", "description": "What to look for, in any language."},
    "max_results": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Default 6."},
    "min_score": {"type": "number", "minimum": 0, "maximum": 1, "description": "Only if results are missing."},
    "path_prefix": {"type": "string", "description": "memory/2026-01"},
    "since": {"type": "string", "description": "From this day on, YYYY-MM-DD."},
    "until": {"type": "string", "description": "To this day."},
    "kinds": {"type": "array", "items": {"enum": ["chunk", "fact", "loop", "summary"]}, "description": "Default chunk: passages."}
  },
  "required": ["query"],
  "additionalProperties": false
}`

const getSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string"},
    "from": {"type": "integer", "minimum": 1, "description": "First line."},
    "lines": {"type": "integer", "minimum": 1, "description": "Default 120."}
  },
  "required": ["path"],
  "additionalProperties": false
}`

const appendSchema = `{
  "type": "object",
  "properties": {
    "text": {"type": "string"},
    "target": {"type": "string", "enum": ["daily", "long_term"], "description": "daily: today's notes (default). long_term: what stays true."},
    "category": {"type": "string", "description": "One word, such as decision, fact or todo."},
    "confirm_secret": {"type": "boolean", "description": "In a second call, if the user insists that a secret is stored."}
  },
  "required": ["text"],
  "additionalProperties": false
}`

const updateSchema = `{
  "type": "object",
  "properties": {
    "old_text": {"type": "string", "description": "The text as it stands there, once in the file."},
    "new_text": {"type": "string", "description": "Empty removes the old text."},
    "places": {"type": "array", "items": {"type": "string"}, "description": "To forget: [] finds old_text in all notes; then those meant."},
    "reason": {"type": "string"},
    "path": {"type": "string", "description": "Default MEMORY.md."},
    "confirm_secret": {"type": "boolean"}
  },
  "required": ["old_text", "new_text"],
  "additionalProperties": false
}`

package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"kioku/llm"
)

// said is what a program has printed, as far as it has one of the known forms.
type said struct {
	// known says that the form is known; the other fields are empty otherwise.
	known bool
	text  string
	usage llm.Usage
	// failure says why there is no reply; empty if there is one.
	failure string
}

// printed is a JSON value as the known programs print it: one by Claude Code (type "result") and Gemini CLI (response and stats, or
// error), one a line by Codex, and by Claude Code with stream-json.
type printed struct {
	Type string `json:"type"`

	// Of Claude Code.
	Session    string          `json:"session_id"`
	IsError    bool            `json:"is_error"`
	Result     string          `json:"result"`
	Structured json.RawMessage `json:"structured_output"`
	Errors     []string        `json:"errors"`
	Dollars    float64         `json:"total_cost_usd"`
	ModelUsage map[string]struct {
		Input      int `json:"inputTokens"`
		Output     int `json:"outputTokens"`
		CacheRead  int `json:"cacheReadInputTokens"`
		CacheWrite int `json:"cacheCreationInputTokens"`
	} `json:"modelUsage"`

	// Of Claude Code an object, of Codex a text.
	Message json.RawMessage `json:"message"`

	// Of Codex.
	Item  item `json:"item"`
	Usage struct {
		Input      int `json:"input_tokens"` // with those of the cache
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cached_input_tokens"`
		CacheWrite int `json:"cache_write_input_tokens"`
	} `json:"usage"`

	// Of Codex and Gemini CLI.
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`

	// Of Gemini CLI.
	Response string `json:"response"`
	Stats    *struct {
		Models map[string]struct {
			Tokens struct {
				Input     int `json:"input"`
				Output    int `json:"candidates"`
				Thoughts  int `json:"thoughts"`
				CacheRead int `json:"cached"`
			} `json:"tokens"`
		} `json:"models"`
	} `json:"stats"`
}

// read reads what a program has printed. Of lines of which one is no JSON, those before it count.
func read(output []byte) said {
	var s said
	for dec := json.NewDecoder(bytes.NewReader(output)); ; {
		var p printed
		err := dec.Decode(&p)
		if _, other := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !other { // a field of another type says nothing
			return s
		}
		s.add(p)
	}
}

// add adds a value.
func (s *said) add(p printed) {
	switch {
	case p.Type == "result":
		s.addClaude(p)
	case p.isCodex() && (s.known || p.Type != "error"):
		s.addCodex(p)
	case p.Type == "" && (p.Stats != nil || p.Error != nil):
		s.addGemini(p)
	}
}

// isCodex reports whether the value may be one of Codex.
func (p printed) isCodex() bool {
	kind, _, _ := strings.Cut(p.Type, ".")
	return kind != p.Type && slices.Contains([]string{"thread", "turn", "item"}, kind) || p.Type == "error"
}

func (s *said) addClaude(p printed) {
	s.known, s.text = true, p.Result
	if len(p.Structured) > 0 {
		s.text = string(p.Structured)
	}
	if p.IsError {
		s.failure = strings.Join(append(p.Errors, p.Result), "; ")
		s.failure = strings.Trim(s.failure, "; ")
	}
	for _, u := range p.ModelUsage {
		s.usage = s.usage.Plus(llm.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	}
	s.usage.Dollars = p.Dollars
}

func (s *said) addCodex(p printed) {
	s.known = true
	switch p.Type {
	case "item.completed":
		if p.Item.Type == "agent_message" {
			s.text, s.failure = p.Item.Text, ""
		}
	case "turn.completed":
		u := p.Usage
		s.usage = s.usage.Plus(llm.Usage{Input: max(u.Input-u.CacheRead, 0), Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
		s.failure = ""
	case "turn.failed":
		if p.Error != nil {
			s.failure = p.Error.Message
		}
	case "error":
		s.failure = p.message()
	}
}

func (s *said) addGemini(p printed) {
	s.known, s.text = true, p.Response
	if p.Error != nil {
		s.failure = p.Error.Message
	}
	if p.Stats == nil {
		return
	}
	for _, m := range p.Stats.Models {
		s.usage = s.usage.Plus(llm.Usage{Input: m.Tokens.Input, Output: m.Tokens.Output + m.Tokens.Thoughts, CacheRead: m.Tokens.CacheRead})
	}
}

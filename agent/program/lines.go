package program

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kioku/internal/text"
)

const (
	// maxLine is the maximum size in bytes of a line that is told; a longer one is told in pieces.
	maxLine = 4 << 10
	// maxArgument is the maximum number of characters of what a tool is called with.
	maxArgument = 200
)

// Lines tells what a program prints, line by line, and keeps the end of it. Of Claude Code with stream-json and of "codex exec --json" it
// tells, and keeps, what the agent says and which tools it calls. One goroutine at a time writes to it.
type Lines struct {
	Tail
	Each func(line string) // gets valid UTF-8 without the line end
	line bytes.Buffer
	raw  Tail // as it was printed
	said said
}

// Write implements io.Writer.
func (l *Lines) Write(data []byte) (int, error) {
	for _, c := range data {
		l.line.WriteByte(c)
		if n := l.line.Len(); c == '\n' || n >= maxLine && (n >= maxOutput || l.line.Bytes()[0] != '{') {
			l.End()
		}
	}
	l.raw.Limit = l.Limit
	return l.raw.Write(data)
}

// End ends a line that has no end.
func (l *Lines) End() {
	printed := l.line.String()
	l.line.Reset()
	if says, known := l.said.hear(printed); known {
		printed = says
	}
	_, _ = l.Tail.Write([]byte(printed))
	for line := range strings.Lines(printed) {
		for line = strings.TrimSuffix(line, "\n"); line != ""; line = line[min(maxLine, len(line)):] {
			l.Each(strings.ToValidUTF8(line[:min(maxLine, len(line))], "\uFFFD"))
		}
	}
}

// Result returns the text at a path in the last line of JSON that has it, or in all of the output; if there is none, it says so, before the last that the
// agent has said, or the end of what was told.
func (l *Lines) Result(path string) string {
	printed := l.raw.String()
	for _, part := range slices.Backward(append([]string{printed}, strings.Split(printed, "\n")...)) {
		if s, err := unwrap([]byte(part), path); err == nil && path != "" {
			return s
		}
	}
	missing := ""
	if path != "" {
		missing = fmt.Sprintf("[the output has no text in the field %q]\n", path)
	}
	said := cmp.Or(l.said.text, read([]byte(printed)).text)
	return missing + cmp.Or(text.TailBytes(said, l.Limit), l.String())
}

// hear returns the lines that tell a person what a line of JSON says, with their ends; none if it says nothing. It reports whether it is
// one of Claude Code or Codex, whose first line names its thread.
func (s *said) hear(line string) (says string, known bool) {
	var p printed
	if !strings.HasPrefix(line, "{") || !json.Valid([]byte(line)) {
		return "", false
	}
	_ = json.Unmarshal([]byte(line), &p) // a field of another type says nothing
	var told []string
	switch {
	case p.Type != "" && p.Session != "":
		told = p.claudeSays()
	case p.Type == "thread.started", s.known && p.isCodex():
		told = p.codexSays()
	default:
		return "", false
	}
	s.add(p)
	for _, t := range told {
		if t = strings.TrimSpace(t); t != "" {
			says += t + "\n"
		}
	}
	return says, true
}

// claudeSays returns what an agent says, the tools that it calls, and why it has failed.
func (p printed) claudeSays() (told []string) {
	if p.Type == "result" && p.IsError {
		return append(p.Errors, p.Result)
	}
	if p.Type != "assistant" {
		return nil
	}
	var message struct {
		Content []struct {
			Text  string         `json:"text"`
			Name  string         `json:"name"` // of a tool
			Input map[string]any `json:"input"`
		} `json:"content"`
	}
	_ = json.Unmarshal(p.Message, &message) // a field of another type says nothing
	for _, part := range message.Content {
		told = append(told, part.Text, toolLine(part.Name, argument(part.Input)))
	}
	return told
}

// item is what Codex tells of: a message, or a call of a tool.
type item struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Command string `json:"command"`
	Message string `json:"message"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
	Server    string         `json:"server"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// codexSays returns what an agent says, the tools that it calls, and why it has failed.
func (p printed) codexSays() []string {
	switch i := p.Item; p.Type + " " + i.Type {
	case "item.completed agent_message":
		return []string{i.Text}
	case "item.completed error":
		return []string{i.Message}
	case "item.started command_execution":
		return []string{toolLine("shell", i.Command)}
	case "item.started mcp_tool_call":
		return []string{toolLine(i.Server+"."+i.Tool, argument(i.Arguments))}
	case "item.completed web_search":
		return []string{toolLine("search", i.Query)}
	case "item.completed file_change":
		var paths []string
		for _, c := range i.Changes {
			paths = append(paths, c.Path)
		}
		return []string{toolLine("edit", strings.Join(paths, ", "))}
	case "error ":
		return []string{p.message()}
	case "turn.failed ":
		if p.Error != nil {
			return []string{p.Error.Message}
		}
	}
	return nil
}

// message returns the message of Codex.
func (p printed) message() (message string) {
	_ = json.Unmarshal(p.Message, &message) // that of Claude Code is an object
	return message
}

// toolLine returns the line of a call of a tool; empty without a tool.
func toolLine(tool, argument string) string {
	if tool == "" || argument == "" {
		return tool
	}
	return tool + ": " + text.Shorten(text.OneLine(argument), maxArgument)
}

// argument returns what tells most of a call: the command or file, else the first text by name; empty if there is none.
func argument(input map[string]any) string {
	names := append([]string{"command", "file_path", "path", "pattern", "query", "url", "description"}, slices.Sorted(maps.Keys(input))...)
	for _, name := range names {
		if s, ok := input[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

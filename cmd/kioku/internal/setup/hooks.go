package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"kioku/cmd/kioku/internal/render"
)

// hookEvents are the events at which a client runs Kioku's hooks: the client's name, that on the command line, what it must be
// about (empty for anything), and how many seconds the client waits. Hooks are done within two; Codex waits for three at most when a
// session ends.
var hookEvents = []struct {
	event, name, matcher string
	timeout              int
}{
	{"SessionStart", "session-start", "startup|clear|compact", 5},
	{"UserPromptSubmit", "user-prompt-submit", "", 5},
	{"PreCompact", "pre-compact", "", 5},
	{"SessionEnd", "session-end", "", 3},
}

// Hooks returns the client as the one whose configuration is its file of hooks, false if it has none. Its entries are the hooks of a
// memory, of which Entry.Command is the command line of the server of that memory. If the client keeps there which tools it may call
// without a question, those of the server of a name belong to them; an empty name leaves them alone.
func (c Client) Hooks(server string) (Client, bool) {
	if c.hooks == nil {
		return Client{}, false
	}
	f := hooksFormat{client: c.ID}
	if c.allows && server != "" {
		f.allowed = allowedTools(server)
	}
	c.files, c.hooks, c.manual = c.hooks, nil, nil
	c.format, c.numbered = f, true
	return c, true
}

// hooksFormat is JSON with commands at events, as Claude Code and Codex read it. An entry is the commands of one memory at all
// events. Entries have no names in the file: the first is called kioku, the next kioku-2.
type hooksFormat struct {
	// client is the name on the command line.
	client string
	// allowed are the tools that the client may call without a question, by the names of its permissions.
	allowed []string
	json    jsonFormat
}

// hook is a command in a configuration.
type hook struct {
	// event, group and index say where it is: hooks.<event>[group].hooks[index].
	event        string
	group, index int
	// line is the command line of the server of its memory.
	line []string
}

// command returns the command of a hook.
func (f hooksFormat) command(line []string, name string) string {
	words := append([]string{line[0], "hook", f.client, name}, line[2:]...)
	for i := range words {
		words[i] = render.ShellQuote(words[i])
	}
	return strings.Join(words, " ")
}

// lineOf returns the command line of the server of the memory whose hook a command is; nil if it is no hook of Kioku.
func (f hooksFormat) lineOf(command string) []string {
	words := shellWords(command)
	if len(words) < 4 || strings.TrimSuffix(filepath.Base(words[0]), ".exe") != "kioku" || words[1] != "hook" || words[2] != f.client {
		return nil
	}
	return append([]string{words[0], "mcp"}, words[4:]...)
}

// shellWords returns the words of a shell command as render.ShellQuote writes them.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	quoted, escaped, begun := false, false, false
	for _, r := range command {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\'':
			quoted, begun = !quoted, true
		case r == '\\' && !quoted:
			escaped, begun = true, true
		case r == ' ' && !quoted:
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// hookGroup is what is read of an element of an event.
type hookGroup struct {
	Hooks []struct {
		Command string `json:"command"`
	} `json:"hooks"`
}

// hooksOf returns the hooks of Kioku in the content of a configuration, by the names of their entries.
func (f hooksFormat) hooksOf(content map[string]any) map[string][]hook {
	events, _ := content["hooks"].(map[string]any)
	found, names := map[string][]hook{}, map[string]string{}
	for _, e := range hookEvents {
		var groups []hookGroup
		text, err := json.Marshal(events[e.event])
		if err == nil {
			err = json.Unmarshal(text, &groups)
		}
		if err != nil {
			continue // the client does not understand it either
		}
		for g, group := range groups {
			for i, h := range group.Hooks {
				line := f.lineOf(h.Command)
				if line == nil {
					continue
				}
				key := strings.Join(line[1:], "\x00")
				if names[key] == "" {
					names[key] = DefaultName
					if n := len(names); n > 1 {
						names[key] = fmt.Sprint(DefaultName, "-", n)
					}
				}
				found[names[key]] = append(found[names[key]], hook{e.event, g, i, line})
			}
		}
	}
	return found
}

// read returns the content of a configuration and its hooks.
func (f hooksFormat) read(text []byte) (map[string]any, map[string][]hook, error) {
	content, err := f.json.decode(text)
	if err != nil {
		return nil, nil, err
	}
	if events, ok := content["hooks"]; ok {
		if _, ok := events.(map[string]any); !ok {
			return nil, nil, errors.New("hooks is not an object")
		}
	}
	return content, f.hooksOf(content), nil
}

// entries returns the command line of the server of each memory that has hooks.
func (f hooksFormat) entries(text []byte) (map[string][]string, error) {
	_, hooks, err := f.read(text)
	lines := map[string][]string{}
	for name, list := range hooks {
		lines[name] = list[0].line
	}
	return lines, err
}

// decode returns the content without the hooks of Kioku, which are a block of entries of their own then, and without empty lists.
func (f hooksFormat) decode(text []byte) (map[string]any, error) {
	content, hooks, err := f.read(text)
	if err != nil {
		return nil, err
	}
	if len(hooks) == 0 {
		return f.withoutEmpty(content), nil
	}
	entries := map[string]any{}
	for name, list := range hooks {
		at := map[string]any{}
		for _, h := range list {
			at[h.event] = h.line
		}
		entries[name] = at
	}
	_, doc, _, err := f.json.parse(text)
	for range hooks { // the next one is the first then
		if err == nil {
			doc, err = f.remove(doc, DefaultName, nil)
		}
	}
	if err == nil {
		content, err = f.json.decode(doc)
	}
	if err != nil {
		return nil, err
	}
	content["mcpServers"] = entries
	return f.withoutEmpty(content), nil
}

// withoutEmpty returns content without the permissions of Kioku and the empty lists of events and permissions, which say nothing.
func (f hooksFormat) withoutEmpty(content map[string]any) map[string]any {
	f.withoutAllowed(content)
	events, ok := content["hooks"].(map[string]any)
	for _, e := range hookEvents {
		if list, ok := events[e.event].([]any); ok && len(list) == 0 {
			delete(events, e.event)
		}
	}
	if ok && len(events) == 0 {
		delete(content, "hooks")
	}
	return content
}

// put returns the text with the hooks of a memory.
func (f hooksFormat) put(text []byte, name string, srv Server) ([]byte, error) {
	_, hooks, err := f.read(text)
	if err != nil {
		return nil, err
	}
	mark, doc, _, err := f.json.parse(text)
	for _, e := range hookEvents {
		if err != nil {
			break
		}
		command := f.command(srv.line(), e.name)
		at := slices.IndexFunc(hooks[name], func(h hook) bool { return h.event == e.event })
		if at >= 0 {
			doc, err = replaceHook(doc, hooks[name][at], command)
			continue
		}
		group := object{}
		if e.matcher != "" {
			group = append(group, field{"matcher", e.matcher})
		}
		group = append(group, field{"hooks", []any{object{{"type", "command"}, {"command", command}, {"timeout", e.timeout}}}})
		doc, err = appendJSON(doc, []string{"hooks", e.event}, group)
	}
	if err == nil {
		doc, err = f.allow(doc)
	}
	return append([]byte(mark), doc...), err
}

// restore returns the text with the hooks of a memory as they are in an earlier text.
func (f hooksFormat) restore(text []byte, name string, earlier []byte) ([]byte, error) {
	content, before, err := f.read(earlier)
	if err != nil {
		return nil, fmt.Errorf("the copy: %w", err)
	}
	mark, doc, _, err := f.json.parse(text)
	if err == nil {
		doc, err = f.disallow(doc, content)
	}
	if was := before[name]; err == nil && len(was) > 0 {
		f.allowed = nil
		return f.put(append([]byte(mark), doc...), name, Server{Command: was[0].line[0], Args: was[0].line[1:]})
	}
	if err == nil {
		doc, err = f.remove(doc, name, content)
	}
	return append([]byte(mark), doc...), err
}

// remove returns the text without the hooks of a memory, and without the lists that are empty then, unless an earlier content has
// them.
func (f hooksFormat) remove(doc []byte, name string, earlier map[string]any) ([]byte, error) {
	_, hooks, err := f.read(doc)
	had, _ := earlier["hooks"].(map[string]any)
	for _, h := range slices.Backward(hooks[name]) { // so that indexes stay right
		if err != nil {
			return nil, err
		}
		group := []string{"hooks", h.event}
		var left int
		if doc, left, err = removeElement(doc, group, []int{h.group}, h.index); err == nil && left == 0 {
			doc, left, err = removeElement(doc, group, nil, h.group)
		}
		if err == nil && left == 0 && had[h.event] == nil {
			doc, err = removeJSON(doc, group)
		}
	}
	if err != nil || len(hooks[name]) == 0 || earlier["hooks"] != nil {
		return doc, err
	}
	tree, err := hujson.Parse(doc)
	if err != nil {
		return nil, err
	}
	if all, err := follow(tree, []string{"hooks"}); err != nil || all == nil || !isEmptyObject(all) {
		return doc, err
	}
	return removeJSON(doc, []string{"hooks"})
}

// replaceHook returns the text with another command of a hook.
func replaceHook(doc []byte, h hook, command string) ([]byte, error) {
	list, err := hooksAt(doc, []string{"hooks", h.event}, []int{h.group})
	if err != nil {
		return nil, err
	}
	value, err := follow(list.Elements[h.index], []string{"command"})
	if err != nil || value == nil {
		return doc, err
	}
	return splice(doc, value.StartOffset, value.EndOffset, encodeJSON(command, "", "", "")), nil
}

// hooksAt returns the list at a path, or the hooks of one of its groups if there is an index.
func hooksAt(doc []byte, path []string, group []int) (*hujson.Array, error) {
	tree, err := hujson.Parse(doc)
	if err != nil {
		return nil, err
	}
	value, err := follow(tree, path)
	if err == nil && value != nil {
		for _, g := range group {
			list, ok := value.Value.(*hujson.Array)
			if !ok {
				break
			}
			if value, err = follow(list.Elements[g], []string{"hooks"}); err != nil || value == nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if value != nil {
		if list, ok := value.Value.(*hujson.Array); ok {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%s is not a list", strings.Join(path, "."))
}

// removeElement returns the text without an element of a list that hooksAt returns, and how many are left in it.
func removeElement(doc []byte, path []string, group []int, i int) ([]byte, int, error) {
	list, err := hooksAt(doc, path, group)
	if err != nil {
		return nil, 0, err
	}
	all := list.Elements
	start, end := all[i].StartOffset, all[i].EndOffset
	switch {
	case i < len(all)-1:
		end = all[i+1].StartOffset
	case i > 0:
		start = all[i-1].EndOffset
	}
	return splice(doc, start, end, ""), len(all) - 1, nil
}

// appendJSON returns the text with a value at the end of the list at a path, which is made if it is missing.
func appendJSON(doc []byte, path []string, value any) ([]byte, error) {
	tree, err := hujson.Parse(doc)
	if err != nil {
		return nil, err
	}
	at, err := follow(tree, path)
	if err != nil {
		return nil, err
	}
	if at == nil {
		return setJSON(doc, path, []any{value})
	}
	list, ok := at.Value.(*hujson.Array)
	if !ok {
		return nil, fmt.Errorf("%s is not a list", strings.Join(path, "."))
	}
	if len(list.Elements) == 0 {
		return setJSON(doc, path, []any{value})
	}
	last := list.Elements[len(list.Elements)-1]
	if indent := indentOf(doc, last.StartOffset); strings.Contains(string(doc[at.StartOffset:at.EndOffset]), "\n") {
		nl := newlineOf(doc)
		return splice(doc, last.EndOffset, last.EndOffset, ","+nl+indent+encodeJSON(value, indent, unitOf(doc), nl)), nil
	}
	return splice(doc, last.EndOffset, last.EndOffset, ", "+encodeJSON(value, "", "", "")), nil
}

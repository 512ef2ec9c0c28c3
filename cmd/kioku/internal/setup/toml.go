package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlFormat is TOML, in which each entry is a table [block.NAME].
type tomlFormat struct{ block string }

// decode returns the content of the text.
func (f tomlFormat) decode(text []byte) (map[string]any, error) {
	content := map[string]any{}
	if err := checkDepth(text, skipTOML); err != nil {
		return nil, err
	}
	_, err := toml.Decode(strings.TrimPrefix(string(text), byteOrderMark), &content)
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return nil, fmt.Errorf("line %d, column %d: %s", bad.Position.Line, bad.Position.Col, bad.Message)
	}
	return content, err
}

// entries returns the command lines of the tables.
func (f tomlFormat) entries(text []byte) (map[string][]string, error) {
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	block, _ := content[f.block].(map[string]any)
	return commandLines(block), nil
}

// put returns the text with a table. Lines of an existing one that set other keys stay.
func (f tomlFormat) put(text []byte, name string, srv Server) ([]byte, error) {
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	nl := newlineOf(text)
	lines := splitLines(text)
	if f.isInline(lines) {
		return nil, fmt.Errorf("%s is an inline table; write its entries as tables [%s.NAME]", f.block, f.block)
	}
	start, end := f.table(lines, name)
	if start < 0 {
		if block, _ := content[f.block].(map[string]any); block[name] != nil {
			return nil, fmt.Errorf("%s.%s is not written as a table of its own, [%s]; write it so, or remove it", f.block, name, f.header(name))
		}
		if len(lines) > 0 {
			if last := len(lines) - 1; !strings.HasSuffix(lines[last], "\n") {
				lines[last] += nl
			}
			lines = append(lines, nl)
		}
		lines = append(lines, "["+f.header(name)+"]"+nl)
		for _, part := range plain(srv) {
			lines = append(lines, tomlLine(part, nl))
		}
		return []byte(strings.Join(lines, "")), nil
	}
	return f.update(lines, start, end, plain(srv), nl)
}

// update returns the text with the fields in the table whose lines are from start to end.
func (f tomlFormat) update(lines []string, start, end int, fields []field, nl string) ([]byte, error) {
	for _, part := range fields {
		line := tomlLine(part, nl)
		from, to := keyLines(lines, start+1, end, part.key)
		if from < 0 {
			from, to = start+1, start+1
		} else if sameTOML(strings.Join(lines[from:to], ""), line) {
			continue
		}
		lines = slices.Replace(lines, from, to, line)
		end += 1 - (to - from)
	}
	return []byte(strings.Join(lines, "")), nil
}

// restore returns the text with the table as it is in an earlier text.
func (f tomlFormat) restore(text []byte, name string, earlier []byte) ([]byte, error) {
	if _, err := f.decode(text); err != nil {
		return nil, err
	}
	lines, was := splitLines(text), splitLines(earlier)
	start, end := f.table(lines, name)
	if start < 0 {
		return nil, fmt.Errorf("%s.%s is not written as a table of its own, [%s]; remove it by hand", f.block, name, f.header(name))
	}
	if from, to := f.table(was, name); from >= 0 {
		return []byte(strings.Join(slices.Replace(lines, start, end, was[from:to]...), "")), nil
	}
	// Tables of the entry, such as its environment, go with it.
	for start >= 0 {
		if start > 0 && strings.TrimSpace(lines[start-1]) == "" {
			start--
		}
		lines = slices.Delete(lines, start, end)
		if start, end = f.table(lines, name); start < 0 {
			start, end = f.tableBelow(lines, name)
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// isInline reports whether the block is written as a value, {...}, to which no table can be added.
func (f tomlFormat) isInline(lines []string) bool {
	start, _ := findTable(lines, func([]string) bool { return true })
	if start < 0 {
		start = len(lines)
	}
	first, _ := keyLines(lines, 0, start, f.block)
	return first >= 0
}

// header returns the name of the table of an entry.
func (f tomlFormat) header(name string) string {
	bare := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	if !bare {
		name = tomlValue(name)
	}
	return f.block + "." + name
}

// table returns the lines of the table of an entry, from its header to its last key. start is -1 if there is none.
func (f tomlFormat) table(lines []string, name string) (start, end int) {
	return findTable(lines, func(key []string) bool { return slices.Equal(key, []string{f.block, name}) })
}

// tableBelow returns the lines of a table within the table of an entry.
func (f tomlFormat) tableBelow(lines []string, name string) (start, end int) {
	return findTable(lines, func(key []string) bool { return len(key) > 2 && key[0] == f.block && key[1] == name })
}

// findTable returns the lines of the first table whose name is wanted. Comments and blank lines behind its last key are not
// counted.
func findTable(lines []string, wanted func(key []string) bool) (start, end int) {
	start = -1
	inside := insideValues(lines)
	for i, line := range lines {
		switch key, header := headerOf(line); {
		case inside[i]:
			if start >= 0 {
				end = i + 1
			}
		case header && start >= 0:
			return start, end
		case header:
			if wanted(key) {
				start, end = i, i+1
			}
		case start >= 0 && strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), "#"):
			end = i + 1
		}
	}
	return start, end
}

// insideValues reports for each line whether it begins within a value of several lines: a text in three quotes, or a list.
func insideValues(lines []string) []bool {
	inside := make([]bool, len(lines)+1)
	text := []byte(strings.Join(lines, ""))
	line, depth := 0, 0
	for at := 0; at < len(text); {
		switch text[at] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		n := skipTOML(text[at:])
		for range bytes.Count(text[at:at+max(n, 1)], []byte("\n")) {
			line++
			inside[line] = n > 0 || depth > 0
		}
		at += max(n, 1)
	}
	return inside[:len(lines)]
}

// headerOf returns the name of the table that a line begins, false if it begins none.
func headerOf(line string) (key []string, ok bool) {
	line = strings.TrimPrefix(line, byteOrderMark)
	if !strings.HasPrefix(strings.TrimSpace(line), "[") {
		return nil, false
	}
	var content map[string]any
	meta, err := toml.Decode(line, &content)
	if err != nil || len(meta.Keys()) == 0 {
		return nil, false
	}
	return meta.Keys()[0], true
}

// keyLines returns the lines between from and to that set a key. first is -1 if there are none.
func keyLines(lines []string, from, to int, key string) (first, behind int) {
	inside := insideValues(lines)
	for i := from; i < to; i++ {
		name, _, ok := strings.Cut(lines[i], "=")
		if inside[i] || !ok || strings.Trim(strings.TrimSpace(name), `"'`) != key {
			continue
		}
		for behind = i + 1; behind < to && inside[behind]; behind++ {
		}
		return i, behind
	}
	return -1, 0
}

// sameTOML reports whether two texts have the same content.
func sameTOML(one, other string) bool {
	var a, b map[string]any
	_, errA := toml.Decode(one, &a)
	_, errB := toml.Decode(other, &b)
	return errA == nil && errB == nil && reflect.DeepEqual(a, b)
}

// tomlLine returns the line of a field.
func tomlLine(f field, nl string) string { return f.key + " = " + tomlValue(f.value) + nl }

// tomlValue returns the text of a value.
func tomlValue(value any) string {
	switch v := value.(type) {
	case string:
		return tomlString(v)
	case []string:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = tomlString(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(value)
}

// tomlString returns a basic string of TOML.
func tomlString(s string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// splitLines returns the lines of a text with their ends.
func splitLines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

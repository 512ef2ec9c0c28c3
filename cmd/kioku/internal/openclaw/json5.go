package openclaw

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// decode decodes JSON5: JSON with comments, trailing commas, names without quotes, texts in single quotes and more ways to write a
// number. It returns an error with a line if the text is not JSON5.
func decode(text []byte) (map[string]any, error) {
	content := map[string]any{}
	text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
	if standard, err := hujson.Standardize(slices.Clone(text)); err == nil {
		return content, json.Unmarshal(standard, &content)
	}
	flow, err := flowOf(string(text))
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(flow), &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("not an object")
	}
	if err := checkValues(doc.Content[0]); err != nil {
		return nil, err
	}
	if err := doc.Decode(&content); err != nil {
		return nil, err
	}
	standard, err := json.Marshal(content) // numbers are those of JSON then
	if err != nil {
		return nil, err
	}
	content = map[string]any{}
	return content, json.Unmarshal(standard, &content)
}

// flowOf writes JSON5 as YAML, which accepts the rest of it: without comments, with texts in double quotes and a space behind colons.
func flowOf(text string) (string, error) {
	var b strings.Builder
	for at := 0; at < len(text); {
		rest := text[at:]
		n := 1
		switch {
		case strings.HasPrefix(rest, "//"):
			line, _, _ := strings.Cut(rest, "\n")
			n = len(line)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return "", fmt.Errorf("line %d: the comment does not end", 1+strings.Count(text[:at], "\n"))
			}
			n = end + len("*/")
			b.WriteString(strings.Repeat("\n", strings.Count(rest[:n], "\n")))
		case rest[0] == '"' || rest[0] == '\'':
			if n = quoted(&b, rest); n == 0 {
				return "", fmt.Errorf("line %d: the text does not end on its line", 1+strings.Count(text[:at], "\n"))
			}
		case rest[0] == ':':
			b.WriteString(": ")
		default:
			b.WriteByte(rest[0])
		}
		at += n
	}
	return b.String(), nil
}

// quoted writes the text in quotes with which rest begins in double quotes, and returns its length; 0 if it does not end.
func quoted(b *strings.Builder, rest string) int {
	b.WriteByte('"')
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == rest[0]:
			b.WriteByte('"')
			return i + 1
		case c == '\n':
			return 0
		case c == '\\' && i+1 < len(rest):
			i++
			if next := rest[i]; next == '\'' {
				b.WriteByte(next)
			} else if next != '\n' { // which continues the text on the next line
				b.WriteString(rest[i-1 : i+1])
			}
		case c == '"':
			b.WriteString(`\"`)
		default:
			b.WriteByte(c)
		}
	}
	return 0
}

// checkValues returns an error for a value that YAML takes for a text and JSON5 for nothing: a word without quotes.
func checkValues(n *yaml.Node) error {
	values := n.Content
	if n.Kind == yaml.MappingNode {
		values = nil
		for i := 1; i < len(n.Content); i += 2 {
			values = append(values, n.Content[i])
		}
	}
	for _, v := range values {
		isWord := v.Kind == yaml.ScalarNode && v.Style&yaml.DoubleQuotedStyle == 0 && !slices.Contains([]string{"!!int", "!!float", "!!bool"}, v.Tag) && v.Value != "null"
		if isWord {
			return fmt.Errorf("line %d: %q is no value", v.Line, v.Value)
		}
		if err := checkValues(v); err != nil {
			return err
		}
	}
	return nil
}

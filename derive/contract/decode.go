package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// maxAnswer bounds an answer in bytes, maxDepth the objects and lists in each other.
	maxAnswer = 64 << 10
	maxDepth  = 8
)

// Names of the normalisations that an answer may need, as they are counted.
const (
	NormalizedBOM   = "byte order mark"
	NormalizedSpace = "white space"
	NormalizedFence = "code fence"
)

// normalize removes a byte order mark, white space and one code fence around an answer and counts each.
func normalize(answer string, counts map[string]int) string {
	if rest, ok := strings.CutPrefix(answer, "\uFEFF"); ok {
		counts[NormalizedBOM]++
		answer = rest
	}
	trimmed := trimJSONSpace(answer)
	if trimmed != answer {
		counts[NormalizedSpace]++
	}
	first, rest, many := strings.Cut(trimmed, "\n")
	language, fenced := strings.CutPrefix(strings.TrimSpace(first), "```")
	if !many || !fenced || language != "" && !strings.EqualFold(language, "json") {
		return trimmed
	}
	inner, closed := strings.CutSuffix(rest, "```")
	if !closed || strings.Contains(inner, "```\n") {
		return trimmed
	}
	counts[NormalizedFence]++
	return trimJSONSpace(inner)
}

func trimJSONSpace(s string) string { return strings.Trim(s, " \t\r\n") }

// parseObject reads one JSON object and nothing else. The error says what is wrong in words that help a model.
func parseObject(answer string) (map[string]any, error) {
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("is longer than %d KiB", maxAnswer>>10)
	}
	if !utf8.ValidString(answer) {
		return nil, errors.New("is not UTF-8")
	}
	if !strings.HasPrefix(answer, "{") {
		return nil, errors.New("must be one JSON object and nothing before it")
	}
	p := parser{json.NewDecoder(bytes.NewReader([]byte(answer)))}
	p.UseNumber()
	value, err := p.value("", 0)
	if err != nil {
		return nil, err
	}
	if _, err := p.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("must be one JSON object and nothing after it")
	}
	return value.(map[string]any), nil
}

// parser reads JSON values and refuses objects with a key that stands twice, and what lies too deep.
type parser struct{ *json.Decoder }

// value reads the next value. path is where it stands.
func (p parser) value(path string, depth int) (any, error) {
	token, err := p.Token()
	if err != nil {
		return nil, syntaxError(err)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth++; depth > maxDepth {
		return nil, fmt.Errorf("has more than %d levels", maxDepth)
	}
	if delim == '{' {
		return p.object(path, depth)
	}
	return p.list(path, depth)
}

// object reads the fields of an object and its end.
func (p parser) object(path string, depth int) (map[string]any, error) {
	fields := map[string]any{}
	for p.More() {
		token, err := p.Token()
		if err != nil {
			return nil, syntaxError(err)
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("is not JSON")
		}
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("has the key %.40q twice", join(path, key))
		}
		if fields[key], err = p.value(join(path, key), depth); err != nil {
			return nil, err
		}
	}
	if _, err := p.Token(); err != nil {
		return nil, syntaxError(err)
	}
	return fields, nil
}

// list reads the items of a list and its end.
func (p parser) list(path string, depth int) ([]any, error) {
	items := []any{}
	for p.More() {
		item, err := p.value(fmt.Sprintf("%s[%d]", path, len(items)), depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	if _, err := p.Token(); err != nil {
		return nil, syntaxError(err)
	}
	return items, nil
}

// syntaxError says whether JSON is wrong or ends too early.
func syntaxError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("ends before its JSON is complete")
	}
	return fmt.Errorf("is not JSON: %w", err)
}

// join returns the path of a key.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

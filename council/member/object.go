package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// maxReply bounds a reply in bytes, maxObject the JSON object in it, and maxDepth the objects and lists in each other.
	maxReply  = 4 << 20
	maxObject = 256 << 10
	maxDepth  = 8
)

// findObject returns the JSON object in a reply, which may stand in a code fence or between sentences. A reply with two objects is
// refused, because nobody knows which of them counts.
func findObject(reply string) (map[string]any, error) {
	if len(reply) > maxReply {
		return nil, fmt.Errorf("the reply is longer than %d MiB", maxReply>>20)
	}
	if !utf8.ValidString(reply) {
		return nil, errors.New("the reply is not UTF-8")
	}
	reply = stripFence(strings.TrimSpace(strings.TrimPrefix(reply, "\uFEFF")))
	start := strings.IndexByte(reply, '{')
	if start < 0 {
		return nil, errors.New("the reply contains no JSON object")
	}
	end := objectEnd(reply[start:])
	switch {
	case end < 0:
		return nil, errors.New("the JSON object of the reply is not complete")
	case end > maxObject:
		return nil, fmt.Errorf("the JSON object of the reply is longer than %d KiB", maxObject>>10)
	case strings.ContainsRune(reply[start+end:], '{'):
		return nil, errors.New("the reply contains more than one JSON object")
	}
	return parseObject(reply[start : start+end])
}

// stripFence removes a code fence around the whole reply.
func stripFence(reply string) string {
	rest, ok := strings.CutPrefix(reply, "```")
	if !ok {
		return reply
	}
	_, inner, many := strings.Cut(rest, "\n")
	inner, closed := strings.CutSuffix(inner, "```")
	if !many || !closed {
		return reply
	}
	return strings.TrimSpace(inner)
}

// objectEnd returns the length of the balanced object with which s begins, -1 if it has no end.
func objectEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// parseObject reads one JSON object.
func parseObject(s string) (map[string]any, error) {
	p := parser{json.NewDecoder(strings.NewReader(s))}
	p.UseNumber()
	value, err := p.value("", 0)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the reply is not a JSON object")
	}
	return object, nil
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
		return nil, fmt.Errorf("the JSON object has more than %d levels", maxDepth)
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
			return nil, errors.New("the reply is not JSON")
		}
		at := strings.TrimPrefix(path+"."+key, ".")
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("the key %.60q stands twice", at)
		}
		if fields[key], err = p.value(at, depth); err != nil {
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
		return errors.New("the JSON object of the reply is not complete")
	}
	return fmt.Errorf("the reply is not JSON: %w", err)
}

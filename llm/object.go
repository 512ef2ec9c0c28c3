package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadObject reads one JSON object and nothing else, with at most depth objects and lists in each other. Numbers are json.Number. An object
// with a key that stands twice is refused, because readers differ in which of the two counts. The error says what is wrong in words
// that help a model, as in "is not JSON".
func ReadObject(s string, depth int) (map[string]any, error) {
	if !strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") {
		return nil, errors.New("must be one JSON object and nothing before it")
	}
	p := objectParser{json.NewDecoder(strings.NewReader(s)), depth}
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

// objectParser reads JSON values.
type objectParser struct {
	*json.Decoder
	maxDepth int
}

// value reads the next value. path is where it stands.
func (p objectParser) value(path string, depth int) (any, error) {
	token, err := p.Token()
	if err != nil {
		return nil, syntaxError(err)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth++; depth > p.maxDepth {
		return nil, fmt.Errorf("has more than %d levels", p.maxDepth)
	}
	if delim == '{' {
		return p.object(path, depth)
	}
	return p.list(path, depth)
}

// object reads the fields of an object and its end.
func (p objectParser) object(path string, depth int) (map[string]any, error) {
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
		at := strings.TrimPrefix(path+"."+key, ".")
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("has the key %.40q twice", at)
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
func (p objectParser) list(path string, depth int) ([]any, error) {
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

package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/search"
)

// parseQuestion parses one line of a file of questions. It skips unknown keys, but returns an error if one is probably a
// misspelt known key.
func parseQuestion(line []byte) (Question, error) {
	var q Question
	var places []json.RawMessage
	err := parseObject(line, "", []field{
		{"id", "a text", &q.ID}, {"ws", "a text", &q.WS}, {"query", "a text", &q.Query}, {"category", "a text", &q.Category},
		{"lang", "a text", &q.Lang}, {"now", "a text", &q.Now}, {"relevant", "a list of places", &places},
	})
	if err != nil {
		return q, err
	}
	switch {
	case q.ID == "":
		return q, errors.New(`a question needs an "id"`)
	case q.WS == "" || !filepath.IsLocal(q.WS):
		return q, fmt.Errorf("ws is %q; name a folder in ws/", q.WS)
	case len(places) == 0:
		return q, errors.New(`"relevant" lists no place; a question without an answer belongs into golden questions`)
	}
	// Public sets hold blank questions, which find nothing.
	if strings.TrimSpace(q.Query) != "" {
		if err := checkText(`"query"`, q.Query); err != nil {
			return q, err
		}
	}
	for i, place := range places {
		r, err := parseRange(place, fmt.Sprintf("relevant[%d]", i))
		if err != nil {
			return q, err
		}
		q.Relevant = append(q.Relevant, r)
	}
	return q, nil
}

// parseRange parses one place; name is its name in errors.
func parseRange(text []byte, name string) (Range, error) {
	var r Range
	err := parseObject(text, name, []field{
		{"path", "a text", &r.Path}, {"start_line", "a whole number", &r.Start}, {"end_line", "a whole number", &r.End},
	})
	if err != nil {
		return r, err
	}
	if r.Path, err = localPath(r.Path); err != nil {
		return r, err
	}
	if r.Start < 1 || r.End < r.Start {
		return r, fmt.Errorf("%s: lines %d to %d are no range; lines count from 1", r.Path, r.Start, r.End)
	}
	return r, nil
}

// checkText returns an error for a question that no search accepts.
func checkText(name, question string) error {
	switch n := len(strings.TrimSpace(question)); {
	case n == 0:
		return fmt.Errorf("a question needs a %s; it is missing or blank", name)
	case n > search.MaxQueryBytes:
		return fmt.Errorf("the %s has %d bytes, more than %d", name, n, search.MaxQueryBytes)
	}
	return nil
}

// localPath returns a path in the form of results, without "./". It returns an error if the path leaves the workspace.
func localPath(text string) (string, error) {
	if clean := path.Clean(text); text != "" && filepath.IsLocal(clean) && clean != "." {
		return clean, nil
	}
	return "", fmt.Errorf("path %q is not within the workspace", text)
}

// field is a key of an object with the kind of its value, for errors, and a pointer to a variable for it.
type field struct {
	key, kind string
	to        any
}

// parseObject parses the fields of a JSON object and leaves variables of missing and null fields alone. name is the name of
// the object in errors, empty for the line itself.
func parseObject(text []byte, name string, fields []field) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return notObject(err, name)
	}
	full := func(key string) string { return strings.TrimPrefix(name+"."+key, ".") }
	for _, f := range fields {
		if value, ok := object[f.key]; ok && json.Unmarshal(value, f.to) != nil {
			return fmt.Errorf("%s must be %s", full(f.key), f.kind)
		}
		delete(object, f.key)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		for _, f := range fields {
			if resembles(key, f.key) {
				return fmt.Errorf("%s means nothing here; did you mean %s?", full(key), f.key)
			}
		}
	}
	return nil
}

// notObject returns the error for a text that is not an object; err is that of the parser, nil for null.
func notObject(err error, name string) error {
	var broken *json.SyntaxError
	switch {
	case name != "":
		return fmt.Errorf("%s must be an object with path, start_line and end_line", name)
	case errors.As(err, &broken):
		return fmt.Errorf("not a question: %w", err)
	}
	return errors.New("not a question: the line must be a JSON object")
}

// resembles reports whether an unknown key is probably a misspelt known one: at most two edits away, and fewer if the known
// key is short.
func resembles(key, known string) bool {
	return text.Distance(strings.ToLower(key), known) <= min(2, (len(known)-1)/2)
}

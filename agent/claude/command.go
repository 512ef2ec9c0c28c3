package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// command is a command of a model. Only the parameters of its verb are set.
type command struct {
	Verb       string   `json:"command"`
	Path       string   `json:"path"`
	ViewRange  []number `json:"view_range"`
	FileText   string   `json:"file_text"`
	OldStr     string   `json:"old_str"`
	NewStr     string   `json:"new_str"`
	InsertLine number   `json:"insert_line"`
	InsertText string   `json:"insert_text"`
	OldPath    string   `json:"old_path"`
	NewPath    string   `json:"new_path"`
}

// parameters of each command.
var parameters = map[string]struct{ required, optional []string }{
	"view":        {required: []string{"path"}, optional: []string{"view_range"}},
	"create":      {required: []string{"path", "file_text"}},
	"str_replace": {required: []string{"path", "old_str"}, optional: []string{"new_str"}},
	"insert":      {required: []string{"path", "insert_line", "insert_text"}},
	"delete":      {required: []string{"path"}},
	"rename":      {required: []string{"old_path", "new_path"}},
}

// number is a whole number that may be written as 5.0 or "5".
type number int

// UnmarshalJSON reads a number without a fraction.
func (n *number) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(bytes.Trim(data, `"`), &f); err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return &json.UnmarshalTypeError{Value: string(data), Type: reflect.TypeFor[number]()}
	}
	*n = number(f)
	return nil
}

// decode reads a command. A parameter that is null counts as missing. Parameters of other commands are refused.
func decode(input json.RawMessage) (command, error) {
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(input, &given); err != nil {
		return command{}, refuse("the input must be a JSON object with a command")
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return bytes.Equal(v, []byte("null")) })
	verbs := strings.Join(slices.Sorted(maps.Keys(parameters)), ", ")
	var c command
	if err := json.Unmarshal(given["command"], &c.Verb); err != nil {
		return command{}, refuse("command: must be one of %s", verbs)
	}
	p, known := parameters[c.Verb]
	if !known {
		return command{}, refuse("command: there is no %q; there are %s", c.Verb, verbs)
	}
	for _, name := range p.required {
		if given[name] == nil {
			return command{}, refuse("%s: the command %s needs it", name, c.Verb)
		}
	}
	takes := slices.Concat(p.required, p.optional)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name != "command" && !slices.Contains(takes, name) {
			return command{}, refuse("%s: the command %s takes no such parameter; it takes %s", name, c.Verb, strings.Join(takes, ", "))
		}
	}
	if err := json.Unmarshal(input, &c); err != nil {
		name, kinds := "input", map[string]string{"view_range": "two whole numbers, such as [1, 20]", "insert_line": "a whole number"}
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			name = wrong.Field
		}
		return command{}, refuse("%s: must be %s", name, cmp.Or(kinds[name], "a text"))
	}
	return c, nil
}

package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
)

// command is what a model asks for. Only the fields of its own verb are set.
type command struct {
	verb       string
	path       string
	viewRange  []number
	fileText   string
	oldStr     string
	newStr     string
	insertLine number
	insertText string
	oldPath    string
	newPath    string
}

// parameters of each command; those of required must be there.
var parameters = map[string]struct{ required, optional []string }{
	"view":        {required: []string{"path"}, optional: []string{"view_range"}},
	"create":      {required: []string{"path", "file_text"}},
	"str_replace": {required: []string{"path", "old_str"}, optional: []string{"new_str"}},
	"insert":      {required: []string{"path", "insert_line", "insert_text"}},
	"delete":      {required: []string{"path"}},
	"rename":      {required: []string{"old_path", "new_path"}},
}

// writes says that the command changes files.
func (c command) writes() bool { return c.verb != "view" }

// number is a whole number that may be written as 5.0.
type number int

// UnmarshalJSON reads a number without a fraction.
func (n *number) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return errors.New("a whole number is needed")
	}
	*n = number(f)
	return nil
}

// decode reads a command. A parameter that is null counts as left out; one that the command has no use for is refused.
func decode(input json.RawMessage) (command, error) {
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(input, &given); err != nil {
		return command{}, refuse("the input must be a JSON object with a command")
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(v), []byte("null")) })
	var c command
	if err := json.Unmarshal(given["command"], &c.verb); err != nil {
		return command{}, refuse("command: must be one of %s", verbs())
	}
	delete(given, "command")
	p, known := parameters[c.verb]
	if !known {
		return command{}, refuse("command: there is no %q; there are %s", c.verb, verbs())
	}
	for _, name := range p.required {
		if given[name] == nil {
			return command{}, refuse("%s: the command %s needs it", name, c.verb)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(p.required, name) && !slices.Contains(p.optional, name) {
			return command{}, refuse("%s: the command %s takes no such parameter; it takes %s", name, c.verb,
				strings.Join(slices.Concat(p.required, p.optional), ", "))
		}
		if err := json.Unmarshal(given[name], c.field(name)); err != nil {
			return command{}, refuse("%s: must be %s", name, kindOf(name))
		}
	}
	return c, nil
}

// field returns where a parameter goes.
func (c *command) field(name string) any {
	return map[string]any{
		"path": &c.path, "view_range": &c.viewRange, "file_text": &c.fileText, "old_str": &c.oldStr, "new_str": &c.newStr,
		"insert_line": &c.insertLine, "insert_text": &c.insertText, "old_path": &c.oldPath, "new_path": &c.newPath,
	}[name]
}

// kindOf says what a parameter must be.
func kindOf(name string) string {
	switch name {
	case "view_range":
		return "two whole numbers, such as [1, 20]"
	case "insert_line":
		return "a whole number"
	}
	return "a text"
}

func verbs() string { return strings.Join(slices.Sorted(maps.Keys(parameters)), ", ") }

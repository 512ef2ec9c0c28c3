package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

// Other names that models use for parameters.
var (
	searchAliases = map[string]string{
		"limit": "max_results", "top_k": "max_results", "maxResults": "max_results", "minScore": "min_score",
	}
	getAliases    = map[string]string{"start_line": "from", "startLine": "from"}
	appendAliases = map[string]string{"content": "text"}
	updateAliases = map[string]string{"old_str": "old_text", "new_str": "new_text", "file": "path"}
)

// Decode reads the input that a model gave into the struct at in, whose fields have JSON names. It returns a
// *memory.InputError, worded for the model, for an unknown parameter and for an input of the wrong form.
func Decode(input json.RawMessage, in any) error { return decode(input, nil, in) }

// Whole is an integer that a model may have written as 5.0 or "5".
type Whole int

// UnmarshalJSON reads a number without a fraction.
func (w *Whole) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(bytes.Trim(data, `"`), &f); err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return errors.New("must be a whole number")
	}
	*w = Whole(f)
	return nil
}

// decode reads a JSON object into the struct at in. A parameter that is null counts as left out.
func decode(input json.RawMessage, aliases map[string]string, in any) error {
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(input)) > 0 {
		if err := json.Unmarshal(input, &fields); err != nil {
			return &memory.InputError{Field: "input", Problem: "must be a JSON object"}
		}
	}
	target := fieldsOf(in)
	given := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name := key
		if to, ok := aliases[key]; ok {
			name = to
		}
		field, ok := target[name]
		if !ok {
			return &memory.InputError{Field: key, Problem: unknown("parameter", key, slices.Sorted(maps.Keys(target)))}
		}
		if first, twice := given[name]; twice {
			return &memory.InputError{Field: key, Problem: fmt.Sprintf("means the same as %s; give one of them", first)}
		}
		given[name] = key
		if err := json.Unmarshal(meant(fields[key], field), field); err != nil {
			return &memory.InputError{Field: key, Problem: wrongType(err)}
		}
	}
	return nil
}

// fieldsOf returns pointers to the fields of the struct at in by their JSON names.
func fieldsOf(in any) map[string]any {
	v := reflect.ValueOf(in).Elem()
	out := map[string]any{}
	for i := range v.NumField() {
		out[v.Type().Field(i).Tag.Get("json")] = v.Field(i).Addr().Interface()
	}
	return out
}

// meant returns a parameter as its field takes it if a client has sent a text for what is none: a number, a truth value or a list in
// quotes, one text or texts with commas for a list. A blank text counts as left out.
func meant(data json.RawMessage, field any) json.RawMessage {
	kind := reflect.TypeOf(field).Elem()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	var said string
	if kind.Kind() == reflect.String || json.Unmarshal(data, &said) != nil {
		return data
	}
	said = strings.TrimSpace(said)
	if said == "" {
		return json.RawMessage("null")
	}
	if kind.Kind() == reflect.Slice && !strings.HasPrefix(said, "[") {
		list, _ := json.Marshal(texts(said)) // a list of texts can be encoded
		return list
	}
	if kind.Kind() == reflect.Bool {
		said = strings.ToLower(said)
	}
	if bare := []byte(said); json.Valid(bare) {
		return bare
	}
	return data
}

// texts returns the texts between commas.
func texts(said string) []string {
	list := strings.Split(said, ",")
	for i, item := range list {
		list[i] = strings.TrimSpace(item)
	}
	return list
}

func wrongType(err error) string {
	var typeErr *json.UnmarshalTypeError
	if !errors.As(err, &typeErr) {
		return err.Error()
	}
	want := "a text"
	switch typeErr.Type.Kind() {
	case reflect.Float64:
		want = "a number"
	case reflect.Slice:
		want = "a list"
	case reflect.Bool:
		want = "true or false"
	}
	return fmt.Sprintf("must be %s, not %s", want, typeErr.Value)
}

// unknown says that there is no such thing, and which one may have been meant.
func unknown(kind, name string, known []string) string {
	if near := text.Nearest(name, known); near != "" {
		return fmt.Sprintf("unknown %s; did you mean %s?", kind, near)
	}
	return fmt.Sprintf("unknown %s; there are: %s", kind, strings.Join(known, ", "))
}

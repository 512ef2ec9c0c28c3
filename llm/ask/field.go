package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
)

// Kind of a field.
type Kind string

// Kinds of fields.
const (
	Text   Kind = "text"   // a string of 1 to Max characters
	Texts  Kind = "texts"  // a list of at most Items strings of at most Max characters; blank ones are left out
	Word   Kind = "word"   // one of Words
	Whole  Kind = "whole"  // the integer Is
	Share  Kind = "share"  // a number from 0 to 1
	Flag   Kind = "flag"   // true or false
	Object Kind = "object" // an object of Fields; keys that it does not declare are left out
)

// Field is a key of the object that a model answers with.
type Field struct {
	// Name in the object, and Kind of its value.
	Name string
	Kind Kind
	// Says what belongs there, for the prompt; empty for the fields of an Object.
	Says string
	// Optional fields may be missing, null or, if they are texts, empty.
	Optional bool
	// Words of a Word.
	Words []string
	// Max is the maximum number of characters, and Items that of the items of a list.
	Max, Items int
	// Is is the value of a Whole.
	Is int
	// Fields of an Object.
	Fields []Field
}

// Schema returns the JSON Schema of an object that has all of these fields and no others, in this order. It is of the subset that all
// providers can enforce, which has no lengths and ranges; Read checks them.
func Schema(fields []Field) json.RawMessage {
	var properties, required []string
	for _, f := range fields {
		properties = append(properties, fmt.Sprintf("%q:%s", f.Name, f.schema()))
		required = append(required, strconv.Quote(f.Name))
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
		strings.Join(properties, ","), strings.Join(required, ",")))
}

// schema returns the schema of the value of a field.
func (f Field) schema() string {
	switch f.Kind {
	case Texts:
		return `{"type":"array","items":{"type":"string"}}`
	case Word:
		words, _ := json.Marshal(f.Words) // strings always have a JSON form
		return fmt.Sprintf(`{"type":"string","enum":%s}`, words)
	case Whole:
		return fmt.Sprintf(`{"type":"integer","enum":[%d]}`, f.Is)
	case Share:
		if f.Optional {
			return `{"type":["number","null"]}`
		}
		return `{"type":"number"}`
	case Flag:
		return `{"type":"boolean"}`
	case Object:
		return string(Schema(f.Fields))
	}
	return `{"type":"string"}`
}

// Describe returns a line of the prompt for each field.
func Describe(fields []Field) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "- %q: %s\n", f.Name, f.Says)
	}
	return b.String()
}

// Read reads the JSON object of an answer, checks it by its fields to the letter, and decodes it into a pointer to a struct whose JSON
// tags are names of fields. Texts come without what controls a terminal. The error says what is wrong in words for the model.
func Read(answer string, fields []Field, into any) error {
	object, err := findObject(answer)
	if err != nil {
		return err
	}
	c := checker{}
	clean := c.object("", object, fields)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == key }) {
			c.complain(key, "is not a field of the contract")
		}
	}
	if len(c.errs) > 0 {
		return errors.Join(c.errs...)
	}
	data, err := json.Marshal(clean)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// Problem returns the error of a field, as Read does.
func Problem(field, problem string) error { return fmt.Errorf("%.60q %s", field, problem) }

// checker collects what is wrong with an object.
type checker struct{ errs []error }

func (c *checker) complain(key, problem string) { c.errs = append(c.errs, Problem(key, problem)) }

// object returns the values of fields. Values that are null and optional are left out.
func (c *checker) object(path string, values map[string]any, fields []Field) map[string]any {
	clean := map[string]any{}
	for _, f := range fields {
		if v := c.value(path+f.Name, values[f.Name], f); v != nil {
			clean[f.Name] = v
		}
	}
	return clean
}

// value returns the value of a field, nil for one that is missing or wrong.
func (c *checker) value(key string, v any, f Field) any {
	switch f.Kind {
	case Texts:
		return c.texts(key, v, f)
	case Word:
		if s, ok := v.(string); ok && slices.Contains(f.Words, s) {
			return s
		}
		c.complain(key, "must be "+strings.Join(quoted(f.Words), " or "))
	case Whole:
		n, ok := v.(json.Number)
		if got, err := n.Int64(); ok && err == nil && got == int64(f.Is) {
			return n
		}
		c.complain(key, fmt.Sprintf("must be %d", f.Is))
	case Share:
		return c.share(key, v, f.Optional)
	case Flag:
		if b, ok := v.(bool); ok {
			return b
		}
		c.complain(key, "must be true or false")
	case Object:
		values, ok := v.(map[string]any)
		if ok || v == nil && f.Optional {
			return c.object(key+".", values, f.Fields)
		}
		c.complain(key, "must be an object")
	default:
		return c.text(key, v, f)
	}
	return nil
}

// text returns a text.
func (c *checker) text(key string, v any, f Field) any {
	s, ok := v.(string)
	if v != nil && !ok {
		c.complain(key, "must be a string")
		return nil
	}
	s, ok = c.bounded(key, s, f.Max)
	if s == "" && ok && !f.Optional {
		c.complain(key, "is missing or empty")
	}
	return s
}

// bounded returns a cleaned text, and false for one that is too long.
func (c *checker) bounded(key, s string, limit int) (string, bool) {
	s = strings.TrimSpace(text.Clean(s))
	if n := utf8.RuneCountInString(s); n > limit {
		c.complain(key, fmt.Sprintf("has %d characters; at most %d", n, limit))
		return "", false
	}
	return s, true
}

// texts returns a list of texts.
func (c *checker) texts(key string, v any, f Field) any {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		c.complain(key, "must be a list of strings")
		return nil
	}
	if len(list) > f.Items {
		c.complain(key, fmt.Sprintf("has %d items; at most %d", len(list), f.Items))
		return nil
	}
	var texts []string
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			c.complain(key, "must be a list of strings")
			return nil
		}
		if s, ok = c.bounded(key, s, f.Max); ok && s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

// share returns a number from 0 to 1.
func (c *checker) share(key string, v any, optional bool) any {
	n, ok := v.(json.Number)
	if v == nil {
		if !optional {
			c.complain(key, "is missing")
		}
		return nil
	}
	if x, err := n.Float64(); !ok || err != nil || !(x >= 0 && x <= 1) {
		c.complain(key, "must be a number from 0 to 1")
		return nil
	}
	return n
}

func quoted(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = strconv.Quote(w)
	}
	return all
}

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
	"kioku/llm"
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
	// The values of these are left to the caller, who drops an item and keeps the others.
	Number  Kind = "number"  // any number
	Integer Kind = "integer" // any integer
	Any     Kind = "any"     // any string; Words are for the schema
	Strings Kind = "strings" // a list of any strings
	Objects Kind = "objects" // a list of objects of Fields
)

// Field is a key of the object that a model answers with.
type Field struct {
	// Name in the object, and Kind of its value.
	Name string
	Kind Kind
	// Says what belongs there, for the prompt; empty for the fields of an Object.
	Says string
	// Optional fields may be missing, null or, if they are texts, empty. Null lets the schema offer null.
	Optional, Null bool
	// Words of a Word.
	Words []string
	// Max is the maximum number of characters, and Items that of the items of a list.
	Max, Items int
	// Is is the value of a Whole.
	Is int
	// Fields of an Object or of each of Objects.
	Fields []Field
	// Bare is the field of an object that a string in place of Objects stands for; empty if none may.
	Bare string
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
	kind, rest := "string", ""
	switch f.Kind {
	case Texts, Strings:
		kind, rest = "array", `,"items":{"type":"string"}`
	case Objects:
		kind, rest = "array", `,"items":`+string(Schema(f.Fields))
	case Word, Any:
		if len(f.Words) > 0 {
			words, _ := json.Marshal(f.Words) // strings always have a JSON form
			rest = `,"enum":` + string(words)
		}
	case Whole:
		kind, rest = "integer", fmt.Sprintf(`,"enum":[%d]`, f.Is)
	case Share, Number:
		kind = "number"
	case Integer:
		kind = "integer"
	case Flag:
		kind = "boolean"
	case Object:
		kind, rest = "object", strings.TrimPrefix(string(Schema(f.Fields)), `{"type":"object"`)
		rest = strings.TrimSuffix(rest, "}")
	}
	if f.Null || f.Kind == Share && f.Optional {
		return fmt.Sprintf(`{"type":[%q,"null"]%s}`, kind, rest)
	}
	return fmt.Sprintf(`{"type":%q%s}`, kind, rest)
}

// Describe returns a line of the prompt for each field.
func Describe(fields []Field) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "- %q: %s\n", f.Name, f.Says)
	}
	return b.String()
}

// Read reads the JSON object of an answer, checks it by its fields, and decodes it into a pointer to a struct whose JSON tags are names
// of fields. Further keys are left out, which Further names. Texts come without what controls a terminal. The error says what is wrong
// in words for the model, a line for each problem.
func Read(answer string, fields []Field, into any) error {
	object, err := findObject(answer)
	if err != nil {
		return err
	}
	c := checker{}
	clean := c.object("", object, fields)
	if len(c.errs) > 0 {
		return errors.Join(c.errs...)
	}
	data, err := json.Marshal(clean)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// Further returns the keys of an answer that are no fields, sorted; none if the answer has no object.
func Further(answer string, fields []Field) []string {
	object, _ := findObject(answer)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(key string) bool {
		return slices.ContainsFunc(fields, func(f Field) bool { return f.Name == key })
	})
}

// StopError returns what is wrong with an answer that ended for a reason, nil if nothing is.
func StopError(stop string) error {
	switch stop {
	case llm.StopLength:
		return errors.New("the reply was cut off: give fewer and shorter items")
	case llm.StopRefusal:
		return errors.New("the reply is a refusal")
	case llm.StopTools:
		return errors.New("the reply calls a tool; answer with the JSON object only")
	}
	return nil
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
		v, there := values[f.Name]
		if isList := f.Kind == Strings || f.Kind == Objects; there && v == nil && isList {
			v = []any{} // null says that there is nothing
		}
		if v := c.value(path+f.Name, v, f); v != nil {
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
		if ok {
			return c.object(key+".", values, f.Fields)
		}
		if v != nil || !f.Optional {
			c.complain(key, "must be an object")
		}
	case Number, Integer, Any:
		return c.scalar(key, v, f)
	case Strings, Objects:
		return c.list(key, v, f)
	default:
		return c.text(key, v, f)
	}
	return nil
}

// scalar returns a number, an integer or a string whatever its value.
func (c *checker) scalar(key string, v any, f Field) any {
	n, isNumber := v.(json.Number)
	_, isString := v.(string)
	var err error
	switch {
	case v == nil && f.Optional:
		return nil
	case v == nil:
		c.complain(key, "is missing")
		return nil
	case f.Kind == Any && isString:
		return v
	case f.Kind == Any:
		c.complain(key, "must be a string")
		return nil
	case f.Kind == Integer:
		_, err = strconv.Atoi(n.String())
	default:
		_, err = n.Float64()
	}
	if !isNumber || err != nil {
		c.complain(key, "must be "+map[Kind]string{Integer: "an integer", Number: "a number"}[f.Kind])
		return nil
	}
	return v
}

// list returns a list of strings or of objects.
func (c *checker) list(key string, v any, f Field) any {
	if s, ok := v.(string); ok && f.Bare != "" {
		return []any{map[string]any{f.Bare: s}}
	}
	items, ok := v.([]any)
	if !ok {
		if v != nil || !f.Optional {
			c.complain(key, "must be a list of "+string(f.Kind))
		}
		return nil
	}
	list := make([]any, 0, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", key, i)
		if f.Kind == Strings {
			list = append(list, c.scalar(at, item, Field{Kind: Any}))
			continue
		}
		list = append(list, c.value(at, item, Field{Kind: Object, Fields: f.Fields}))
	}
	return list
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

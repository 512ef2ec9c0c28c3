package op

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// Field is a member of a request that a text can set.
type Field struct {
	// Name is its JSON name, and Doc what it means, as its tag jsonschema says; may be empty.
	Name, Doc string
	// Kind says what it has to be: "a whole number".
	Kind string
	// InPath reports that it is a part of the path, Flag that it is true or false.
	InPath, Flag bool
}

// Fields returns the members of the request of an operation that texts can set.
func (a About) Fields() (list []Field) {
	inPath := wildcards(a.Path())
	for _, f := range reflect.VisibleFields(a.In) {
		name, kind := jsonName(f), f.Type
		if kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		if name == "" || setValue(reflect.New(kind).Elem(), "") == errNoText {
			continue
		}
		list = append(list, Field{name, f.Tag.Get("jsonschema"), kindOf(kind), slices.Contains(inPath, name), kind.Kind() == reflect.Bool})
	}
	return list
}

// Ask calls an operation whose request is made of texts, by the names of its members, and yields its answer, or the parts of it, as JSON.
func Ask(ctx context.Context, conn http.RoundTripper, o Any, members map[string][]string) iter.Seq2[json.RawMessage, error] {
	a := o.About()
	return func(yield func(json.RawMessage, error) bool) {
		in := reflect.New(a.In).Elem()
		fields := fieldsOf(in)
		for name, values := range members {
			if err := setValues(fields, name, values); err != nil {
				yield(nil, err)
				return
			}
		}
		accept := jsonType
		if a.Stream {
			accept = linesType
		}
		resp, err := send(ctx, conn, a, in.Interface(), accept)
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		if !a.Stream {
			body, err := io.ReadAll(resp.Body)
			yield(json.RawMessage(strings.TrimSpace(string(body))), err)
			return
		}
		for line, err := range lines(resp.Body) {
			var part json.RawMessage
			if err == nil {
				err = partOf(line, &part)
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

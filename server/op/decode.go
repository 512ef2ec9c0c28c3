package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/server/httpapi"
)

const (
	jsonType  = "application/json"
	linesType = "application/x-ndjson"
	eventType = "text/event-stream"
)

// maxElements is the maximum number of elements and members of a body: an empty one takes two bytes in JSON and a hundred times
// as many in memory.
const maxElements = 200_000

// errNoJSON is the error of a body that is not said to be JSON.
var errNoJSON = httpapi.WithStatus(
	status.Error(codes.InvalidArgument, "the body is no JSON; send the header Content-Type: "+jsonType+", as curl --json does"), http.StatusUnsupportedMediaType)

// problem returns the error of a part of a request.
func problem(field, format string, args ...any) error {
	return &memory.InputError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// decode reads a request: from the path, and from the body or the query.
func decode(r *http.Request, a About, in reflect.Value) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return problem("query", "cannot be read: %s; encode each value as curl --data-urlencode does", err)
	}
	fields := fieldsOf(in)
	if a.InBody() {
		for _, name := range slices.Sorted(maps.Keys(query)) {
			return problem(name, "is in the query; %s takes all of the request from its body", a.Route)
		}
		if err := decodeBody(r, in); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if err := setValues(fields, name, query[name]); err != nil {
			return err
		}
	}
	for _, name := range wildcards(a.Path()) {
		field, ok := fields[name]
		switch {
		case ok && !field.IsZero():
			return problem(name, "is in the path already")
		case !utf8.ValidString(r.PathValue(name)):
			return problem(name, "is not valid UTF-8; percent-encode its UTF-8 bytes")
		}
		if err := setValues(fields, name, []string{r.PathValue(name)}); err != nil {
			return err
		}
	}
	return nil
}

// wildcards returns the names of the wildcards of a path.
func wildcards(path string) (names []string) {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(strings.TrimSuffix(name, "}"), "..."))
		}
	}
	return names
}

// decodeBody reads a body, which is JSON or empty. The server has bounded its size.
func decodeBody(r *http.Request, in reflect.Value) error {
	kind := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(kind)
	if kind != "" && (err != nil || media != jsonType) {
		return errNoJSON
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return problem("body", "ended early")
	case len(bytes.TrimSpace(body)) == 0:
		return nil
	case kind == "":
		return errNoJSON
	case countElements(body) > maxElements:
		return problem("body", "has more than %d elements; send less at a time", maxElements)
	}
	return unmarshalStrict(inSnake(body, fieldsOf(in)), in)
}

// inSnake returns a body whose members are called as they are here: max_results may be written maxResults, as in the contract of
// memory_search.
func inSnake(body []byte, fields map[string]reflect.Value) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body // which is refused
	}
	changed := false
	for name, value := range members {
		own := snake(name)
		_, known := fields[name]
		_, isOwn := fields[own]
		_, twice := members[own]
		if !known && isOwn && !twice {
			delete(members, name)
			members[own], changed = value, true
		}
	}
	if !changed {
		return body
	}
	renamed, err := json.Marshal(members)
	if err != nil {
		return body
	}
	return renamed
}

// countElements returns the number of elements and members of JSON, and of its objects and arrays.
func countElements(body []byte) int {
	n, inText := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	return n
}

// unmarshalStrict decodes JSON. An error names the member that is unknown or of the wrong kind.
func unmarshalStrict(body []byte, in reflect.Value) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(in.Addr().Interface())
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		return problem("body", "has more than one value")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return problem("body", "must be a JSON object")
		}
		return problem(wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], "must be %s, not %s", kindOf(wrong.Type), wrong.Value)
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		name = strings.Trim(name, `"`)
		return problem(name, "is no member of this request%s", nearest(name, fieldsOf(in)))
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return problem("body", "is no JSON: %s", err)
	}
	return problem("body", "does not fit: %s", err)
}

// fieldsOf returns the fields of a struct by their JSON names, those of structs in it included.
func fieldsOf(in reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for name, place := range Members(in.Type()) {
		fields[name] = in.FieldByIndex(place)
	}
	return fields
}

// Members returns the places of the members of a struct by their JSON names.
func Members(t reflect.Type) map[string][]int {
	places := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" {
			places[name] = f.Index
		}
	}
	return places
}

// jsonName returns the JSON name of a field, empty if it has none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || f.Anonymous || !f.IsExported() {
		return ""
	}
	return name
}

// setValues sets a field to values of a query or a path.
func setValues(fields map[string]reflect.Value, name string, values []string) error {
	field, ok := fields[name]
	if !ok {
		field, ok = fields[snake(name)]
	}
	switch {
	case !ok:
		return problem(name, "is no parameter of this route%s", nearest(name, fields))
	case len(values) > 1 && field.Kind() != reflect.Slice:
		return problem(name, "has %d values; one is possible", len(values))
	}
	for _, value := range values {
		if !utf8.ValidString(value) {
			return problem(name, "is not valid UTF-8")
		}
		one := field
		if field.Kind() == reflect.Slice {
			one = reflect.New(field.Type().Elem()).Elem()
		}
		if err := setValue(one, value); errors.Is(err, errNoText) {
			return problem(name, "cannot be in a query; send the request as JSON with POST")
		} else if err != nil {
			return problem(name, "must be %s, not %q", kindOf(one.Type()), text.Shorten(value, 100))
		}
		if field.Kind() == reflect.Slice {
			field.Set(reflect.Append(field, one))
		}
	}
	return nil
}

// errNoText: a value has parts, and no text stands for it.
var errNoText = errors.New("no text")

// setValue sets a value to what a text says.
func setValue(v reflect.Value, s string) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch to := v.Addr().Interface().(type) {
	case interface{ UnmarshalText([]byte) error }:
		return to.UnmarshalText([]byte(s))
	case *time.Duration:
		d, err := time.ParseDuration(s)
		*to = d
		return err
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
		return nil
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		v.SetBool(b)
		return err
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, v.Type().Bits())
		v.SetInt(n)
		return err
	case reflect.Float64:
		n, err := strconv.ParseFloat(s, 64)
		v.SetFloat(n)
		return err
	}
	return errNoText
}

// kindOf says what a value of a type has to be.
func kindOf(t reflect.Type) string {
	if t == nil {
		return "another kind of value"
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return "a time such as 2026-01-19T09:30:00Z"
	case reflect.TypeFor[time.Duration]():
		return "a duration such as 30s"
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a text"
}

// nearest proposes the field that was probably meant.
func nearest(name string, fields map[string]reflect.Value) string {
	if near := text.Nearest(name, slices.Sorted(maps.Keys(fields))); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; /v1/openapi.json describes them all"
}

// snake returns a name as "max_results" that is written as "maxResults".
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// schemas builds a JSON schema from the types of Go and the messages of the proto.
type schemas struct {
	// t has the comments on fields.
	t docs
	// closed schemas allow no unknown fields.
	closed bool
	defs   map[string]any
}

// document returns the schema of a value with the definitions that it needs.
func (s *schemas) document(v any) map[string]any {
	s.defs = map[string]any{}
	var out map[string]any
	if alternatives, ok := v.(either); ok {
		var all []any
		for _, a := range alternatives {
			all = append(all, s.of(reflect.TypeOf(a)))
		}
		out = map[string]any{"anyOf": all}
	} else {
		out = s.of(reflect.TypeOf(v))
	}
	if len(s.defs) > 0 {
		out["$defs"] = s.defs
	}
	return out
}

var (
	messageType = reflect.TypeFor[proto.Message]()
	timeType    = reflect.TypeFor[time.Time]()
)

// of returns the schema of a Go type as encoding/json writes it; of a message, as render writes it.
func (s *schemas) of(t reflect.Type) map[string]any {
	switch {
	case t.Implements(messageType):
		return s.message(reflect.Zero(t).Interface().(proto.Message).ProtoReflect().Descriptor())
	case t == timeType:
		return map[string]any{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner := s.of(t.Elem())
		return map[string]any{"anyOf": []any{inner, map[string]any{"type": "null"}}}
	case reflect.Array:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": []any{"array", "null"}, "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": []any{"object", "null"}, "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer"}
}

// object returns the schema of a struct.
func (s *schemas) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" || len(f.Index) > 1 && !embedded(t, f) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		p := s.of(f.Type)
		if doc := s.t.field(owner(t, f), f.Name); doc != "" {
			p["description"] = doc
		}
		properties[name] = p
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = append(required, name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "required": required}
	if s.closed {
		out["additionalProperties"] = false
	}
	return out
}

// embedded reports whether a promoted field comes from an embedded struct without a name in JSON.
func embedded(t reflect.Type, f reflect.StructField) bool {
	for _, i := range f.Index[:len(f.Index)-1] {
		outer := t.Field(i)
		if name, _, _ := strings.Cut(outer.Tag.Get("json"), ","); name != "" || !outer.Anonymous {
			return false
		}
		t = outer.Type
	}
	return true
}

// owner returns the struct that declares a field of t.
func owner(t reflect.Type, f reflect.StructField) reflect.Type {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t
}

// message returns a reference to the schema of a message.
func (s *schemas) message(m protoreflect.MessageDescriptor) map[string]any {
	switch m.FullName() {
	case "google.protobuf.Timestamp":
		return map[string]any{"type": "string", "format": "date-time"}
	case "google.protobuf.Duration":
		return map[string]any{"type": "string", "pattern": `^-?[0-9]+(\.[0-9]+)?s$`}
	}
	name := string(m.Name())
	ref := map[string]any{"$ref": "#/$defs/" + name}
	if s.defs[name] != nil {
		return ref
	}
	properties, required := map[string]any{}, []string{}
	def := map[string]any{"type": "object", "properties": properties}
	if s.closed {
		def["additionalProperties"] = false
	}
	s.defs[name] = def
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		p := s.protoField(f)
		if doc := s.t.fields[name+"."+string(f.Name())]; doc != "" {
			p["description"] = doc
		}
		properties[f.JSONName()] = p
		if !f.HasPresence() {
			required = append(required, f.JSONName())
		}
	}
	def["required"] = required
	return ref
}

// protoField returns the schema of a field of a message.
func (s *schemas) protoField(f protoreflect.FieldDescriptor) map[string]any {
	switch {
	case f.IsMap():
		return map[string]any{"type": "object", "additionalProperties": s.protoValue(f.MapValue())}
	case f.IsList():
		return map[string]any{"type": "array", "items": s.protoValue(f)}
	}
	return s.protoValue(f)
}

func (s *schemas) protoValue(f protoreflect.FieldDescriptor) map[string]any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return s.message(f.Message())
	case protoreflect.StringKind, protoreflect.EnumKind:
		return map[string]any{"type": "string"}
	case protoreflect.BytesKind:
		return map[string]any{"type": "string", "contentEncoding": "base64"}
	case protoreflect.BoolKind:
		return map[string]any{"type": "boolean"}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

// docs are the comments on fields: of structs by package, type and name, of messages by message and name.
type docs struct{ fields map[string]string }

// field returns the comment on a field of a struct.
func (d docs) field(t reflect.Type, name string) string {
	return d.fields[t.PkgPath()+"."+t.Name()+"."+name]
}

// sourceDocs reads the comments on the fields of all outputs.
var sourceDocs = sync.OnceValue(func() docs {
	d := docs{map[string]string{}}
	for pkg, dir := range map[string]string{
		"kioku/cmd/kioku": ".", "main": ".", "kioku/bench": "../../bench", "kioku/store": "../../store",
		"kioku/cmd/kioku/internal/modelstore": "internal/modelstore", "kioku/cmd/kioku/internal/modelcheck": "internal/modelcheck",
		"kioku/cmd/kioku/internal/doctor": "internal/doctor",
	} {
		files, _ := filepath.Glob(dir + "/*.go")
		for _, file := range files {
			d.readGo(pkg, file)
		}
	}
	files, _ := filepath.Glob("../../proto/kioku/v1/*.proto")
	for _, file := range files {
		d.readProto(file)
	}
	return d
})

// readGo reads the comments of a Go file. A field without a comment has that of the field before it in its paragraph.
func (d docs) readGo(pkg, file string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil || strings.HasSuffix(file, "_test.go") {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		t, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if st, ok := t.Type.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				for _, name := range f.Names {
					d.fields[pkg+"."+t.Name.Name+"."+name.Name] = oneLine(f.Doc.Text() + f.Comment.Text())
				}
			}
		}
		return true
	})
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	protoMessage = regexp.MustCompile(`^message (\w+) \{`)
	protoField   = regexp.MustCompile(`^\s+(?:optional |repeated )?[\w.<>, ]+ (\w+) = \d+`)
)

// readProto reads the comments of a proto file.
func (d docs) readProto(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	message, comment := "", ""
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimSpace(line)
		switch m, f := protoMessage.FindStringSubmatch(line), protoField.FindStringSubmatch(line); {
		case strings.HasPrefix(trimmed, "//"):
			comment += " " + strings.TrimSpace(strings.TrimPrefix(trimmed, "//"))
			continue
		case m != nil:
			message = m[1]
		case f != nil:
			d.fields[message+"."+f[1]] = oneLine(comment)
		}
		comment = ""
	}
}

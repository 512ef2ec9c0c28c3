package op

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kioku/memory"
)

// schemaOptions say how types look as JSON that have a form of their own.
var schemaOptions = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[time.Time]():          {Type: "string", Format: "date-time"},
	reflect.TypeFor[memory.Sensitivity](): {Type: "string", Enum: []any{"normal", "private", "secret"}},
	reflect.TypeFor[time.Duration]():      {Type: "string", Description: "a duration: 1.5ms"},
}}

// SchemaOf returns the JSON Schema of a type of a request or an answer.
func SchemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(t, schemaOptions)
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", t, err)
	}
	return s, nil
}

// Open returns a schema that allows members which it does not know, as answers of later versions may have.
func Open(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	open := *s
	open.Properties = maps.Clone(s.Properties)
	for name, p := range open.Properties {
		open.Properties[name] = Open(p)
	}
	if open.Items = Open(s.Items); len(s.Properties) > 0 {
		open.AdditionalProperties = nil
	}
	open.AnyOf = slices.Clone(s.AnyOf)
	for i, one := range open.AnyOf {
		open.AnyOf[i] = Open(one)
	}
	return &open
}

// OpenAPI returns the OpenAPI document of operations.
func OpenAPI(title, version string, ops ...Any) ([]byte, error) {
	paths := map[string]map[string]any{}
	for _, o := range ops {
		a := o.About()
		described, err := describe(a)
		if err != nil {
			return nil, err
		}
		path := strings.ReplaceAll(a.Path(), "...}", "}")
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(a.Method())] = described
	}
	return json.Marshal(map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": title, "version": version}, "paths": paths,
		"components": map[string]any{"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}}},
		"security":   []any{map[string]any{"token": []any{}}, map[string]any{}},
	})
}

// describe returns an operation as OpenAPI has it.
func describe(a About) (map[string]any, error) {
	out, err := SchemaOf(a.Out)
	if err != nil {
		return nil, err
	}
	in, err := SchemaOf(a.In)
	if err != nil {
		return nil, err
	}
	summary, _, _ := strings.Cut(a.Doc, ". ")
	kind := jsonType
	if a.Stream {
		kind = linesType
	}
	described := map[string]any{
		"operationId": strings.ReplaceAll(a.Name, " ", "_"), "summary": strings.TrimSuffix(summary, ".") + ".", "description": a.Doc,
		"responses": map[string]any{
			"200":     map[string]any{"description": "The answer.", "content": map[string]any{kind: map[string]any{"schema": Open(out)}}},
			"default": map[string]any{"description": "An error.", "content": map[string]any{jsonType: map[string]any{"schema": errorSchema}}},
		},
	}
	if a.Right != "" {
		described["x-right"] = a.Right
	}
	inPath := wildcards(a.Path())
	var parameters []any
	for _, name := range inPath {
		parameters = append(parameters, map[string]any{"name": name, "in": "path", "required": true, "schema": in.Properties[name]})
		delete(in.Properties, name)
		in.Required = slices.DeleteFunc(in.Required, func(r string) bool { return r == name })
		in.PropertyOrder = slices.DeleteFunc(in.PropertyOrder, func(p string) bool { return p == name })
	}
	switch {
	case a.InBody():
		described["requestBody"] = map[string]any{"content": map[string]any{jsonType: map[string]any{"schema": in}}}
	default:
		for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
			parameters = append(parameters, map[string]any{"name": name, "in": "query", "schema": in.Properties[name],
				"required": slices.Contains(in.Required, name)})
		}
	}
	if len(parameters) > 0 {
		described["parameters"] = parameters
	}
	return described, nil
}

// errorSchema describes an error.
var errorSchema = func() *jsonschema.Schema {
	s, err := jsonschema.For[struct {
		Error Error `json:"error"`
	}](nil)
	if err != nil {
		panic(err) // of a type of this package
	}
	return s
}()

package contract

import (
	"encoding/json"
)

// node is a JSON Schema in the subset that all providers take: types, enums, lists, and closed objects that need all keys. What may
// be left out is a key that may be null. Lengths and ranges are said in the text and checked by the reader.
type node struct {
	kind     string // "object", "array", "string", "number" or "integer"
	nullable bool
	enum     []string
	items    *node
	fields   []field
}

// field is one key of an object, in the order in which a model is to write them.
type field struct {
	key string
	node
}

func str(values ...string) node     { return node{kind: "string", enum: values} }
func num() node                     { return node{kind: "number"} }
func integer() node                 { return node{kind: "integer"} }
func list(of node) node             { return node{kind: "array", items: &of} }
func obj(fields ...field) node      { return node{kind: "object", fields: fields} }
func key(name string, n node) field { return field{name, n} }

// orNull returns a node that may be null.
func (n node) orNull() node {
	n.nullable = true
	return n
}

// schema returns the JSON of a schema. Its keys keep their order.
func (n node) schema() json.RawMessage {
	b := []byte(`{"type":`)
	if n.nullable {
		b = append(b, `["`+n.kind+`","null"]`...)
	} else {
		b = append(b, `"`+n.kind+`"`...)
	}
	if len(n.enum) > 0 {
		b = append(append(b, `,"enum":`...), quoted(n.enum...)...)
	}
	if n.items != nil {
		b = append(append(b, `,"items":`...), n.items.schema()...)
	}
	if n.kind == "object" {
		b = append(b, `,"properties":{`...)
		names := make([]string, 0, len(n.fields))
		for i, f := range n.fields {
			if i > 0 {
				b = append(b, ',')
			}
			name, _ := json.Marshal(f.key) // a string always has a JSON form
			b = append(append(append(b, name...), ':'), f.schema()...)
			names = append(names, f.key)
		}
		b = append(append(b, `},"required":`...), quoted(names...)...)
		b = append(b, `,"additionalProperties":false`...)
	}
	return append(b, '}')
}

// quoted returns strings as a JSON list.
func quoted(values ...string) []byte {
	b, _ := json.Marshal(values) // strings always have a JSON form
	return b
}

// evidenceSchema is the list of quotes of a claim.
func evidenceSchema() node {
	return list(obj(key("line", integer()), key("quote", str())))
}

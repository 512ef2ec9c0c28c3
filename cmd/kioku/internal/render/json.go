package render

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// messageJSON returns a message as proto3 JSON in which every number is one. The standard mapping writes those of 64 bits as
// text.
func messageJSON(m proto.Message) (json.RawMessage, error) {
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	return numbersIn(text, m.ProtoReflect().Descriptor())
}

// numbersIn returns the JSON object of a message with its numbers of 64 bits as numbers. The order of the fields is kept.
func numbersIn(object json.RawMessage, message protoreflect.MessageDescriptor) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return object, err // a message that is no object in JSON, such as a time
	}
	out := []byte{'{'}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if field := message.Fields().ByJSONName(fmt.Sprint(name)); field != nil {
			if value, err = numbersOf(value, field); err != nil {
				return nil, err
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(fmt.Appendf(out, "%q:", name), value...)
	}
	return append(out, '}'), nil
}

// numbersOf does what numbersIn does for the value of a field.
func numbersOf(value json.RawMessage, field protoreflect.FieldDescriptor) (json.RawMessage, error) {
	if field.IsMap() {
		return value, nil // no message of ours has one with such numbers
	}
	if len(value) > 0 && value[0] == '[' {
		var items []json.RawMessage
		if err := json.Unmarshal(value, &items); err != nil {
			return nil, err
		}
		out := []byte{'['}
		for i, item := range items {
			item, err := numbersOf(item, field)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, item...)
		}
		return append(out, ']'), nil
	}
	switch field.Kind() {
	case protoreflect.Int64Kind, protoreflect.Uint64Kind, protoreflect.Sint64Kind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return bytes.Trim(value, `"`), nil
	case protoreflect.MessageKind:
		return numbersIn(value, field.Message())
	}
	return value, nil
}

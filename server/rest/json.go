package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kioku/server/httpapi"
)

const contentType = "application/json"

// marshaler encodes messages as proto3 JSON with the fields that have their default, as kioku --json does.
type marshaler struct{}

// ContentType returns application/json.
func (marshaler) ContentType(any) string { return contentType }

// Marshal returns the JSON of a message on one line.
func (marshaler) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("no message: %T", v)
	}
	return httpapi.MarshalLine(m, protojson.MarshalOptions{EmitDefaultValues: true})
}

// Unmarshal decodes a message.
func (marshaler) Unmarshal(data []byte, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("no message: %T", v)
	}
	return decodeJSON(data, m)
}

// NewDecoder returns a decoder of a body that was read before.
func (marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		body, decoded := r.(decodedBody)
		m, ok := v.(proto.Message)
		if !decoded || !ok {
			return errors.New("the body was not read")
		}
		proto.Merge(m, body.message)
		return nil
	})
}

// NewEncoder returns an encoder.
func (m marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		data, err := m.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
}

// maxElements is the maximum number of elements and members of a body: an empty one takes two bytes in JSON and a hundred times
// as many in memory.
const maxElements = 200_000

// decodeJSON decodes a body into a message. An empty body is an empty message. The error names the field.
func decodeJSON(body []byte, message proto.Message) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if countElements(body) > maxElements {
		return badField("body", "has more than %d elements; send less at a time", maxElements)
	}
	err := protojson.Unmarshal(body, message)
	if err == nil {
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return badField("body", "is no JSON: %s", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return badField("body", "must be a JSON object")
	}
	if err := unknownField("", object, message.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	return fieldOfError(err)
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

// unknownField returns the error of the first member of an object that its message does not have, nil if there is none.
func unknownField(before string, object map[string]any, desc protoreflect.MessageDescriptor) error {
	if isWellKnown(desc) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field := fieldNamed(desc.Fields(), name)
		if field == nil {
			return badField(before+name, "is no field of %s%s", desc.Name(), nearestField(name, desc.Fields()))
		}
		if field.Message() == nil {
			continue
		}
		elements, isList := object[name].([]any)
		if !isList {
			elements = []any{object[name]}
		}
		for i, e := range elements {
			inner, ok := e.(map[string]any)
			if !ok {
				continue
			}
			path := before + name + "."
			if isList {
				path = fmt.Sprintf("%s%s[%d].", before, name, i)
			}
			if err := unknownField(path, inner, field.Message()); err != nil {
				return err
			}
		}
	}
	return nil
}

// valueError is what protojson says of a value of the wrong kind, and twiceError of a field that is there twice.
var (
	valueError = regexp.MustCompile(`invalid value for (\S+) field (\S+): (.*)`)
	twiceError = regexp.MustCompile(`duplicate field "([^"]*)"`)
)

// fieldOfError returns the error of protojson as that of a field.
func fieldOfError(err error) error {
	// protojson varies its blanks on purpose.
	said := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	if m := valueError.FindStringSubmatch(said); m != nil {
		return badField(m[2], "must be of the type %s, not %s", m[1], m[3])
	}
	if m := twiceError.FindStringSubmatch(said); m != nil {
		return badField(m[1], "is there twice")
	}
	return badField("body", "does not fit: %s", strings.TrimPrefix(said, "proto: "))
}

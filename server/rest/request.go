package rest

import (
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"kioku/internal/text"
	"kioku/server/httpapi"
)

// decodedBody takes the place of a body that has been read.
type decodedBody struct{ message proto.Message }

// Read returns io.EOF.
func (decodedBody) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing.
func (decodedBody) Close() error { return nil }

// readRequest returns the message of a request, or an error that names what is wrong with it.
func readRequest(r *http.Request, route Route, path map[string]string) (proto.Message, error) {
	message, err := newMessage(route.RPC.Input())
	if err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badField("query", "cannot be read: %s; encode each value as curl --data-urlencode does", err)
	}
	if !route.Body {
		return message, readQuery(message, query, path)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		return nil, badField(name, "is in the query; %s takes all of the request from its body", route.name())
	}
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if err := decodeJSON(body, message); err != nil {
		return nil, err
	}
	return message, setPath(message, path)
}

// newMessage returns an empty message of a type.
func newMessage(desc protoreflect.MessageDescriptor) (proto.Message, error) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(desc.FullName())
	if err != nil {
		return nil, fmt.Errorf("find the message %s: %w", desc.FullName(), err)
	}
	return kind.New().Interface(), nil
}

// readBody returns the body of a request, which is JSON or empty. The server has bounded its size.
func readBody(r *http.Request) ([]byte, error) {
	kind := r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); kind != "" && (err != nil || media != contentType) {
		return nil, errNoJSON(fmt.Sprintf("the body is %q, and this route takes JSON", kind))
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return nil, badField("body", "ended early")
	case kind == "" && len(body) > 0:
		return nil, errNoJSON("the body has no type")
	}
	return body, nil
}

// errNoJSON is the error of a body of another type.
func errNoJSON(what string) error {
	err := status.Errorf(codes.InvalidArgument, "%s; send the header Content-Type: %s, as curl --json does", what, contentType)
	return httpapi.WithStatus(err, http.StatusUnsupportedMediaType)
}

// readQuery sets the fields of a message that the path and the query of a request name.
func readQuery(message proto.Message, query url.Values, path map[string]string) error {
	fields := message.ProtoReflect().Descriptor().Fields()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		field := fieldNamed(fields, name)
		switch _, inPath := path[name]; {
		case field == nil:
			return badField(name, "is no parameter of this route%s", nearestField(name, fields))
		case inPath:
			return badField(name, "is in the path already")
		case field.Message() != nil && !isWellKnown(field.Message()):
			return badField(name, "cannot be in a query; send the request as JSON with POST")
		case !field.IsList() && len(query[name]) > 1:
			return badField(name, "has %d values; one is possible", len(query[name]))
		}
		for _, value := range query[name] {
			if !utf8.ValidString(value) {
				return badField(name, "is not valid UTF-8")
			}
			if err := setField(message, field, value); err != nil {
				return badField(name, "must be %s, not %q", wantedKind(field), text.Shorten(value, 100))
			}
		}
	}
	return setPath(message, path)
}

// setPath sets the fields of a message that the path of a request names, and that nothing else has set.
func setPath(message proto.Message, path map[string]string) error {
	for name, value := range path {
		if field := fieldNamed(message.ProtoReflect().Descriptor().Fields(), name); field != nil && message.ProtoReflect().Has(field) {
			return badField(name, "is in the path already")
		}
		if !utf8.ValidString(value) {
			return badField(name, "is not valid UTF-8; percent-encode its UTF-8 bytes")
		}
		if err := runtime.PopulateFieldFromPath(message, name, value); err != nil {
			return badField(name, "cannot be read")
		}
	}
	return nil
}

// setField sets a field to a value of a query, as the gateway does, or adds the value to a list.
func setField(message proto.Message, field protoreflect.FieldDescriptor, value string) error {
	return runtime.PopulateQueryParameters(message, url.Values{string(field.Name()): {value}}, utilities.NewDoubleArray(nil))
}

// fieldNamed returns the field with a name, as JSON or the proto writes it.
func fieldNamed(fields protoreflect.FieldDescriptors, name string) protoreflect.FieldDescriptor {
	if field := fields.ByJSONName(name); field != nil {
		return field
	}
	return fields.ByTextName(name)
}

// nearestField proposes the field that was probably meant.
func nearestField(name string, fields protoreflect.FieldDescriptors) string {
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = fields.Get(i).JSONName()
	}
	if near := text.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; " + openAPIPath + " describes them all"
}

// isWellKnown reports whether a message is a text in JSON: a time or a duration.
func isWellKnown(m protoreflect.MessageDescriptor) bool {
	return m.ParentFile().Package() == "google.protobuf"
}

// wantedKind says what the value of a field has to be.
func wantedKind(field protoreflect.FieldDescriptor) string {
	switch field.Kind() {
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return "a whole number"
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return "a number"
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.MessageKind:
		if field.Message().Name() == "Timestamp" {
			return "a time such as 2026-01-19T09:30:00Z"
		}
	}
	return "a " + field.Kind().String()
}

// badField returns the error of a field, or of the part of a request that is named instead.
func badField(field, format string, args ...any) error {
	problem := fmt.Sprintf(format, args...)
	detail := &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: problem}}}
	st := status.New(codes.InvalidArgument, field+": "+problem)
	if with, err := st.WithDetails(detail); err == nil {
		st = with
	}
	return st.Err()
}

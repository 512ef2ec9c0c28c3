package server

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kioku/internal/text"
)

// makeValid makes every text of a message valid UTF-8, because one bad byte would cost the whole message. It ignores values
// that are no message. The messages served here have no maps of texts.
func makeValid(message any) {
	if m, ok := message.(proto.Message); ok {
		makeFieldsValid(m.ProtoReflect())
	}
}

func makeFieldsValid(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
		case fd.IsList():
			list := v.List()
			for i := range list.Len() {
				if fixed, bad := validValue(fd, list.Get(i)); bad {
					list.Set(i, fixed)
				}
			}
		default:
			if fixed, bad := validValue(fd, v); bad {
				m.Set(fd, fixed)
			}
		}
		return true
	})
}

// validValue returns the text that replaces a bad one. It makes messages valid in place.
func validValue(fd protoreflect.FieldDescriptor, v protoreflect.Value) (fixed protoreflect.Value, bad bool) {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		makeFieldsValid(v.Message())
	case protoreflect.StringKind:
		if s := v.String(); !utf8.ValidString(s) {
			return protoreflect.ValueOfString(valid(s)), true
		}
	}
	return v, false
}

// valid returns s with U+FFFD in place of every run of bytes that is not UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clip returns at most n bytes of s as valid UTF-8, with "..." if it cut something.
func clip(s string, n int) string {
	head := text.HeadBytes(s, n)
	if len(head) < len(s) {
		head += "..."
	}
	return valid(head)
}

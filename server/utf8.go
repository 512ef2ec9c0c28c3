package server

import (
	"context"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kioku/internal/text"
)

// validUnary makes every text of a response valid UTF-8: a single bad byte would otherwise cost the whole response.
func validUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	resp, err := next(ctx, req)
	if m, ok := resp.(proto.Message); ok && err == nil {
		makeValid(m.ProtoReflect())
	}
	return resp, err
}

// validStream is validUnary for streams.
func validStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return next(srv, validating{stream})
}

type validating struct{ grpc.ServerStream }

// SendMsg sends m with every text made valid.
func (v validating) SendMsg(m any) error {
	if p, ok := m.(proto.Message); ok {
		makeValid(p.ProtoReflect())
	}
	return v.ServerStream.SendMsg(m)
}

// makeValid walks through a message and those in it. The messages served here have no maps of texts.
func makeValid(m protoreflect.Message) {
	if !m.IsValid() {
		return
	}
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

// validValue returns a text to put in the place of a bad one; messages it makes valid in place.
func validValue(fd protoreflect.FieldDescriptor, v protoreflect.Value) (fixed protoreflect.Value, bad bool) {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		makeValid(v.Message())
	case protoreflect.StringKind:
		if s := v.String(); !utf8.ValidString(s) {
			return protoreflect.ValueOfString(valid(s)), true
		}
	}
	return v, false
}

// valid returns s with U+FFFD for every run of bytes that is not UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clip returns at most n bytes of s, valid UTF-8, with "..." where something was cut.
func clip(s string, n int) string {
	head := text.HeadBytes(s, n)
	if len(head) < len(s) {
		head += "..."
	}
	return valid(head)
}

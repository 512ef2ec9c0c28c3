package server

import (
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxElements is the maximum number of messages and texts in the lists of a request. An empty one takes two bytes on the wire
// and a hundred times as many in memory.
const maxElements = 200_000

// request is a message as it is received: unlike gRPC, which calls bad bytes an internal error, it keeps the error for
// the handler.
type request struct {
	message any
	// size of the message in bytes.
	size int
	err  error
}

// codec encodes and decodes messages; a request keeps its error.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(encodingproto.Name)} }

// Unmarshal decodes a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*request)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buf.Free()
	r.decode(buf.ReadOnlyData())
	return nil
}

// decode decodes the message.
func (r *request) decode(data []byte) {
	r.size = len(data)
	m := r.message.(proto.Message) // as all messages of gRPC are
	left := maxElements
	if countElements(data, m.ProtoReflect().Descriptor(), &left); left < 0 {
		r.err = badField("request", "has more than %d entries in its lists", maxElements)
		return
	}
	if err := proto.Unmarshal(data, m); err != nil {
		r.err = badEncoding(err)
	}
}

// badEncoding returns the error of a request that is no message.
func badEncoding(err error) error {
	return badField("request", "cannot be decoded; texts must be valid UTF-8: %s", err)
}

// countElements subtracts the messages and texts in the lists of an encoded message from left, until left is negative. It
// ignores what cannot be decoded.
func countElements(data []byte, desc protoreflect.MessageDescriptor, left *int) {
	for len(data) > 0 && *left >= 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return
		}
		data = data[n:]
		size := protowire.ConsumeFieldValue(number, kind, data)
		if size < 0 {
			return
		}
		field := desc.Fields().ByNumber(number)
		if field != nil && kind == protowire.BytesType && field.Cardinality() == protoreflect.Repeated {
			*left--
		}
		if field != nil && kind == protowire.BytesType && field.Kind() == protoreflect.MessageKind {
			value, _ := protowire.ConsumeBytes(data)
			countElements(value, field.Message(), left)
		}
		data = data[size:]
	}
}

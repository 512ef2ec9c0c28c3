package server_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// rawCodec sends bytes as they are and ignores what it receives.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }
func (rawCodec) Name() string                         { return "proto" }

var _ encoding.CodecV2 = rawCodec{}

// field returns an encoded field of bytes.
func field(number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

// Hazard D13: bytes that are no request, or would take much more room as a message, are the fault of their sender.
func TestRequestThatCannotBeDecodedIsInvalid(t *testing.T) {
	t.Parallel()
	conn := dial(t, besideOnTCP(t, agents(&fakeMemory{}), map[string]server.Sidecar{"main": &fakeSidecar{}}))
	search, watch := kiokuv1.MemoryService_MemorySearch_FullMethodName, kiokuv1.MemoryService_WatchEvents_FullMethodName
	inMessage := strings.Repeat(string(field(4, "")), 300_000)
	for name, c := range map[string]struct {
		method string
		bytes  []byte
		want   string
	}{
		"no UTF-8":           {search, field(1, "ma\xffin"), "valid UTF-8"},
		"no UTF-8, a stream": {watch, field(1, "ma\xffin"), "valid UTF-8"},
		"no message":         {search, []byte("\xff\xff\xff"), "cannot be decoded"},
		"a long list":        {search, []byte(strings.Repeat(string(field(5, "")), 300_000)), "more than 200000 entries"},
		"a list in a list":   {kiokuv1.AgentService_Prune_FullMethodName, field(2, inMessage), "more than 200000 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, c.method, grpc.ForceCodecV2(rawCodec{}))
			if err != nil {
				t.Fatal(err)
			}
			if err := stream.SendMsg(c.bytes); err != nil {
				t.Fatal(err)
			}
			if err := stream.CloseSend(); err != nil {
				t.Fatal(err)
			}
			err = stream.RecvMsg(new(any))
			wantCode(t, err, codes.InvalidArgument)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}

package server

import (
	"context"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/op"
)

// grpcNames are the names of the operations that methods of gRPC stand for. Fields of their messages are the members of the operations'
// structs with the same JSON names.
var grpcNames = map[protoreflect.Name]string{
	"MemorySearch": "search", "MemoryGet": "get", "MemoryAppend": "append", "MemoryUpdate": "update", "MemoryUndo": "undo",
	"Status": "status", "Sync": "sync", "Rebuild": "rebuild", "WatchEvents": "events", "ListAgents": "agents",

	"AssemblePrompt": "prompt", "Recall": "recall", "Prune": "prune", "CheckFlush": "flush check", "BeginFlush": "flush begin",
	"CommitFlush": "flush commit", "Flush": "flush", "Compact": "compact", "EndSession": "session end", "BeginCompact": "compact begin",
	"CommitCompact": "compact commit", "ListTools": "tools", "CallTool": "tools call",
}

// memoryService and agentService are what gRPC serves.
var (
	memoryService = kiokuv1.File_kioku_v1_memory_proto.Services().ByName("MemoryService")
	agentService  = kiokuv1.File_kioku_v1_agent_proto.Services().ByName("AgentService")
)

// grpcService describes a service whose methods are operations.
func (s *Server) grpcService(service protoreflect.ServiceDescriptor) *grpc.ServiceDesc {
	ops := map[string]op.Any{}
	for _, o := range s.operations() {
		ops[o.About().Name] = o
	}
	desc := &grpc.ServiceDesc{ServiceName: string(service.FullName()), HandlerType: (*any)(nil), Metadata: service.ParentFile().Path()}
	for i := range service.Methods().Len() {
		m := service.Methods().Get(i)
		o, name := ops[grpcNames[m.Name()]], string(m.Name())
		if m.IsStreamingServer() {
			desc.Streams = append(desc.Streams, grpc.StreamDesc{StreamName: name, ServerStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
				ctx := op.OnReady(stream.Context(), func() { _ = stream.SendHeader(metadata.MD{}) })
				return answer(ctx, o, m, stream.RecvMsg, stream.SendMsg)
			}})
			continue
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, receive func(any) error, _ grpc.UnaryServerInterceptor) (resp any, err error) {
			return resp, answer(ctx, o, m, receive, func(m any) error { resp = m; return nil })
		}})
	}
	return desc
}

// answer runs an operation for a call of gRPC.
func answer(ctx context.Context, o op.Any, m protoreflect.MethodDescriptor, receive, send func(any) error) error {
	req := emptyMessage(m.Input())
	if err := receive(req.Interface()); err != nil {
		return err
	}
	in := reflect.New(o.About().In).Elem()
	if err := fill(in, req); err != nil {
		return err
	}
	for out, err := range o.Run(ctx, in.Interface()) {
		if err != nil {
			return err
		}
		resp := emptyMessage(m.Output())
		fillMessage(resp, reflect.ValueOf(out))
		if err := send(resp.Interface()); err != nil {
			return err
		}
	}
	return nil
}

// emptyMessage returns a new message. That of a type which is not linked has no fields.
func emptyMessage(d protoreflect.MessageDescriptor) protoreflect.Message {
	t, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		panic(fmt.Sprintf("message %s is not linked: %v", d.FullName(), err)) // the descriptor is of the same file
	}
	return t.New()
}

// members are the places of the members of structs by their JSON names, by type.
var members sync.Map

// memberOf returns the member of a struct that a field of a message stands for; it is not valid if there is none.
func memberOf(v reflect.Value, field protoreflect.FieldDescriptor) reflect.Value {
	known, ok := members.Load(v.Type())
	if !ok {
		known, _ = members.LoadOrStore(v.Type(), op.Members(v.Type()))
	}
	places := known.(map[string][]int)
	at, ok := places[string(field.Name())]
	if !ok {
		at, ok = places[field.JSONName()]
	}
	if !ok {
		return reflect.Value{}
	}
	return v.FieldByIndex(at)
}

// fill sets the members of a struct to the fields of a message.
func fill(v reflect.Value, m protoreflect.Message) (err error) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		to := memberOf(v, field)
		if !to.IsValid() {
			return true
		}
		if !field.IsList() {
			err = setMember(to, field, value)
			return err == nil
		}
		list := value.List()
		to.Set(reflect.MakeSlice(to.Type(), list.Len(), list.Len()))
		for i := range list.Len() {
			if err = setMember(to.Index(i), field, list.Get(i)); err != nil {
				return false
			}
		}
		return true
	})
	return err
}

// setMember sets a value to one of a message.
func setMember(to reflect.Value, field protoreflect.FieldDescriptor, value protoreflect.Value) error {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch field.Kind() {
	case protoreflect.MessageKind:
		t, ok := value.Message().Interface().(*timestamppb.Timestamp)
		switch {
		case !ok:
			return fill(to, value.Message())
		case t.CheckValid() != nil:
			return badField(string(field.Name()), "is no time between the years 1 and 9999")
		}
		to.Set(reflect.ValueOf(t.AsTime()))
	case protoreflect.StringKind:
		if t, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return t.UnmarshalText([]byte(value.String()))
		}
		if to.Kind() == reflect.Slice {
			to.SetBytes([]byte(value.String()))
		} else {
			to.SetString(value.String())
		}
	case protoreflect.BoolKind:
		to.SetBool(value.Bool())
	case protoreflect.DoubleKind:
		to.SetFloat(value.Float())
	default:
		to.SetInt(value.Int())
	}
	return nil
}

// fillMessage sets the fields of a message to the members of a struct. A list, and what is in a message of its own, is the only field of
// its message.
func fillMessage(m protoreflect.Message, v reflect.Value) {
	fields := m.Descriptor().Fields()
	if v.Kind() == reflect.Slice {
		fillList(m, fields.Get(0), v)
		return
	}
	if only := fields.Get(0); fields.Len() == 1 && only.Message() != nil && !memberOf(v, only).IsValid() {
		fillMessage(m.Mutable(only).Message(), v)
		return
	}
	for i := range fields.Len() {
		field := fields.Get(i)
		from := memberOf(v, field)
		switch {
		case !from.IsValid() || from.IsZero():
		case field.IsList():
			fillList(m, field, from)
		default:
			m.Set(field, valueOf(field, from, m.NewField))
		}
	}
}

// fillList appends elements to a field of a message.
func fillList(m protoreflect.Message, field protoreflect.FieldDescriptor, from reflect.Value) {
	list := m.Mutable(field).List()
	for i := range from.Len() {
		list.Append(valueOf(field, from.Index(i), func(protoreflect.FieldDescriptor) protoreflect.Value { return list.NewElement() }))
	}
}

// valueOf returns a member as a message has it. empty returns an empty message of the field.
func valueOf(field protoreflect.FieldDescriptor, from reflect.Value, empty func(protoreflect.FieldDescriptor) protoreflect.Value) protoreflect.Value {
	if from.Kind() == reflect.Pointer {
		from = from.Elem()
	}
	switch field.Kind() {
	case protoreflect.MessageKind:
		switch one := from.Interface().(type) {
		case time.Time:
			return protoreflect.ValueOfMessage(timestamppb.New(one).ProtoReflect())
		case time.Duration:
			return protoreflect.ValueOfMessage(durationpb.New(one).ProtoReflect())
		}
		value := empty(field)
		fillMessage(value.Message(), from)
		return value
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(textOf(from))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(from.Bool())
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(from.Float())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(min(max(from.Int(), math.MinInt32), math.MaxInt32)))
	default:
		return protoreflect.ValueOfInt64(from.Int())
	}
}

// textOf returns a member that is a text in a message: a text, JSON, an error, or what has a text.
func textOf(v reflect.Value) string {
	switch one := v.Interface().(type) {
	case error:
		return clip(one.Error(), maxError)
	case encoding.TextMarshaler:
		text, _ := one.MarshalText()
		return string(text)
	}
	if v.Kind() == reflect.Slice {
		return string(v.Bytes())
	}
	return v.String()
}

// maxError is the maximum number of bytes of an error in an answer.
const maxError = 500

// methodName returns the name under which a method of gRPC is counted and logged: that of its operation.
func methodName(full string) string {
	for _, service := range []protoreflect.ServiceDescriptor{memoryService, agentService} {
		for i := range service.Methods().Len() {
			if m := service.Methods().Get(i); full == fmt.Sprintf("/%s/%s", service.FullName(), m.Name()) {
				return grpcNames[m.Name()]
			}
		}
	}
	return full
}

package server

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"kioku/server/op"
)

// Every field of a message of gRPC is a member of the struct of its operation, of a kind that can be converted.
func TestFieldsOfMessagesAreMembersOfOperations(t *testing.T) {
	t.Parallel()
	ops := map[string]op.About{}
	for _, o := range Operations() {
		ops[o.About().Name] = o.About()
	}
	for _, service := range []protoreflect.ServiceDescriptor{memoryService, agentService} {
		for i := range service.Methods().Len() {
			m := service.Methods().Get(i)
			a, ok := ops[grpcNames[m.Name()]]
			if !ok {
				t.Errorf("%s is no operation", m.FullName())
				continue
			}
			checkFields(t, string(m.FullName())+" request", m.Input(), a.In)
			checkFields(t, string(m.FullName())+" response", m.Output(), a.Out)
		}
	}
}

// checkFields checks that a struct has a member for every field of a message.
func checkFields(t *testing.T, at string, d protoreflect.MessageDescriptor, in reflect.Type) {
	t.Helper()
	for in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	if in.Kind() == reflect.Slice && d.Fields().Len() == 1 {
		checkFields(t, at, d.Fields().Get(0).Message(), in.Elem()) // a list is a message with the list
		return
	}
	members := op.Members(in)
	if d.Fields().Len() == 0 {
		return
	}
	if first := d.Fields().Get(0); d.Fields().Len() == 1 && first.Message() != nil && members[string(first.Name())] == nil {
		checkFields(t, at, first.Message(), in) // what is in a message of its own
		return
	}
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		name := fmt.Sprintf("%s.%s", at, field.Name())
		place, ok := members[string(field.Name())]
		if !ok {
			place, ok = members[field.JSONName()]
		}
		if !ok && strings.HasSuffix(name, ".recalled.reason") {
			continue // it is for what was left out
		}
		if !ok {
			t.Errorf("%s is no member of %s", name, in)
			continue
		}
		member := in.FieldByIndex(place).Type
		if field.IsList() {
			if member.Kind() != reflect.Slice {
				t.Errorf("%s: %s is no list", name, member)
				continue
			}
			member = member.Elem()
		}
		if m := field.Message(); m != nil && m.ParentFile().Package() != "google.protobuf" {
			checkFields(t, name, m, member)
		}
	}
}

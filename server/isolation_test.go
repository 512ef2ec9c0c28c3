package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/dynamicpb"

	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// Hazard C05: with a token for one agent, every method of every service answers for another as if it were not there,
// whichever methods there are and whatever else the request says.
func TestNoMethodReachesAnotherAgent(t *testing.T) {
	t.Parallel()
	conn := annAndBob(t)
	ctx := with(t, "tok-a")
	for _, method := range agentMethods() {
		for _, filled := range []bool{false, true} {
			_, bob := ask(ctx, conn, method, "bob", filled)
			_, nobody := ask(ctx, conn, method, "nobody", filled)
			wantAlike(t, method, bob, nobody)
			if method.Parent().Name() != "AgentService" {
				continue
			}
			if _, ann := ask(ctx, conn, method, "ann", filled); ann != nil && ann.Error() == nobody.Error() {
				t.Errorf("%s does not find ann", method.Name())
			}
		}
	}
	methods := kiokuv1.File_kioku_v1_memory_proto.Services().ByName("MemoryService").Methods()
	listed, err := ask(ctx, conn, methods.ByName("ListAgents"), "", false)
	if err != nil || strings.Contains(fmt.Sprint(listed), "bob") || !strings.Contains(fmt.Sprint(listed), "ann") {
		t.Errorf("ListAgents = %v, %v; want ann alone", listed, err)
	}
}

// Hazard C05: an agent that may not be reached is not reached as a shared one either, and is not told from one that is
// not there; also not behind one that may be reached.
func TestNoMethodSharesAnotherAgent(t *testing.T) {
	t.Parallel()
	conn := annAndBob(t)
	tried := 0
	for _, method := range agentMethods() {
		if method.Input().Fields().ByName("shared_agents") == nil {
			continue
		}
		tried++
		for _, before := range [][]string{nil, {"team"}} {
			_, bob := ask(with(t, "tok-a"), conn, method, "ann", true, append(before, "bob")...)
			_, nobody := ask(with(t, "tok-a"), conn, method, "ann", true, append(before, "nobody")...)
			wantAlike(t, method, bob, nobody)
		}
		if _, err := ask(with(t, "tok-a"), conn, method, "ann", true, "team"); err != nil {
			t.Errorf("%s with team: %v", method.Name(), err)
		}
	}
	if tried != 2 {
		t.Errorf("%d methods share agents, want 2", tried)
	}
}

// Hazard C05: the agents that the settings share reach a caller only as far as the token does, or a memory is with the
// server at all.
func TestSharedAgentsOfTheSettingsAreThoseThatTheCallerReaches(t *testing.T) {
	t.Parallel()
	var got []string
	car := &fakeSidecar{shared: []string{"bob", "team", "elsewhere"}, assemble: func(turn sidecar.Turn) sidecar.Prompt {
		got = turn.Shared
		return sidecar.Prompt{}
	}, recall: func(turn sidecar.Turn) (recall.Outcome, string) {
		got = turn.Shared
		return recall.Outcome{}, ""
	}}
	opt := server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}, "team": &fakeMemory{}},
		Tokens: openTokens(t, tokenLine("one", "tok-1", "[ann]", false), tokenLine("two", "tok-2", "[ann, team, elsewhere]", false), tokenLine("all", "tok-3", `"*"`, false)),
	}
	client := kiokuv1.NewAgentServiceClient(dial(t, besideOnTCP(t, opt, map[string]server.Sidecar{"ann": car})))
	for token, want := range map[string][]string{"tok-1": {}, "tok-2": {"team"}, "tok-3": {"bob", "team"}} {
		if _, err := client.AssemblePrompt(with(t, token), &kiokuv1.AssemblePromptRequest{Agent: "ann"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: shared in a prompt (-want +got):\n%s", token, diff)
		}
		got = nil
		if _, err := client.Recall(with(t, token), &kiokuv1.RecallRequest{Agent: "ann"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: shared in a recall (-want +got):\n%s", token, diff)
		}
	}
}

// annAndBob serves three agents, with sidecars, to the token tok-a for ann and team.
func annAndBob(t *testing.T) *grpc.ClientConn {
	t.Helper()
	secret := &fakeMemory{workspace: "/secret", search: func(context.Context, memory.Query) (memory.Answer, error) {
		return memory.Answer{Hits: []memory.Hit{{Snippet: "secret"}}}, nil
	}}
	sidecars := make(map[string]server.Sidecar)
	for _, id := range []string{"ann", "bob", "team"} {
		sidecars[id] = &fakeSidecar{Sidecar: withFlushes(t, t.TempDir(), nil)}
	}
	return dial(t, besideOnTCP(t, server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": secret, "team": &fakeMemory{}},
		Tokens: openTokens(t, tokenLine("a", "tok-a", "[ann, team]", true)),
	}, sidecars))
}

// agentMethods are the methods of all services that are for one agent.
func agentMethods() []protoreflect.MethodDescriptor {
	var out []protoreflect.MethodDescriptor
	for _, file := range []protoreflect.FileDescriptor{kiokuv1.File_kioku_v1_memory_proto, kiokuv1.File_kioku_v1_history_proto, kiokuv1.File_kioku_v1_agent_proto} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				if m := methods.Get(j); m.Name() != "ListAgents" {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// wantAlike checks that two agents are not found in the same words, with the same details.
func wantAlike(t *testing.T, method protoreflect.MethodDescriptor, bob, nobody error) {
	t.Helper()
	wantCode(t, bob, codes.NotFound)
	if diff := cmp.Diff(status.Convert(nobody).Proto(), status.Convert(bob).Proto(), protocmp.Transform()); diff != "" {
		t.Errorf("%s tells bob from nobody (-nobody +bob):\n%s", method.Name(), diff)
	}
}

// ask calls any method for an agent, sharing others, and returns its first answer. What it must say is filled in on demand.
func ask(ctx context.Context, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, agent string, filled bool, shared ...string) (proto.Message, error) {
	req := dynamicpb.NewMessage(method.Input())
	setAgent(req, agent)
	fields := req.Descriptor().Fields()
	for i := 0; filled && i < fields.Len(); i++ {
		if fd := fields.Get(i); slices.Contains([]protoreflect.Name{"query", "text", "session", "holder"}, fd.Name()) {
			req.Set(fd, protoreflect.ValueOfString("tea"))
		}
	}
	for _, id := range shared {
		req.Mutable(fields.ByName("shared_agents")).List().Append(protoreflect.ValueOfString(id))
	}
	return callMethod(ctx, conn, method, req)
}

// askUpTo is ask with a ceiling of sensitivity, in the search of a request too.
func askUpTo(ctx context.Context, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, agent, ceiling string) (proto.Message, error) {
	req := dynamicpb.NewMessage(method.Input())
	setAgent(req, agent)
	for _, name := range []protoreflect.Name{"query", "text", "session", "holder", "max_sensitivity"} {
		value := "tea"
		if name == "max_sensitivity" {
			value = ceiling
		}
		if fd := method.Input().Fields().ByName(name); fd != nil {
			req.Set(fd, protoreflect.ValueOfString(value))
		}
		if search := method.Input().Fields().ByName("search"); search != nil && search.Message().Fields().ByName(name) != nil {
			req.Mutable(search).Message().Set(search.Message().Fields().ByName(name), protoreflect.ValueOfString(value))
		}
	}
	return callMethod(ctx, conn, method, req)
}

// hasCeiling reports whether a request, or the search in it, names a ceiling.
func hasCeiling(request protoreflect.MessageDescriptor) bool {
	search := request.Fields().ByName("search")
	return request.Fields().ByName("max_sensitivity") != nil || search != nil && hasCeiling(search.Message())
}

// callMethod calls a method and returns the first response.
func callMethod(ctx context.Context, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, req proto.Message) (proto.Message, error) {
	name := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: method.IsStreamingServer()}, name)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(req); err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	resp := dynamicpb.NewMessage(method.Output())
	return resp, stream.RecvMsg(resp)
}

// setAgent sets the field agent of a message and of the messages in it.
func setAgent(m protoreflect.Message, agent string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch fd := fields.Get(i); {
		case fd.Name() == "agent":
			m.Set(fd, protoreflect.ValueOfString(agent))
		case fd.Kind() == protoreflect.MessageKind && !fd.IsList():
			setAgent(m.Mutable(fd).Message(), agent)
		}
	}
}

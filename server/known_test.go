package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// listening returns a sidecar that records the texts of the messages that Check is given.
func listening(texts *[]string) *fakeSidecar {
	return &fakeSidecar{check: func(_ string, v session.View, _ flush.State) (sidecar.Check, error) {
		*texts = nil
		for _, m := range v.Messages {
			*texts = append(*texts, m.Text)
		}
		return sidecar.Check{}, nil
	}}
}

// saidBy returns messages of a user with the ids m0, m1 and so on.
func saidBy(texts ...string) []*kiokuv1.ChatMessage {
	var out []*kiokuv1.ChatMessage
	for i, text := range texts {
		out = append(out, &kiokuv1.ChatMessage{Id: fmt.Sprint("m", i), Role: "user", Text: text})
	}
	return out
}

// byID returns a message that was sent before.
func byID(id string) *kiokuv1.ChatMessage { return &kiokuv1.ChatMessage{Id: id} }

// unknownIDs returns the ids that an error says the service does not have.
func unknownIDs(t *testing.T, err error) []string {
	t.Helper()
	wantCode(t, err, codes.FailedPrecondition)
	for _, d := range status.Convert(err).Details() {
		if u, ok := d.(*kiokuv1.UnknownMessages); ok {
			return u.GetIds()
		}
	}
	return nil
}

// Messages by id after the first time: a message that was sent before in the session is named by its id, several by the ids of the
// first and the last. The service answers as if they were sent whole.
func TestMessagesAreNamedByTheirIDs(t *testing.T) {
	t.Parallel()
	var got []string
	client := agentClient(t, listening(&got))
	check := func(session string, messages ...*kiokuv1.ChatMessage) error {
		_, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: session, Messages: messages})
		return err
	}
	all := saidBy("a", "b", "c")
	if err := check("s", all...); err != nil {
		t.Fatal(err)
	}
	for name, sent := range map[string][]*kiokuv1.ChatMessage{
		"one by one": {byID("m0"), byID("m1"), byID("m2")},
		"a range":    {{Id: "m0", ThroughId: "m2"}},
		"mixed":      {byID("m0"), all[1], byID("m2")},
	} {
		if err := check("s", sent...); err != nil || !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := check("s", append([]*kiokuv1.ChatMessage{{Id: "m1", ThroughId: "m2"}}, &kiokuv1.ChatMessage{Id: "m3", Role: "user", Text: "d"})...); err != nil || !slices.Equal(got, []string{"b", "c", "d"}) {
		t.Errorf("a range and a new one: %q, %v", got, err)
	}
	changed := saidBy("a", "B")[1]
	if err := check("s", byID("m0"), changed); err != nil || !slices.Equal(got, []string{"a", "B"}) {
		t.Errorf("changed: %q, %v", got, err)
	}
	if err := check("s", byID("m1")); err != nil || !slices.Equal(got, []string{"B"}) {
		t.Errorf("after the change: %q, %v", got, err)
	}
	if ids := unknownIDs(t, check("s", byID("m0"), byID("x"), byID("y"))); !slices.Equal(ids, []string{"x", "y"}) {
		t.Errorf("unknown %q", ids)
	}
	if ids := unknownIDs(t, check("another", byID("m0"))); !slices.Equal(ids, []string{"m0"}) {
		t.Errorf("another session: %q", ids)
	}
	if ids := unknownIDs(t, check("s", &kiokuv1.ChatMessage{Id: "m1", ThroughId: "m0"})); len(ids) == 0 {
		t.Error("a range in another order is taken")
	}
	_, err := client.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main", Messages: []*kiokuv1.ChatMessage{byID("m0")}})
	wantViolation(t, err, "messages[0].role")
}

// What the service does not have any more, after a restart or because others took its place, is asked for, and never guessed.
func TestMessagesThatAreGoneAreAskedFor(t *testing.T) {
	t.Parallel()
	var got []string
	client := agentClient(t, listening(&got))
	ask := func(session string, messages ...*kiokuv1.ChatMessage) error {
		_, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: session, Messages: messages})
		return err
	}
	page := strings.Repeat("tea ", 900_000)
	for i := range 20 {
		if err := ask(fmt.Sprint("s", i), saidBy(page)...); err != nil {
			t.Fatal(err)
		}
	}
	unknownIDs(t, ask("s0", byID("m0")))
	if err := ask("s19", byID("m0")); err != nil {
		t.Errorf("the latest session: %v", err)
	}
	unknownIDs(t, func() error {
		_, err := agentClient(t, listening(&got)).CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s19", Messages: []*kiokuv1.ChatMessage{byID("m0")}})
		return err
	}())
}

// Hazard C05: the messages of a caller are not told to one with another token, even if it knows the session and the ids.
func TestMessagesOfAnotherTokenAreNotKnown(t *testing.T) {
	t.Parallel()
	var got []string
	opt := server.Options{Tokens: openTokens(t, tokenLine("a", "tok-a", "main", true), tokenLine("b", "tok-b", "main", true))}
	client := kiokuv1.NewAgentServiceClient(dial(t, besideOnTCP(t, opt, map[string]server.Sidecar{"main": listening(&got)})))
	if _, err := client.CheckFlush(with(t, "tok-a"), &kiokuv1.CheckFlushRequest{Session: "s", Messages: saidBy("secret")}); err != nil {
		t.Fatal(err)
	}
	_, err := client.CheckFlush(with(t, "tok-b"), &kiokuv1.CheckFlushRequest{Session: "s", Messages: []*kiokuv1.ChatMessage{byID("m0")}})
	unknownIDs(t, err)
}

// Over 200 turns the bytes that are sent grow with the turns and not with their square.
func TestMessagesByIDSendEachOnce(t *testing.T) {
	t.Parallel()
	var got []string
	client := agentClient(t, listening(&got))
	whole, named := 0, 0
	var all []*kiokuv1.ChatMessage
	size := func(sent []*kiokuv1.ChatMessage) int {
		return proto.Size(&kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Messages: sent})
	}
	for turn := range 200 {
		added := []*kiokuv1.ChatMessage{
			{Id: fmt.Sprintf("0192f0c1-7a1e-7c3e-9b1c-%012d", 2*turn), Role: "user", Text: strings.Repeat("A question of a person. ", 5)},
			{Id: fmt.Sprintf("0192f0c1-7a1e-7c3e-9b1c-%012d", 2*turn+1), Role: "assistant", Text: strings.Repeat("The answer to it, at some length. ", 10)},
		}
		sent := added
		if len(all) > 0 {
			sent = append([]*kiokuv1.ChatMessage{{Id: all[0].GetId(), ThroughId: all[len(all)-1].GetId()}}, added...)
		}
		all = append(all, added...)
		whole, named = whole+size(all), named+size(sent)
		if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Messages: sent}); err != nil || len(got) != len(all) {
			t.Fatalf("turn %d: %d of %d messages, %v", turn, len(got), len(all), err)
		}
	}
	t.Logf("200 turns: %d bytes whole, %d by their ids: 1/%d", whole, named, whole/named)
	if named > 2*size(all) {
		t.Errorf("%d bytes are sent for a conversation of %d", named, size(all))
	}
}

// A session that flushes and is idle has its messages on disk; so have all when the server ends. Sessions of callers that may not
// write, and calls that flush nothing, leave nothing.
func TestIdleSessionsAreSpooled(t *testing.T) {
	t.Parallel()
	var got []string
	car := listening(&got)
	car.idle = time.Millisecond
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, beside(t, server.Options{}, map[string]server.Sidecar{"main": car}), l)
	client := kiokuv1.NewAgentServiceClient(dial(t, l.Addr().String()))
	spooled := func() []string {
		car.mu.Lock()
		defer car.mu.Unlock()
		return slices.Clone(car.spooled)
	}
	if _, err := client.Prune(t.Context(), &kiokuv1.PruneRequest{Session: "pruned", Messages: saidBy("a")}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Session: "idle", Messages: saidBy("a", "b")}); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); len(spooled()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > soon {
			t.Fatal("the session is not spooled")
		}
	}
	car.mu.Lock()
	car.spooled, car.idle = nil, time.Hour
	car.mu.Unlock()
	if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Session: "running", Messages: append([]*kiokuv1.ChatMessage{}, saidBy("a", "b", "c")...)}); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"running: 3"}, spooled()); diff != "" {
		t.Errorf("spooled at the end (-want +got):\n%s", diff)
	}
}

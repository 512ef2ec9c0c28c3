package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	kiokuv1 "kioku/proto/kioku/v1"

	"kioku/internal/testkit"
)

// plantedFact is a fact of the conversation that every way in is tried with.
type plantedFact struct {
	Turn                       int
	Language, Say, Ask, Answer string
}

// longConversation is that conversation.
type longConversation struct {
	Turns         int
	RestartsAfter []int `json:"restarts_after"`
	Facts         []plantedFact
	Fillers       []string
}

// readConversation reads the conversation.
func readConversation(t *testing.T) longConversation {
	t.Helper()
	data, err := os.ReadFile("../../integrations/testdata/conversation.json")
	if err != nil {
		t.Fatal(err)
	}
	var c longConversation
	testkit.Must(t, json.Unmarshal(data, &c))
	if len(c.Facts) != 24 || c.Turns != 200 || len(c.RestartsAfter) != 2 {
		t.Fatalf("%d facts, %d turns, %d restarts", len(c.Facts), c.Turns, len(c.RestartsAfter))
	}
	return c
}

// message returns what the user says in a turn, from 1.
func (c longConversation) message(turn int) string {
	for _, f := range c.Facts {
		if f.Turn == turn {
			return f.Say
		}
	}
	return fmt.Sprintf("%d. %s", turn, c.Fillers[turn%len(c.Fillers)])
}

// naiveClient is an agent that does what the answers of AgentService say and nothing else. It has a model of its own, whose notes
// are the facts that it is shown in messages of a user.
type naiveClient struct {
	t       *testing.T
	facts   []plantedFact
	agents  kiokuv1.AgentServiceClient
	session string
	// messages of the session, and those that the service was sent.
	messages []*kiokuv1.ChatMessage
	sent     map[string]bool
	made     int
	// bytes are those of the messages in all requests, and whole what they were without ids.
	bytes, whole                        int
	flushes, compactions, resends, kept int
}

// window is that of the client's model in tokens.
const naiveWindow = 8000

// send makes a call with the messages of the session, by their ids if they were sent before. Whole ones follow if the service asks
// for them.
func (c *naiveClient) send(call func(context.Context, []*kiokuv1.ChatMessage) error) {
	c.t.Helper()
	var list []*kiokuv1.ChatMessage
	for _, m := range c.messages {
		if c.sent[m.GetId()] {
			m = &kiokuv1.ChatMessage{Id: m.GetId()}
		}
		list = append(list, m)
	}
	err := c.count(list, call)
	if isUnknown(err) {
		c.resends++
		err = c.count(c.messages, call)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	for _, m := range c.messages {
		c.sent[m.GetId()] = true
	}
}

func (c *naiveClient) count(list []*kiokuv1.ChatMessage, call func(context.Context, []*kiokuv1.ChatMessage) error) error {
	c.bytes += proto.Size(&kiokuv1.CheckFlushRequest{Messages: list})
	c.whole += proto.Size(&kiokuv1.CheckFlushRequest{Messages: c.messages})
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	return call(ctx, list)
}

// isUnknown reports whether the service asks for messages that it does not have.
func isUnknown(err error) bool {
	return status.Code(err) == codes.FailedPrecondition && slices.ContainsFunc(status.Convert(err).Details(), func(d any) bool {
		_, ok := d.(*kiokuv1.UnknownMessages)
		return ok
	})
}

// begin begins a session.
func (c *naiveClient) begin(session string) {
	c.session, c.messages, c.sent = session, nil, map[string]bool{}
}

// turn says something to the agent, which answers at some length.
func (c *naiveClient) turn(text string) {
	c.t.Helper()
	c.add("user", text)
	var check *kiokuv1.CheckFlushResponse
	c.send(func(ctx context.Context, list []*kiokuv1.ChatMessage) (err error) {
		check, err = c.agents.CheckFlush(ctx, &kiokuv1.CheckFlushRequest{Session: c.session, Messages: list, WindowTokens: naiveWindow})
		return err
	})
	if check.GetFlush() {
		c.flush()
	}
	if check.GetCompact() {
		c.compact()
	}
	c.add("assistant", "I see. "+strings.Repeat("Let me think about that for a while. ", 5))
}

func (c *naiveClient) add(role, text string) {
	c.made++
	c.messages = append(c.messages, &kiokuv1.ChatMessage{Id: fmt.Sprintf("message-%d", c.made), Role: role, Text: text})
}

// flush shows the model range by range what is not covered.
func (c *naiveClient) flush() {
	c.t.Helper()
	for {
		var begun *kiokuv1.BeginFlushResponse
		c.send(func(ctx context.Context, list []*kiokuv1.ChatMessage) (err error) {
			begun, err = c.agents.BeginFlush(ctx, &kiokuv1.BeginFlushRequest{Session: c.session, Messages: list, WindowTokens: naiveWindow})
			return err
		})
		if begun.GetOutcome() == kiokuv1.OutcomeNothing {
			return
		}
		c.flushes++
		req := &kiokuv1.CommitFlushRequest{Lease: begun.GetLease(), Reply: "NO_REPLY"}
		for _, m := range begun.GetMessages() {
			for _, f := range c.facts {
				if m.GetRole() == "user" && strings.Contains(m.GetText(), f.Say) {
					req.Notes = append(req.Notes, &kiokuv1.FlushNote{Text: f.Say, Category: "fact"})
				}
			}
		}
		if _, err := c.agents.CommitFlush(c.t.Context(), req); err != nil {
			c.t.Fatal(err)
		}
	}
}

// compact has the client's model summarise old messages.
func (c *naiveClient) compact() {
	c.t.Helper()
	var begun *kiokuv1.BeginCompactResponse
	c.send(func(ctx context.Context, list []*kiokuv1.ChatMessage) (err error) {
		begun, err = c.agents.BeginCompact(ctx, &kiokuv1.BeginCompactRequest{Session: c.session, Messages: list, WindowTokens: naiveWindow})
		return err
	})
	if begun.GetOutcome() == kiokuv1.OutcomeNothing {
		return
	}
	for step := begun.GetStep(); ; {
		done, err := c.agents.CommitCompact(c.t.Context(), &kiokuv1.CommitCompactRequest{
			Lease: begun.GetLease(), StepNumber: step.GetNumber(), Answer: "## Decisions\n(none)\n## Open TODOs\nThey talk about many things.",
		})
		if err != nil {
			c.t.Fatal(err)
		}
		if step = done.GetStep(); done.GetOutcome() == kiokuv1.OutcomeNext {
			continue
		}
		c.compactions++
		first := slices.IndexFunc(c.messages, func(m *kiokuv1.ChatMessage) bool { return m.GetId() == done.GetCompacted().GetFirstKeptId() })
		c.messages = append([]*kiokuv1.ChatMessage{done.GetCompacted().GetMessage()}, c.messages[first:]...)
		return
	}
}

// end ends the session. The service has no model, so it keeps the messages, and the client flushes with its own.
func (c *naiveClient) end() {
	c.t.Helper()
	var ended *kiokuv1.EndSessionResponse
	c.send(func(ctx context.Context, list []*kiokuv1.ChatMessage) (err error) {
		ended, err = c.agents.EndSession(ctx, &kiokuv1.EndSessionRequest{Session: c.session, Messages: list})
		return err
	})
	switch ended.GetOutcome() {
	case kiokuv1.OutcomeDone: // nothing was said since the last flush
	case kiokuv1.OutcomeKept:
		c.kept++
		c.messages = nil // the service has them
		c.flush()
	default:
		c.t.Fatalf("EndSession = %v", ended)
	}
}

// Done when: a conversation of 200 turns with 24 planted facts in three languages, two restarts and an early end of session recalls
// 24 of 24 through the gRPC protocol obeyed naively.
func TestConversationOverGRPCRecallsEveryFact(t *testing.T) {
	t.Parallel()
	script := readConversation(t)
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
	daemon, address := s.serve()
	conn, _ := dial(t, address)
	c := &naiveClient{t: t, facts: script.Facts, agents: kiokuv1.NewAgentServiceClient(conn)}
	c.begin("first")
	for turn := 1; turn <= script.Turns; turn++ {
		c.turn(script.message(turn))
		switch {
		case slices.Contains(script.RestartsAfter, turn):
			daemon.signal(os.Kill)
			daemon.ends()
			daemon, address = s.serve()
			conn, _ := dial(t, address)
			c.agents = kiokuv1.NewAgentServiceClient(conn)
		case turn == 113: // early: most of the session is in the window
			c.end()
			c.begin("second")
		}
	}
	c.end()
	t.Logf("%d flushes, %d compactions, %d times whole: %d bytes of messages, %d without ids", c.flushes, c.compactions, c.resends, c.bytes, c.whole)
	if c.compactions < 2 || c.resends < 2 || c.kept == 0 {
		t.Errorf("%d compactions, %d requests for whole messages and %d ends with something to flush: the test does not test", c.compactions, c.resends, c.kept)
	}
	conn, memories := dial(t, address)
	stream, err := memories.Sync(t.Context(), &kiokuv1.SyncRequest{})
	for err == nil {
		_, err = stream.Recv()
	}
	agents := kiokuv1.NewAgentServiceClient(conn)
	found := 0
	for _, f := range script.Facts {
		p, err := agents.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Message: f.Ask, Channel: "terminal", Session: "new"})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(p.GetPrompt()+p.GetTurnBlock(), f.Answer) {
			found++
			continue
		}
		t.Errorf("%s: %q does not recall %q; stored: %v", f.Language, f.Ask, f.Answer, strings.Contains(s.days(), f.Say))
	}
	t.Logf("%d of %d facts are recalled", found, len(script.Facts))
	daemon.terminates()
}

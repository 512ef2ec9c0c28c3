package server_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"kioku/memory"
	"kioku/server"
)

// fakeCluster has memories, and another server that does what needs the folder; nil for none.
type fakeCluster struct {
	memories map[string]server.Memory
	owner    http.RoundTripper
	asked    *[]bool // whether each operation needs the folder; nil records nothing
}

func (c fakeCluster) Memory(_ context.Context, agent string) (server.Memory, error) {
	if m := c.memories[agent]; m != nil {
		return m, nil
	}
	return nil, memory.ErrNoAgent
}

func (c fakeCluster) Elsewhere(_ context.Context, agent string, folder bool) (http.RoundTripper, error) {
	if c.asked != nil {
		*c.asked = append(*c.asked, folder)
	}
	if c.memories[agent] == nil {
		return nil, memory.ErrNoAgent
	}
	return c.owner, nil
}

func (c fakeCluster) Agents(context.Context) ([]string, error) { return []string{"ann", "bob"}, nil }

// What needs the folder, or what is derived from it, is done by the machine that has it.
func TestClusterKnowsWhatNeedsTheFolder(t *testing.T) {
	t.Parallel()
	var asked []bool
	s, err := server.New(server.Options{Cluster: fakeCluster{map[string]server.Memory{"ann": &fakeMemory{}}, nil, &asked}})
	if err != nil {
		t.Fatal(err)
	}
	conn, of := s.LocalOperations(), server.OfAgent{Agent: "ann"}
	for _, err := range []error{
		called(server.Notes.Search.Call(t.Context(), conn, server.SearchNotes{OfAgent: of, Query: memory.Query{Text: "tea"}})),
		called(server.Notes.Search.Call(t.Context(), conn, server.SearchNotes{OfAgent: of, Query: memory.Query{Text: "tea", Kinds: []string{memory.KindLoop}}})),
		called(server.Notes.Append.Call(t.Context(), conn, server.AppendNote{OfAgent: of, Note: memory.Note{Text: "tea"}})),
		called(server.Notes.Tidy.Call(t.Context(), conn, server.TidyNotes{OfAgent: of})),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if want := []bool{false, true, false, true}; !slices.Equal(asked, want) {
		t.Errorf("%v, want %v", asked, want)
	}
}

func called(_ any, err error) error { return err }

// away is a memory whose store does not answer.
type away struct{ *fakeMemory }

func (away) Tidy(context.Context, []string) (memory.Tidied, error) {
	return memory.Tidied{}, memory.ErrStoreAway
}

// What the machine with the folder says of the store is no reason to take its agents.
func TestClusterTellsWhatIsAway(t *testing.T) {
	t.Parallel()
	owner := newServer(t, server.Options{Agents: map[string]server.Memory{"ann": away{&fakeMemory{}}}})
	node := newServer(t, server.Options{Cluster: fakeCluster{map[string]server.Memory{"ann": &fakeMemory{}}, owner.LocalOperations(), nil}})
	_, err := server.Notes.Tidy.Call(t.Context(), node.LocalOperations(), server.TidyNotes{OfAgent: server.OfAgent{Agent: "ann"}})
	if !errors.Is(err, memory.ErrStoreAway) || errors.Is(err, memory.ErrOwnerAway) {
		t.Error(err)
	}
}

// calls are those that have ended.
type calls chan server.CallRecord

func (calls) CallBegun(string) {}

func (c calls) CallEnded(r server.CallRecord) { c <- r }

// The machine with the folder records a call of another one as that of who has asked there, by the id that this one has.
func TestClusterRecordsWhoAsks(t *testing.T) {
	t.Parallel()
	memories, tokens := map[string]server.Memory{"ann": &fakeMemory{}}, openTokens(t, tokenLine("laptop", "tok-a", "[ann]", true))
	here, there := make(calls, 1), make(calls, 1)
	owner := onTCP(t, server.Options{Agents: memories, Tokens: tokens, PeerSecret: "of the owner", Observers: []server.Observer{there}})
	node := onTCP(t, server.Options{Cluster: fakeCluster{memories, overHTTP{owner, "of the owner"}, nil}, Tokens: tokens, Observers: []server.Observer{here}})
	if _, err := server.Notes.Tidy.Call(t.Context(), overHTTP{node, "tok-a"}, server.TidyNotes{OfAgent: server.OfAgent{Agent: "ann"}}); err != nil {
		t.Fatal(err)
	}
	if at, of := <-there, <-here; at.Caller != "laptop" || at.RequestID == "" || at.RequestID != of.RequestID || at.Reached() != "ann" {
		t.Errorf("%+v for %+v", at, of)
	}
}

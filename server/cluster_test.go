package server_test

import (
	"context"
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

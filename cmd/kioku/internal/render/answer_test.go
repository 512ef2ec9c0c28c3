package render

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"

	kiokuv1 "kioku/proto/kioku/v1"
)

// changingMemory answers each search from the next state of its index.
type changingMemory struct {
	kiokuv1.MemoryServiceClient
	answers []*kiokuv1.MemorySearchResponse
}

func (m *changingMemory) MemorySearch(context.Context, *kiokuv1.MemorySearchRequest, ...grpc.CallOption) (*kiokuv1.MemorySearchResponse, error) {
	next := m.answers[0]
	m.answers = m.answers[1:]
	return next, nil
}

// An empty answer is not explained by a search of a newer index: if the index has changed, the question is asked again.
func TestSearchExplainsAnEmptyAnswerFromTheSameIndex(t *testing.T) {
	t.Parallel()
	answer := func(generation int64, citations ...string) *kiokuv1.MemorySearchResponse {
		a := &kiokuv1.MemorySearchResponse{Index: &kiokuv1.IndexState{Generation: generation, FileCount: 3}}
		for _, c := range citations {
			a.Results = append(a.Results, &kiokuv1.SearchResult{Citation: c, Path: c, Score: 0.68})
		}
		return a
	}
	for name, test := range map[string]struct {
		answers       []*kiokuv1.MemorySearchResponse
		want, without string
	}{
		"same index":           {[]*kiokuv1.MemorySearchResponse{answer(1), answer(1, "n.md")}, "the nearest, n.md", "1 result"},
		"changed, found":       {[]*kiokuv1.MemorySearchResponse{answer(1), answer(2, "n.md"), answer(2, "n.md")}, "1 result", "no result"},
		"changed, not found":   {[]*kiokuv1.MemorySearchResponse{answer(1), answer(2, "n.md"), answer(2)}, "the nearest, n.md", "1 result"},
		"changed, then again":  {[]*kiokuv1.MemorySearchResponse{answer(1), answer(2, "n.md"), answer(3)}, "no result", "the nearest"},
		"found at once":        {[]*kiokuv1.MemorySearchResponse{answer(1, "n.md")}, "1 result", "no result"},
		"nothing near, either": {[]*kiokuv1.MemorySearchResponse{answer(1), answer(1)}, "no passage shares anything", "the nearest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, notices bytes.Buffer
			o := &Output{Stdout: &out, Stderr: &notices}
			m := &changingMemory{answers: test.answers}
			if err := o.Search(t.Context(), m, &kiokuv1.MemorySearchRequest{Query: "zulu77"}, false); err != nil {
				t.Fatal(err)
			}
			if got := notices.String(); !strings.Contains(got, test.want) || strings.Contains(got, test.without) || len(m.answers) > 0 {
				t.Errorf("%q, want %q without %q; %d answers left", got, test.want, test.without, len(m.answers))
			}
		})
	}
}

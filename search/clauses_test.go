package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

func TestClauses(t *testing.T) {
	t.Parallel()
	const frame = "Thanks, that worked well! I have another question before I go on with the refactoring: "
	for _, c := range []struct {
		name, message string
		want          []string // without the whole message, which is always last
	}{
		{"one question", "When does the beta open?", nil},
		{"a greeting before it", "Good morning, when does the beta open?", []string{"when does the beta open?"}},
		{"a frame around it", frame + "When does the beta open? Please answer in one sentence.",
			[]string{"When does the beta open?", "I have another question before I go on with the refactoring:"}},
		{"the last sentence", "I moved to Porto. My sister came along. We like the river.", []string{"We like the river."}},
		{"questions come first", "Who is my boss? I forgot. Where is the key? It rains today.", []string{"Who is my boss?", "Where is the key?", "It rains today."}},
		{"no more than three", "Who? Who is Ada? Where is the key? Why is the sky blue? How much is the fee?", []string{"Who?", "Who is Ada?", "Where is the key?"}},
		{"without a question mark", "It rains. which database holds the ledger", []string{"which database holds the ledger", "It rains."}},
		{"code is no clause", "Why does this fail?\n```\nWhere is it?\n```\n", []string{"Why does this fail?"}},
		{"German", "Guten Morgen, wann öffnet die Beta? Danke!", []string{"wann öffnet die Beta?"}},
		{"Japanese", "ありがとうございます。ベータはいつ始まりますか。よろしくお願いします。", []string{"ベータはいつ始まりますか。"}},
		{"Chinese", "谢谢！测试版什么时候开始？", []string{"测试版什么时候开始？"}},
		{"nothing but thanks", "Thanks a lot!", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := append(c.want, strings.TrimSpace(c.message))
			if diff := cmp.Diff(want, clauses(c.message)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A fact is found whatever stands around the question, and the hits of all clauses are merged once.
func TestSearchFindsTheQuestionInAMessage(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(append(notes(),
		Chunk{Path: "memory/beta.md", StartLine: 1, EndLine: 1, Text: "The beta opens on 9 February.\n"},
		Chunk{Path: "memory/refactoring.md", StartLine: 1, EndLine: 1, Text: "Another question of the refactoring is where to begin.\n"})...), nil, testOptions())
	message := "Thanks, that worked well! I have another question before I go on with the refactoring: when does the beta open? Please answer in one sentence."
	a, err := s.Search(t.Context(), memory.Query{Text: message, Clauses: true, MaxResults: 3})
	if err != nil || len(a.Hits) == 0 {
		t.Fatalf("found %v, %v", paths(a), err)
	}
	seen := map[string]int{}
	for i, h := range a.Hits {
		seen[h.Path]++
		if seen[h.Path] > 1 || i > 0 && a.Hits[i-1].Weak && !h.Weak {
			t.Errorf("%v", a.Hits)
		}
	}
	if a.Hits[0].Weak || seen["memory/beta.md"] != 1 {
		t.Errorf("found %v, the first weak: %t", paths(a), a.Hits[0].Weak)
	}
}

func TestSearchMarksAtMostThreeWeakHits(t *testing.T) {
	t.Parallel()
	var chunks []Chunk
	for _, path := range []string{"a", "b", "c", "d", "e"} {
		chunks = append(chunks, Chunk{Path: path, StartLine: 1, EndLine: 1, Text: path + " went to the garden and saw many things there, among others a gate and a bench"})
	}
	a := ask(t, New(newFakeStore(chunks...), nil, testOptions()), "garden submarine periscope torpedo gnome quartz hammer")
	if len(a.Hits) != maxWeak || !a.Hits[0].Weak || !a.Hits[2].Weak {
		t.Errorf("found %+v", a.Hits)
	}
}

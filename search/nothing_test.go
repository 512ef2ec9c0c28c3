package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kioku/memory"
)

// degradedBy returns the text of each degradation of an answer by its code.
func degradedBy(a memory.Answer) map[string]string {
	texts := map[string]string{}
	for _, d := range a.Degraded {
		texts[d.Code] = d.Text
	}
	return texts
}

// An empty answer says what would help: nothing indexed, words unknown, below the threshold with the nearest, or that vectors
// are off and how to turn them on.
func TestSearchEmptyAnswerSaysWhatWouldHelp(t *testing.T) {
	t.Parallel()
	words := New(newFakeStore(notes()...), nil, testOptions())
	hybrid := New(newFakeStore(notes()...), &fakeEmbedder{vector: []float32{-1, -1, -1}}, testOptions())
	off := testOptions()
	off.Hybrid = new(false)
	unhybrid := New(newFakeStore(notes()...), nil, off)
	tests := []struct {
		name     string
		searcher *Searcher
		query    string
		want     map[string]string // a part of the text of each code
	}{
		{"nothing indexed", New(newFakeStore(), nil, testOptions()), "tea", map[string]string{memory.IndexEmpty: "kioku index"}},
		{"words unknown", words, "Where is the Periscope's torpedo?", map[string]string{
			memory.NoMatch: "No note holds a word", memory.WordsUnknown: `No note contains "Periscope" or "torpedo".`, memory.VectorsOff: "kioku model add"}},
		{"a Chinese word unknown", words, "潜望镜", map[string]string{memory.NoMatch: "", memory.WordsUnknown: `"潜望镜"`, memory.VectorsOff: ""}},
		{"with vectors", hybrid, "torpedo", map[string]string{memory.NoMatch: "", memory.WordsUnknown: `"torpedo"`}},
		{"vectors switched off on purpose", unhybrid, "torpedo", map[string]string{memory.NoMatch: "", memory.WordsUnknown: `"torpedo"`}},
		{"no word at all", words, "?!", map[string]string{memory.NoMatch: "holds no word"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := ask(t, test.searcher, test.query)
			got := degradedBy(a)
			if len(a.Hits) > 0 || len(a.Degraded) != len(test.want) {
				t.Fatalf("found %v, degraded %+v", paths(a), a.Degraded)
			}
			for code, part := range test.want {
				if text, ok := got[code]; !ok || !strings.Contains(text, part) {
					t.Errorf("%s: %q, want %q in it", code, text, part)
				}
			}
		})
	}
	if a := ask(t, words, "green tea"); len(a.Hits) == 0 || len(a.Degraded) > 0 {
		t.Errorf("an answer with hits needs no help: %+v", a.Degraded)
	}
}

func TestQuotedListIsShort(t *testing.T) {
	t.Parallel()
	got := []string{quotedList([]string{"a"}), quotedList([]string{"a", "b"}), quotedList(slices.Repeat([]string{"x"}, 10))}
	want := []string{`"a"`, `"a" or "b"`, `"x", "x", "x", "x", "x", "x", "x", "x" or 2 more words`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Words that only ask are not listed as unknown, nor pieces of words of scripts without spaces.
func TestUnknownWordsAreWholeWordsWithASubject(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"summary of the torpedo":   {"torpedo"},
		"show me what I wrote":     nil,
		"潜望镜":                      {"潜望镜"},
		"怎么申请出国签证":                 nil,
		"ペリスコープ の torpedo":         {"ペリスコープ", "torpedo"},
		"periscope 潜望镜 submarines": {"periscope", "潜望镜", "submarines"},
	} {
		got, _ := parseTerms(query, nil).weigh(map[string]int{"申请": 2, "出国": 1}, 100).unknown()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

package search

import (
	"strings"
	"testing"

	"kioku/memory"
	"kioku/search/analysis"

	"github.com/google/go-cmp/cmp"
)

// spelledNotes has a note for each text, and others about nothing in particular.
func spelledNotes(l analysis.Language, texts ...string) *fakeStore {
	chunks := []Chunk{
		{Path: "memory/x.md", Language: l, Text: "The roof of the garden house"}, {Path: "memory/y.md", Language: l, Text: "Nine bicycles and the concert"},
		{Path: "memory/z.md", Language: l, Text: "Taxes of the gym, the film"},
	}
	for i, text := range texts {
		chunks = append(chunks, Chunk{Path: "memory/" + string(rune('a'+i)) + ".md", Language: l, Text: text})
	}
	s := newFakeStore(chunks...)
	if l != "" {
		s.index.Languages = []analysis.Language{l}
	}
	return s
}

func TestSpellingsFindEachOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language     analysis.Language
		query        string
		text, others string
	}{
		{"", "followup", "we talked in the follow up", "up they go and follow it"},
		{"", "follow up", "we talked in the followup", ""},
		{"", "RAL7016", "paint it in RAL 7016", "RAL is a standard, 7016 is a number"},
		{"", "RAL 7016", "paint it in RAL7016", ""},
		{"", "205/55R16", "tyres of 205/55 R16", ""},
		{"", "4f9c2ab", "rolled back to 4f9c2ab17de3", "rolled back to 4f9c2ac17de3"},
		{"", "4f9c2ab17de3", "rolled back to 4f9c2ab", "rolled back to 4f9c2ac"},
		{analysis.German, "Versicherung", "die Haftpflichtversicherung", "ein Sicherungskasten"},
		{analysis.German, "Zahnarzt", "der Zahnarzttermin", "der Arzttermin"},
		{analysis.Dutch, "verzekering", "de zorgverzekering", "de zorg"},
		{analysis.Swedish, "försäkring", "en hemförsäkring", "ett hem"},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			s := spelledNotes(c.language, c.text, c.others)
			a, err := New(s, nil, testOptions()).Search(t.Context(), memory.Query{Text: c.query})
			if err != nil {
				t.Fatal(err)
			}
			if got := paths(a); !cmp.Equal(got, []string{"memory/a.md"}) {
				t.Errorf("%q finds %q (%v), want the note %q", c.query, got, a.Degraded, c.text)
			}
		})
	}
}

func TestJoinedWordsRequireNothing(t *testing.T) {
	t.Parallel()
	s := spelledNotes("", "a follow up of the report", "the followup")
	a, err := New(s, nil, testOptions()).Search(t.Context(), memory.Query{Text: "follow up report"})
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(a); len(got) == 0 || got[0] != "memory/a.md" {
		t.Errorf("found %q", got)
	}
}

func TestPartsOfWordCountBesideEachOther(t *testing.T) {
	t.Parallel()
	s := spelledNotes("", "my car is red", "a pet for the car")
	a, err := New(s, nil, testOptions()).Search(t.Context(), memory.Query{Text: "carpet"})
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(a); len(got) != 0 {
		t.Errorf("found %q", got)
	}
}

func TestCutsOf(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"wifi": "wi fi", "ral7016": "ral 7016", "55r16": "55 r16 55r 16", "a1": "", "123456": "", "abc": "", strings.Repeat("a", 40): "",
		"größe": "gr öße grö ße",
	} {
		var got []string
		for _, c := range cutsOf(word) {
			got = append(got, c[:]...)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is cut into %q, want %q", word, got, want)
		}
	}
}

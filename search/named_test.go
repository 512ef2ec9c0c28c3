package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// vault is a folder of notes as people have them: short notes, an index page that names them, and others that mention them.
func vault() []Chunk {
	return []Chunk{
		{Path: "Travel/Fushimi Inari.md", Names: "Fushimi Inari\nSenbon Torii\n#kyoto", Folders: "Travel",
			Text: "Go at night, when the buses are gone. Foxes of stone hold keys."},
		{Path: "Travel/Fushimi Inari.md", Names: "Fushimi Inari\nSenbon Torii\n#kyoto", Folders: "Travel", StartLine: 40, EndLine: 41,
			Text: "The way up takes two hours.\nBring water."},
		{Path: "Travel/Travel MOC.md", Names: "Travel MOC\nTravel", Folders: "Travel", StartLine: 1, EndLine: 4,
			Text: "- [[Fushimi Inari]] - thousands of gates\n- [[Nara Park]] - deer\n- [[Boiler]]\n- [[Kolibri]]"},
		{Path: "Journal/2025-04-02.md", Date: "2025-04-02", Text: "Fushimi Inari, again Fushimi Inari, and nothing but Fushimi Inari."},
		{Path: "House/Boiler.md", Names: "Boiler", Folders: "House", Text: "Error 18 means that water is missing."},
		{Path: "House/Router.md", Names: "Router", Folders: "House", Text: "Guest network: Kolibri, Kolibri-Gast for visitors."},
		{Path: "Notes/Kolibri.md", Names: "Kolibri", Folders: "Notes", Text: "The smallest bird of all, eighty beats of its wings a second."},
	}
}

// vaultSearcher searches a vault with the clock of the tests.
func vaultSearcher(chunks ...Chunk) *Searcher {
	return New(newFakeStore(chunks...), nil, testOptions())
}

// A search for exactly a note's name puts that note first, with its best passage, not each of its chunks. A title and an
// alias are names too.
func TestSearchForANamePutsTheNoteFirst(t *testing.T) {
	t.Parallel()
	s := vaultSearcher(vault()...)
	for query, want := range map[string]string{
		"Fushimi Inari": "Travel/Fushimi Inari.md", "fushimi-inari?": "Travel/Fushimi Inari.md", "SENBON TORII": "Travel/Fushimi Inari.md",
		"Kolibri": "Notes/Kolibri.md", "boiler": "House/Boiler.md", "travel moc": "Travel/Travel MOC.md",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			a := ask(t, s, query)
			if got := paths(a); len(got) == 0 || got[0] != want {
				t.Fatalf("%v, want %s first", got, want)
			}
			if a.Hits[0].Score < nameConfidence {
				t.Errorf("score %.2f, want at least %.2f", a.Hits[0].Score, nameConfidence)
			}
		})
	}
	a := ask(t, s, "Fushimi Inari")
	if got := paths(a); got[1] == got[0] {
		t.Errorf("%v: two passages of the note before all others", got)
	}
}

// A tag is no name: a search for a tag ranks the notes that have it like any other word.
func TestSearchForATagRaisesNoNote(t *testing.T) {
	t.Parallel()
	s := vaultSearcher(append(vault(), Chunk{Path: "Kyoto in May.md", Names: "Kyoto in May", Text: "Kyoto, Kyoto, Kyoto."})...)
	if got := paths(ask(t, s, "kyoto")); got[0] != "Kyoto in May.md" {
		t.Errorf("%v, want the note about Kyoto first", got)
	}
}

// File name, folder names, title, aliases and tags are fields of every chunk of the file.
func TestNamesAreFieldsOfEveryChunk(t *testing.T) {
	t.Parallel()
	chunks := vault()
	s := vaultSearcher(chunks...)
	a, err := s.Search(t.Context(), memory.Query{Text: "How long is the way up at Fushimi Inari, and is there water?", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	if h := a.Hits[0]; h.Path != "Travel/Fushimi Inari.md" || h.StartLine != 40 {
		t.Fatalf("%s:%d, want the second chunk of the note", h.Path, h.StartLine)
	}
	if diff := cmp.Diff([]string{"long"}, a.Hits[0].Trace.Missing); diff != "" {
		t.Errorf("missing words (-want +got):\n%s", diff)
	}
	score := func(c Chunk, query string) float64 {
		s := newFakeStore(chunks...)
		r := &searchState{index: s.index}
		df, _ := s.DocFreq(t.Context(), parseTerms(query, nil).strings())
		r.terms = parseTerms(query, nil).weigh(df, s.index.Chunks)
		sc := newScorer(r.terms, s.index.AvgTerms)
		defer sc.release()
		return sc.score(&c).raw
	}
	note := chunks[0]
	name, tag := score(note, "inari"), score(note, "kyoto")
	if !(name > 0 && tag > 0) {
		t.Errorf("name %.2f, tag %.2f: want both above 0", name, tag)
	}
	titled := note
	titled.Headings = "# Fushimi Inari"
	if twice, once := score(titled, "fushimi"), score(Chunk{Path: "x", Headings: titled.Headings, Text: note.Text}, "fushimi"); twice != once {
		t.Errorf("a title that is a heading too gives %.2f, the heading %.2f", twice, once)
	}
}

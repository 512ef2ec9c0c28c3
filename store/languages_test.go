package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/search"
)

const (
	spanishText = "El reembolso se paga en treinta días con el recibo, pero hay que pedirlo por teléfono o por correo."
	germanText  = "Der Vermieter hat gesagt, dass die Heizungen vor dem Winter ausgetauscht werden."
	englishText = "The landlord said that the heating will be replaced before the winter."
)

// indexed returns the languages of an index, and those of all of its chunks by their ids.
func indexed(t *testing.T, s *Store) (languages []string, chunks []string) {
	t.Helper()
	err := s.View(t.Context(), false, func(r search.Reader) error {
		for _, l := range r.Index().Languages {
			languages = append(languages, string(l))
		}
		found, err := r.Chunks(t.Context(), []int64{1, 2, 3, 4, 5, 6}, false)
		for _, c := range found {
			chunks = append(chunks, string(c.Language))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return languages, chunks
}

// The language is chosen per chunk; a chunk without one has that of its file, and English is none.
func TestIndexStoresLanguageOfEachChunk(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s,
		testFile("memory/a.md", nil, englishText),
		testFile("memory/b.md", nil, spanishText, spanishText, "- 2026-01-20: 30 EUR"),
		testFile("memory/c.md", nil, germanText, strings.Repeat(englishText+" ", 4)),
	)
	languages, chunks := indexed(t, s)
	slices.Sort(languages)
	if diff := cmp.Diff([]string{"de", "es"}, languages); diff != "" {
		t.Errorf("languages of the index (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "es", "es", "es", "de", ""}, chunks); diff != "" {
		t.Errorf("languages of the chunks (-want +got):\n%s", diff)
	}
	if c, err := s.Check(t.Context(), nil); err != nil || len(c.Found) > 0 {
		t.Errorf("the check finds %v, %v", c.Found, err)
	}
	replace(t, s, gone("memory/b.md"), gone("memory/c.md"))
	if languages, _ := indexed(t, s); len(languages) != 0 {
		t.Errorf("languages of removed files stay: %v", languages)
	}
}

package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kioku/memory"
	"kioku/search"
)

// matchTerms returns the ids of the best chunks.
func matchTerms(t *testing.T, s *Store, terms search.Terms, f memory.Filter, limit int) (ids []int64) {
	t.Helper()
	err := s.View(t.Context(), false, func(r search.Reader) (err error) {
		ids, err = r.Match(t.Context(), terms, f, limit)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestTermsThatAlsoCountDecideBetweenChunksThatAreFound(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	var lines []string
	for i := range 100 {
		switch i % 10 {
		case 3:
			lines = append(lines, fmt.Sprintf("harbor crane %d", i))
		case 7:
			lines = append(lines, fmt.Sprintf("harbor quiet %d", i))
		case 8:
			lines = append(lines, fmt.Sprintf("crane lonely %d", i))
		default:
			lines = append(lines, fmt.Sprintf("meadow flower %d", i))
		}
	}
	replace(t, s, testFile("memory/a.md", nil, lines...))
	terms := search.Terms{Any: []string{"harbor"}, Also: []string{"crane"}}
	holds := func(word string) []int64 {
		return matchTerms(t, s, search.Terms{Any: []string{word}}, memory.Filter{}, 100)
	}
	harbor, crane := holds("harbor"), holds("crane")

	for i, id := range matchTerms(t, s, terms, memory.Filter{}, 20) {
		if !slices.Contains(harbor, id) || slices.Contains(crane, id) != (i < 10) {
			t.Errorf("number %d is chunk %d: harbor %v, crane %v", i, id, slices.Contains(harbor, id), slices.Contains(crane, id))
		}
	}
	// With more room than harbor fills, all that hold any word have their turn.
	got := matchTerms(t, s, terms, memory.Filter{}, 25)
	if all := matchTerms(t, s, search.Terms{Any: terms.All()}, memory.Filter{}, 25); !slices.Equal(got, all) || len(got) != 25 {
		t.Errorf("25 chunks: got %v, want %v", got, all)
	}
}

func TestAFilterKeepsTheOrderOfWhatItLetsThrough(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"harbor", "crane", "rope", "anchor", "sail", "deck"}
	for f := range 12 {
		var lines []string
		for range 20 {
			line := ""
			for range 3 + r.IntN(6) {
				line += words[r.IntN(1+r.IntN(len(words)))] + " "
			}
			lines = append(lines, line+fmt.Sprint(r.IntN(1000)))
		}
		replace(t, s, testFile(fmt.Sprintf("memory/2026-%02d-11.md", f+1), nil, lines...))
	}
	terms := search.Terms{Any: []string{"anchor", "sail"}}
	for _, f := range []memory.Filter{
		{Sources: []string{"memory"}}, {Sources: []string{"sessions"}}, {PathPrefix: "memory/2026-0"},
		{Since: "2026-03-01", Until: "2026-05-31"}, {PathPrefix: "memory/2026-1", Since: "2026-11-01"},
	} {
		t.Run(fmt.Sprintf("%+v", f), func(t *testing.T) {
			allowed, err := queryIDs(t.Context(), s.db.readers, selectAllowed, filterArgs(f)...)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(matchTerms(t, s, terms, memory.Filter{}, 1000),
				func(id int64) bool { return !slices.Contains(allowed, id) })
			if got := matchTerms(t, s, terms, f, 1000); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

package search

import (
	"testing"
)

func TestSearchIgnoresAccents(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(
		Chunk{Path: "a.md", Text: "Der Zug nach Zürich hält in Łódź"},
		Chunk{Path: "b.md", Text: "The cafe in Strasse 4"},
		Chunk{Path: "c.md", Text: "ガレージの鍵"},
		Chunk{Path: "d.md", Text: "カレーの作り方"},
	), nil, testOptions())
	for query, want := range map[string]string{
		"Zurich": "a.md", "ZÜRICH": "a.md", "lodz": "a.md", "café": "b.md", "cafés": "b.md", "Straße": "b.md", "ガレージ": "c.md",
	} {
		t.Run(query, func(t *testing.T) {
			if got := paths(askWednesday(t, s, query)); len(got) == 0 || got[0] != want {
				t.Errorf("%s: found %v, want %s", query, got, want)
			}
		})
	}
}

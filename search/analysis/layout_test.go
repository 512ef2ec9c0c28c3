package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnalyzeChunkReturnsTheLayoutOfTheText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		c    Chunk
		want Layout
	}{
		{"lines", Chunk{Headings: "# Projects", Date: "2026-01-20", Text: "one two\n\nthree", Names: "four"},
			Layout{Above: 5, Ends: []int{2, 2, 3}}},
		{"identifiers", Chunk{Text: "see memorySearch.query\nof v2.3"}, Layout{Ends: []int{6, 10}, Joined: []int{3, 5, 9}}},
		{"blank", Chunk{Text: ""}, Layout{Ends: []int{0}}},
		{"other lines than the text", Chunk{Text: "one\u0085two\u2028"}, Layout{Ends: []int{2}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, got := AnalyzeChunk(test.c)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDecodeLayout(f *testing.F) {
	for _, l := range []Layout{{Ends: []int{0}}, {Above: 5, Ends: []int{2, 2, 300}, Joined: []int{0, 1, 200}}} {
		f.Add(l.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, ok := DecodeLayout(b)
		if !ok {
			return
		}
		again, ok := DecodeLayout(l.Encode())
		if diff := cmp.Diff(l, again); !ok || diff != "" {
			t.Errorf("%v (-first +second):\n%s", ok, diff)
		}
	})
}

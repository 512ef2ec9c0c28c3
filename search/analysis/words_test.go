package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAnalyzeChunkReturnsTheLinesOfTheText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		c    Chunk
		want ChunkWords
	}{
		{"lines", Chunk{Headings: "# Projects", Date: "2026-01-20", Text: "one two\n\nthree", Names: "four"},
			ChunkWords{Above: 5, Ends: []int{2, 2, 3}}},
		{"identifiers", Chunk{Text: "see memorySearch.query\nof v2.3"}, ChunkWords{Ends: []int{6, 10}, Joined: []int{3, 5, 9}}},
		{"blank", Chunk{Text: ""}, ChunkWords{Ends: []int{0}}},
		{"other lines than the text", Chunk{Text: "one\u0085two\u2028"}, ChunkWords{Ends: []int{2}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := AnalyzeChunk(test.c)
			got.Terms = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// decoded returns encoded words as they were before. Without a text, Above is not needed.
func decoded(b []byte) (ChunkWords, bool) {
	var r WordReader
	if !r.Read(b) {
		return ChunkWords{}, false
	}
	w := ChunkWords{Above: r.Above}
	for i, n := range r.Order {
		w.Terms = append(w.Terms, string(r.Term(int(n>>1))))
		if n&1 == 1 {
			w.Joined = append(w.Joined, i-w.Above)
		}
	}
	for _, end := range r.Ends {
		w.Ends = append(w.Ends, end-w.Above)
	}
	return w, true
}

func TestWordReaderReadsWhatEncodeWrites(t *testing.T) {
	t.Parallel()
	many := ChunkWords{Ends: []int{20_000}}
	for i := range 20_000 {
		many.Terms = append(many.Terms, fmt.Sprint("w", i*i%10_007))
	}
	tests := map[string]ChunkWords{
		"a chunk":     AnalyzeChunk(Chunk{First: true, Headings: "# 東京の本", Text: "日本語の本を読む\n日本語 memorySearch.query\n\nthe tea the", Names: "Tea time\nティー", Folders: "Drinks"}),
		"many terms":  many,
		"long terms":  {Terms: []string{strings.Repeat("é", 40), strings.Repeat("é", 50), "éa"}},
		"blank lines": {Ends: []int{0, 0}},
		"nothing":     {},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := decoded(want.Encode())
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%v (-want +got):\n%s", ok, diff)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		want := AnalyzeChunk(Chunk{Headings: rapid.String().Draw(t, "headings"), Text: rapid.String().Draw(t, "text"), Names: "one two"})
		got, ok := decoded(want.Encode())
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%v (-want +got):\n%s", ok, diff)
		}
	})
}

// No bytes make the process panic, and what is read can be written and read again.
func FuzzWordReader(f *testing.F) {
	f.Add(AnalyzeChunk(Chunk{Headings: "# Tea", Text: "日本語の本\nthe tea v2.3", Names: "Tea"}).Encode())
	f.Add([]byte{0, 1, 0, 80, 200, 255, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		w, ok := decoded(b)
		if !ok || w.Above > len(w.Terms) {
			return
		}
		again, ok := decoded(w.Encode())
		if ok && !cmp.Equal(w.Terms, again.Terms) {
			t.Errorf("%v\n%s", ok, cmp.Diff(w, again))
		}
	})
}

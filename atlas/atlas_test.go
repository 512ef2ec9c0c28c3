package atlas

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"kioku/memory"
	"kioku/search/analysis"
)

// notes is a snapshot of notes, a chunk and a file each; it panics if there are none.
type notes []string

func (n notes) Chunks(context.Context) (chunks []Chunk, files []memory.MapFile, err error) {
	for i, path := range n {
		files = append(files, memory.MapFile{Path: path})
		chunks = append(chunks, Chunk{MapPoint: memory.MapPoint{File: i, StartLine: 1, EndLine: 1}, ID: int64(i), Key: uint64(i)})
	}
	_ = n[0]
	return chunks, files, nil
}

func (n notes) Vectors(context.Context, map[int64]int, func(int, []float32)) error { return nil }

func (n notes) Texts(_ context.Context, ids []int64, each func(int, analysis.Language, string) error) error {
	for i, id := range ids {
		if err := each(i, "", n[id]); err != nil {
			return err
		}
	}
	return nil
}

// A panic while a map is made is an error of that map, which the next state of the index is drawn after (D14).
func TestMapSurvivesAPanic(t *testing.T) {
	t.Parallel()
	var index notes
	var now time.Time
	a := New(Options{
		Read:  func(_ context.Context, f func(Rows) error) error { return f(index) },
		Begin: func(ctx context.Context, work func(context.Context)) { go work(ctx) },
		Now:   func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	mapOf := func(generation int64) memory.Map {
		for {
			if m := a.Map(t.Context(), memory.MapQuery{}, State{Generation: generation}); !m.Computing || t.Context().Err() != nil {
				return m
			}
		}
	}
	if m := mapOf(1); m.Err == nil || !strings.Contains(m.Err.Error(), "internal error") || strings.Contains(m.Err.Error(), "out of range") {
		t.Fatalf("the map says %v", m.Err)
	}
	if m := mapOf(1); m.Err == nil {
		t.Error("what has failed is tried again although nothing has changed")
	}
	index, now = notes{"tea", "cups"}, now.Add(time.Hour)
	if m := mapOf(2); m.Err != nil || len(m.Points) != 2 {
		t.Errorf("after the panic the map has %d points: %v", len(m.Points), m.Err)
	}
}

// A term without spaces around it is spelt as the word that it is a part of: katakana by the whole run, a few Chinese characters too. Of
// longer runs bigrams are left.
func TestSpellingOfTermsWithoutSpaces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"東京の図書館でデータベースの本を借りた":    "東京 図書館 図書館 データベース",
		"我们的库存管理很好":              "库存 存管 管理",
		"Tomatoes of the garden": "Tomatoes garden",
	} {
		v := vocabulary{numbers: map[string]int32{}}
		v.profileOf("", text)
		var got []string
		for _, s := range v.spellings {
			got = append(got, mostFrequent(s))
		}
		if all := strings.Join(got, " "); !strings.Contains(all, want) {
			t.Errorf("%q has the terms %q, without %q", text, all, want)
		}
	}
}

package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/embed"
	"kioku/memory"
)

// identifierCase is an index in which one note holds an identifier, and a question with it that all others are much nearer to.
type identifierCase struct {
	chunks []Chunk
	query  memory.Query
	opt    Options
	class  embed.Class
}

// identifierQuestions hold %s for an identifier; crowds are notes that share all of their other words.
var identifierQuestions = []struct{ question, crowd, note string }{
	{"Why did the transport provider reject shipment %s in spring?", "The transport provider rejected a shipment in spring, part %d.", "%s came back."},
	{"運送会社が %s の受け取りを断ったのはなぜですか", "運送会社が荷物の受け取りを断った理由、その%d。", "%s は戻ってきた。"},
	{"运输公司为什么拒绝了 %s 这批货物", "运输公司拒绝了这批货物，第%d次。", "%s 被退回。"},
}

func anyIdentifierCase(t *rapid.T) (c identifierCase, home string) {
	id := rapid.SampledFrom([]string{"a828e60", "memorySearch.query", "INV-2026-0042", "ERR_4012", "E4012", "ENOENT", "deadbeef", "0x80070005", "C:/logs/boot.txt"}).Draw(t, "id")
	text := rapid.SampledFrom(identifierQuestions).Draw(t, "question")
	for i := range rapid.IntRange(1, 300).Draw(t, "crowd") {
		c.chunks = append(c.chunks, Chunk{Path: fmt.Sprintf("memory/%03d.md", i), Text: fmt.Sprintf(text.crowd, i), Vector: []float32{1, float32(i) / 200, 0}})
	}
	home = "memory/home.md"
	at := rapid.IntRange(0, len(c.chunks)).Draw(t, "at")
	c.chunks = slices.Insert(c.chunks, at, Chunk{Path: home, StartLine: 1, EndLine: 3, Vector: []float32{0, 0, 1},
		Text: "## Elsewhere\n" + fmt.Sprintf(text.note, id) + "\n" + strings.Repeat("gravel ", rapid.IntRange(0, 200).Draw(t, "gravel"))})
	c.query = memory.Query{
		Text:        fmt.Sprintf(text.question, id),
		MaxResults:  rapid.SampledFrom([]int{1, 3, 6, 40}).Draw(t, "results"),
		Granularity: rapid.SampledFrom([]string{memory.GranularityPassage, memory.GranularityChunk}).Draw(t, "granularity"),
	}
	c.opt = testOptions()
	c.opt.MMR = new(rapid.Bool().Draw(t, "mmr"))
	c.class = rapid.SampledFrom([]embed.Class{embed.Large, embed.Small, embed.Weak}).Draw(t, "class")
	return c, home
}

func TestIdentifierHitsAreInHybridAnswers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, home := anyIdentifierCase(t)
		s := New(newFakeStore(c.chunks...), &fakeEmbedder{vector: []float32{1, 0, 0}, class: c.class}, c.opt)
		a, err := s.Search(t.Context(), c.query)
		if err != nil || a.Mode != memory.ModeHybrid {
			t.Fatalf("mode %s, %v", a.Mode, err)
		}
		if !slices.Contains(paths(a), home) || len(a.Hits) > c.query.MaxResults {
			t.Fatalf("%q, at most %d: found %v", c.query.Text, c.query.MaxResults, paths(a))
		}
	})
}

func TestIdentifierHitsWithHashedVectors(t *testing.T) {
	t.Parallel()
	client, err := embed.New(embed.Config{Provider: "hash"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range identifierQuestions {
		for _, id := range []string{"a828e60", "memorySearch.query", "INV-2026-0042", "ERR_4012"} {
			texts := []string{"## Elsewhere\n" + fmt.Sprintf(text.note, id)}
			for i := range 30 {
				texts = append(texts, fmt.Sprintf(text.crowd, i))
			}
			store := newFakeStore(hashedChunks(t, client, texts)...)
			store.index.Space = client.Space()
			for _, k := range []int{1, 3, 6} {
				for _, granularity := range []string{memory.GranularityPassage, memory.GranularityChunk} {
					q := memory.Query{Text: fmt.Sprintf(text.question, id), MaxResults: k, Granularity: granularity}
					a, err := New(store, client, testOptions()).Search(t.Context(), q)
					if err != nil || a.Mode != memory.ModeHybrid || !slices.Contains(paths(a), "memory/000.md") {
						t.Errorf("%q, at most %d: mode %s, found %v, %v", q.Text, k, a.Mode, paths(a), err)
					}
				}
			}
		}
	}
}

// hashedChunks returns a note for each text, with its vector.
func hashedChunks(t *testing.T, client *embed.Client, texts []string) []Chunk {
	var chunks []Chunk
	for i, text := range texts {
		v, err := client.Query(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, Chunk{Path: fmt.Sprintf("memory/%03d.md", i), StartLine: 1, EndLine: 2, Text: text, Vector: v})
	}
	return chunks
}

func TestIdentifierHitsTakeLastPlace(t *testing.T) {
	t.Parallel()
	chunks := []Chunk{{Path: "memory/home.md", Text: "INV-2026-0042 came back.", Vector: []float32{0, 0, 1}}}
	for i := range 8 {
		chunks = append(chunks, Chunk{Path: fmt.Sprintf("memory/%d.md", i), Text: fmt.Sprintf("The shipment number %d is late again.", i), Vector: []float32{1, float32(i) / 100, 0}})
	}
	opt := testOptions()
	opt.MMR = new(false)
	s := New(newFakeStore(chunks...), &fakeEmbedder{vector: []float32{1, 0, 0}}, opt)
	find := func(text string, least *float64) memory.Answer {
		a, err := s.Search(t.Context(), memory.Query{Text: text, MaxResults: 3, MinScore: least, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	question := "Why is the shipment with the long number INV-2026-0042 late again?"
	a := find(question, nil)
	if !slices.Contains(paths(a), "memory/home.md") {
		t.Errorf("found %v", paths(a))
	}
	least := 0.9
	if a := find(question, &least); slices.Contains(paths(a), "memory/home.md") {
		t.Errorf("the query asks for 0.9: found %v", paths(a))
	}
	if a := find("Why is the shipment late again?", nil); slices.Contains(paths(a), "memory/home.md") {
		t.Errorf("no identifier: found %v", paths(a))
	}
}

func TestKeepIdentifiersKeepsAll(t *testing.T) {
	t.Parallel()
	q := parseTerms("a828e60 b939f71 c040a82", nil)
	at := func(id int64, counts ...int) *candidate {
		return &candidate{Chunk: Chunk{ID: id}, text: textScore{counts: counts}}
	}
	first, second, third, none := at(1, 1, 0, 0), at(2, 0, 1, 0), at(3, 0, 0, 1), at(4, 0, 0, 0)
	list := []*candidate{none, first, second, third}
	r := &searchState{mode: memory.ModeHybrid, terms: q}
	for _, c := range []struct {
		chosen []*candidate
		n      int
		want   []int64
	}{
		{[]*candidate{none}, 1, []int64{1}},
		{[]*candidate{none}, 2, []int64{1, 2}},
		{[]*candidate{none, third}, 2, []int64{3, 1}},
		{[]*candidate{none}, 6, []int64{4, 1, 2, 3}},
		{[]*candidate{second}, 1, []int64{2}},
		{nil, 3, []int64{1, 2, 3}},
	} {
		t.Run(fmt.Sprint(c.want), func(t *testing.T) {
			if diff := cmp.Diff(c.want, idsOf(r.keepIdentifiers(c.chosen, list, c.n, 0))); diff != "" {
				t.Errorf("%v of %d (-want +got):\n%s", idsOf(c.chosen), c.n, diff)
			}
		})
	}
	r.mode = memory.ModeKeyword
	if got := idsOf(r.keepIdentifiers([]*candidate{none}, list, 1, 0)); !slices.Equal(got, []int64{4}) {
		t.Errorf("keywords alone: %v", got)
	}
}

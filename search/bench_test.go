package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/embed"
	"kioku/memory"
	"kioku/search/analysis"
)

// prose returns about n characters of text that differs with seed.
func prose(words []string, sep string, n, seed int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		seed = (seed*1103515245 + 12345) & 0x7fffffff
		b.WriteString(words[(seed>>8)%len(words)])
		if i%17 == 16 {
			b.WriteString(".\n")
		} else {
			b.WriteString(sep)
		}
	}
	return b.String()
}

var englishWords = strings.Fields(`the deployment of staging servers was moved Friday because a database migration failed twice
and nobody restarted memorySearch.query workers after Alice changed config-v2.3 settings for retention meetings about budgets
in Lisbon they decided to keep backups three weeks longer than planned although storage costs are rising quickly every month`)

var japaneseWords = strings.Fields(`会議は東京の本社で 行われました。 データベース を移行する 金曜日に 予算について 話し合い、 来月の 旅行の計画を 立てました。
新しい 設定ファイルを 確認して ください。 サーバーの 再起動が 必要です`)

// BenchmarkRescore scores 100 chunks of 1,600 bytes for a query, and merely analyses them for comparison.
func BenchmarkRescore(b *testing.B) {
	for name, words := range map[string][]string{"english": englishWords, "japanese": japaneseWords} {
		sep, query := " ", "When did Alice restart the staging database migration?"
		if name == "japanese" {
			sep, query = "", "金曜日のデータベースの移行について教えてください"
		}
		chunks := make([]Chunk, 100)
		for i := range chunks {
			chunks[i] = Chunk{ID: int64(i), Date: "2026-01-20", Headings: "# Log", Text: prose(words, sep, 1600, i)}
		}
		b.Run(name, func(b *testing.B) {
			q := parseTerms(query, nil).weigh(nil, 1000)
			var rescore, analyse time.Duration
			for b.Loop() {
				start := time.Now()
				sc := newScorer(q, 300)
				for i := range chunks {
					sc.score(&chunks[i])
				}
				sc.release()
				mid := time.Now()
				analyseAll(chunks)
				rescore, analyse = rescore+mid.Sub(start), analyse+time.Since(mid)
			}
			b.ReportMetric(float64(rescore.Microseconds())/1000/float64(b.N), "ms/rescore")
			b.ReportMetric(rescore.Seconds()/analyse.Seconds(), "rescore/analyse")
		})
	}
}

// hundred is a store that answers every look-up at once with the same chunks, so that nothing but the ranking takes time.
type hundred struct {
	*fakeStore
	ids []int64
}

func newHundred(chunks []Chunk) *hundred {
	h := &hundred{fakeStore: newFakeStore(chunks...)}
	h.index.Chunks, h.index.Embedded = 1000, 1000
	h.index.Space.Dims = 768
	for _, c := range h.chunks {
		h.ids = append(h.ids, c.ID)
	}
	return h
}

func (h *hundred) View(_ context.Context, _ bool, f func(Reader) error) error { return f(h) }

func (h *hundred) Match(context.Context, Terms, memory.Filter, int) ([]int64, error) {
	return h.ids, nil
}

func (h *hundred) Nearest(_ context.Context, _ []float32, _ memory.Filter, k int) ([]Neighbor, Spread, error) {
	near := make([]Neighbor, k)
	for i := range near {
		near[i] = Neighbor{h.ids[i], 1}
	}
	return near, Spread{}, nil
}

func (h *hundred) Chunks(_ context.Context, _ []int64, _ bool) ([]Chunk, error) { return h.chunks, nil }

// sections breaks a text up with a heading every six lines.
func sections(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i += 6 {
		lines[i] = "## 09:00 - topic\n" + lines[i]
	}
	return strings.Join(lines, "")
}

// unit returns a vector of a length as of a real model.
func unit(seed int) []float32 {
	v := make([]float32, 768)
	for i := range v {
		seed = (seed*1103515245 + 12345) & 0x7fffffff
		v[i] = float32(seed>>8) / (1 << 23)
	}
	return v
}

// BenchmarkRank takes 100 candidates of 1,600 bytes through the whole ranking: terms, scores, passages, dates, merge,
// decay, threshold, MMR and snippets. It is compared with the mere analysis of the same 100 texts. The goal is 3 ms.
func BenchmarkRank(b *testing.B) {
	for _, c := range []struct {
		name, sep, query string
		words            []string
		vectors          bool
	}{
		{"english", " ", "When did Alice restart the staging database migration?", englishWords, false},
		{"english-day", " ", "What did Alice decide about the staging database on 20 January 2026?", englishWords, false},
		{"english-hybrid", " ", "When did Alice restart the staging database migration?", englishWords, true},
		{"japanese", "", "金曜日のデータベースの移行について教えてください", japaneseWords, false},
	} {
		chunks := make([]Chunk, 100)
		for i := range chunks {
			chunks[i] = Chunk{Path: fmt.Sprintf("memory/%03d.md", i), StartLine: 1, EndLine: 20, Headings: "# Log",
				Date: fmt.Sprintf("2026-01-%02d", 1+i%31), Text: sections(prose(c.words, c.sep, 1600, i))}
			if c.vectors {
				chunks[i].Vector = unit(i)
			}
		}
		b.Run(c.name, func(b *testing.B) {
			s := New(newHundred(chunks), &fakeEmbedder{vector: unit(7), off: !c.vectors, space: embed.Space{Provider: "openai", Model: "test", Dims: 768}}, testOptions())
			var ranks, analyses []time.Duration
			for b.Loop() {
				start := time.Now()
				if a, err := s.Search(b.Context(), memory.Query{Text: c.query}); err != nil || len(a.Hits) != 6 {
					b.Fatal(a, err)
				}
				mid := time.Now()
				analyseAll(chunks)
				ranks, analyses = append(ranks, mid.Sub(start)), append(analyses, time.Since(mid))
			}
			rank, analyse := median(ranks), median(analyses)
			b.ReportMetric(float64(rank.Microseconds())/1000, "ms/rank")
			b.ReportMetric(rank.Seconds()/analyse.Seconds(), "rank/analyse")
		})
	}
}

// median keeps what else the machine does out of a figure.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// analyseAll analyses chunks and does nothing with their terms.
func analyseAll(chunks []Chunk) {
	for i := range chunks {
		a := analysis.NewAnalyzer()
		a.Add(chunks[i].Headings)
		a.Add(chunks[i].Date)
		a.Add(chunks[i].Text)
		a.Release()
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, chunks := range []int{100, 2000} {
		b.Run(fmt.Sprint(chunks), func(b *testing.B) {
			var notes []Chunk
			for i := range chunks {
				notes = append(notes, Chunk{Path: fmt.Sprintf("memory/%05d.md", i), StartLine: 1, EndLine: 16, Text: prose(englishWords, " ", 1600, i)})
			}
			s := New(newFakeStore(notes...), nil, DefaultOptions())
			for b.Loop() {
				if _, err := s.Search(b.Context(), memory.Query{Text: "When did Alice restart the staging database?"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package search

import (
	"fmt"
	"strings"
	"testing"
	"time"
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

func BenchmarkAnalyze(b *testing.B) {
	for name, text := range map[string]string{
		"english":  prose(englishWords, " ", 16<<10, 1),
		"japanese": prose(japaneseWords, "", 16<<10, 1),
		"base64":   strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Analyze(text)
			}
		})
	}
}

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
			q := parseTerms(query, measured()).weigh(nil, 1000)
			var rescore, analyse time.Duration
			for b.Loop() {
				start := time.Now()
				sc := newScorer(q, 300, measured())
				for i := range chunks {
					sc.score(&chunks[i])
				}
				sc.release()
				mid := time.Now()
				for i := range chunks {
					a := newAnalyzer()
					a.addChunk(chunks[i].Headings, chunks[i].Date, chunks[i].Text)
					a.release()
				}
				rescore, analyse = rescore+mid.Sub(start), analyse+time.Since(mid)
			}
			b.ReportMetric(float64(rescore.Microseconds())/1000/float64(b.N), "ms/rescore")
			b.ReportMetric(rescore.Seconds()/analyse.Seconds(), "rescore/analyse")
		})
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
				if _, err := s.Search(b.Context(), Query{Text: "When did Alice restart the staging database?"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
)

// BenchmarkMisspelt looks up the 800 spelling variants of a misspelt word among 250,000 words of 30,000 chunks: after a sync,
// after a merge, and merged after each of 200 edits. It compares each with a full 'optimize' of the same index. Goals: at most
// 1.5 times as long after a sync, 4 times after edits; merging takes a tenth of the time of writing.
func BenchmarkMisspelt(b *testing.B) {
	const files, perFile, edits = 1875, 16, 200
	var written, merged, left, after, edited, optimal []float64
	vocabulary := 0
	for b.Loop() {
		r := rand.New(rand.NewPCG(42, 42))
		zipf := rand.NewZipf(r, 1.1, 4, 300_000)
		s := openWithBudget(b, b.TempDir(), slab.NewBudget(0), false) // the words are searched on disk
		write, merge := 0.0, func() error { return s.MergeSegments(b.Context()) }
		for from := 0; from < files; from += perFile {
			var batch []indexer.File
			for i := from; i < min(from+perFile, files); i++ {
				batch = append(batch, benchFile(fmt.Sprintf("memory/%d.md", i), perFile, r, zipf))
			}
			write += seconds(b, func() error { _, err := s.ReplaceFile(b.Context(), batch...); return err })
		}
		written, left = append(written, write), append(left, lookUp(b, s))
		merged, after = append(merged, seconds(b, merge)), append(after, lookUp(b, s))
		for i := range edits {
			_, err := s.ReplaceFile(b.Context(), benchFile(fmt.Sprintf("memory/%d.md", i), perFile, r, zipf))
			if err == nil {
				err = merge()
			}
			if err != nil {
				b.Fatal(err)
			}
			if i%10 == 9 {
				edited = append(edited, lookUp(b, s))
			}
		}
		if _, err := s.current().db.writer.Exec("INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')"); err != nil {
			b.Fatal(err)
		}
		optimal = append(optimal, lookUp(b, s))
		if err := s.current().db.readers.QueryRow("SELECT count(*) FROM chunks_vocab").Scan(&vocabulary); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(vocabulary), "words")
	b.ReportMetric(median(left)/median(optimal), "x_optimized_written")
	b.ReportMetric(median(after)/median(optimal), "x_optimized_synced(goal<=1.5)")
	b.ReportMetric(median(edited)/median(optimal), "x_optimized_edited(goal<=4)")
	b.ReportMetric(median(merged)/median(written), "x_written_merge(goal<=0.1)")
}

// benchFile returns a file of n chunks of about 170 words.
func benchFile(path string, n int, r *rand.Rand, zipf *rand.Zipf) indexer.File {
	f := indexer.File{Path: path, Source: memory.SourceMemory}
	for i := range n {
		var text strings.Builder
		for range 10 {
			writeSentence(&text, r, zipf)
		}
		c := indexer.Chunk{}
		c.StartLine, c.EndLine, c.Text = 10*i+1, 10*i+10, text.String()
		f.Chunks = append(f.Chunks, c)
	}
	return f
}

// lookUp returns the median time in seconds to look up the spelling variants of unknown words.
func lookUp(b *testing.B, s *Store) float64 {
	b.Helper()
	var took []float64
	for i := range 45 {
		terms := replacements(word(uint64(i)) + "xqxqxqxqxqxqxqxq")
		took = append(took, seconds(b, func() error {
			return s.View(b.Context(), false, func(rd search.Reader) error { return docFreq(b.Context(), rd, terms) })
		}))
	}
	return median(took)
}

// replacements returns the words with one letter replaced or added: about 800 for 15 letters.
func replacements(word string) []string {
	var terms []string
	for i := range word[:15] {
		for l := 'a'; l <= 'z'; l++ {
			terms = append(terms, word[:i]+string(l)+word[i:15], word[:i]+string(l)+word[i+1:15])
		}
	}
	return terms
}

// docFreq looks up terms.
func docFreq(ctx context.Context, rd search.Reader, terms []string) error {
	_, err := rd.DocFreq(ctx, terms)
	return err
}

// writeSentence writes one line of words.
func writeSentence(text *strings.Builder, r *rand.Rand, zipf *rand.Zipf) {
	for range 10 + r.IntN(15) {
		text.WriteString(word(zipf.Uint64()))
		text.WriteByte(' ')
	}
	text.WriteString(".\n")
}

// word spells a number with syllables, so that frequent words are short.
func word(n uint64) string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var w []byte
	for n += 20; n > 0; n /= 90 {
		w = append(w, consonants[n%18], vowels[n/18%5])
	}
	return string(w) + "0" // the stem of no language
}

// seconds runs f and returns how long it took.
func seconds(b *testing.B, f func() error) float64 {
	b.Helper()
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds()
}

// median returns the middle of v, the upper one of two.
func median(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }

package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/search"
	"kioku/search/analysis"
)

// fewSegments is how many segments are left after a merge of a few commits.
const fewSegments = 4

// words returns a file of n chunks of many words.
func words(name string, n int, r *rand.Rand) note {
	return note{File: benchFile(name, n, r, rand.NewZipf(r, 1.1, 4, 20_000))}
}

// scattered writes one large commit and ten small ones, so that the words are in many segments.
func scattered(t *testing.T, s *Store) {
	t.Helper()
	r := newRand()
	replace(t, s, words("memory/large.md", 1500, r))
	for i := range 10 {
		replace(t, s, words(fmt.Sprintf("memory/%d.md", i), 10, r))
	}
	if got := sizes(t, s); len(got) <= fewSegments {
		t.Fatalf("the words are in few segments as it is: %v", got)
	}
}

// sizes returns about the number of pages of each segment of the words, the largest first.
func sizes(t *testing.T, s *Store) []int {
	t.Helper()
	rows, err := s.current().db.readers.QueryContext(t.Context(), "SELECT count(*) FROM chunks_fts_idx GROUP BY segid ORDER BY 1 DESC")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var pages []int
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, n)
	}
	return pages
}

// mergeAll merges the words or fails the test.
func mergeAll(t *testing.T, s *Store) {
	t.Helper()
	if err := s.MergeSegments(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// answers are the answers of a store for some words.
type answers struct {
	Generation int64
	Ranked     map[string][]int64
	Freq       map[string]int
}

// readAnswers searches for some words. It also checks that the index is consistent, by FTS5's own check too.
func readAnswers(t *testing.T, s *Store) answers {
	t.Helper()
	got := answers{Generation: checkConsistent(t, s).generation, Ranked: make(map[string][]int64)}
	if _, err := s.current().db.writer.Exec("INSERT INTO chunks_fts (chunks_fts) VALUES ('integrity-check')"); err != nil {
		t.Error(err)
	}
	err := s.View(t.Context(), false, func(r search.Reader) (err error) {
		var terms []string
		for n := range uint64(200) {
			terms = append(terms, analysis.Terms(word(n*n))...)
		}
		for _, term := range terms[100:120] {
			if got.Ranked[term], err = r.Match(t.Context(), search.Terms{Any: []string{term}}, memory.Filter{}, 50); err != nil {
				return err
			}
		}
		got.Freq, err = r.DocFreq(t.Context(), terms)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Freq) < 100 {
		t.Fatalf("the words are not there: %v", got.Freq)
	}
	return got
}

func TestMergeSegmentsKeepsTheAnswers(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	scattered(t, s)
	replace(t, s, gone("memory/3.md"), words("memory/4.md", 5, newRand()))
	before := readAnswers(t, s)
	mergeAll(t, s)
	if got := sizes(t, s); len(got) > fewSegments {
		t.Errorf("segments of %v pages are left", got)
	}
	if after := readAnswers(t, s); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}

func TestMergeSegmentsWritesNothingTwice(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	scattered(t, s)
	mergeAll(t, s)
	before := written(t, s)
	mergeAll(t, s)
	if after := written(t, s); after > before+1 { // the command itself counts
		t.Errorf("%d rows were written although nothing changed", after-before)
	}
}

// written returns the number of rows that the writer has written so far.
func written(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.current().db.writer.QueryRow("SELECT total_changes()").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMergeSegmentsAfterEditsLeavesTheLargest(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	scattered(t, s)
	mergeAll(t, s)
	whole := sizes(t, s)
	r := newRand()
	for i := range 10 {
		replace(t, s, words(fmt.Sprintf("memory/new%d.md", i), 1, r))
		mergeAll(t, s)
		got := sizes(t, s)
		if len(got) > 2*fewSegments {
			t.Errorf("after %d edits the words are in segments of %v pages", i+1, got)
		}
		if slices.Max(got) != whole[0] {
			t.Fatalf("edit %d wrote the segment of %v pages again: %v", i+1, whole, got)
		}
	}
}

func TestMergeSegmentsContinuesAnUnfinishedMerge(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	scattered(t, s)
	before := readAnswers(t, s)
	if _, err := s.current().db.writer.Exec("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', -10)"); err != nil {
		t.Fatal(err)
	}
	if got := sizes(t, s); len(got) < 2 {
		t.Fatalf("no merge is under way: %v", got)
	}
	cut := readAnswers(t, s)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.MergeSegments(done); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	mergeAll(t, s)
	if got := sizes(t, s); len(got) > fewSegments {
		t.Errorf("segments of %v pages are left", got)
	}
	if !cmp.Equal(before, cut) {
		t.Error(cmp.Diff(before, cut))
	}
	if after := readAnswers(t, s); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}

func TestMergeSegmentsDoesNotDisturbReaders(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	scattered(t, s)
	term := analysis.Terms(word(50))[0]
	want := match(t, s, memory.Filter{}, term)
	merged := make(chan error, 1)
	go func() { merged <- s.MergeSegments(t.Context()) }()
	for range 200 {
		if got := match(t, s, memory.Filter{}, term); len(want) == 0 || !slices.Equal(got, want) {
			t.Fatalf("%d chunks hold the word, want %d", len(got), len(want))
		}
	}
	if err := <-merged; err != nil {
		t.Error(err)
	}
}

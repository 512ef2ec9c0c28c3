package speed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	// The driver that the yardsticks read with.
	_ "github.com/mattn/go-sqlite3"

	"github.com/viterin/vek/vek32"

	"kioku"
	"kioku/memory"
	"kioku/search"
	"kioku/search/analysis"
)

const (
	// hybridChunks and hybridDims size the index of the benches that are not measured at each size.
	hybridChunks, hybridDims = 100_000, 768
	// asked is how many questions a bench asks.
	asked = 150
)

// searchBenches measure searches in this process.
func searchBenches() []Bench {
	return []Bench{
		{Name: "keyword search p95", Unit: "ms", Goal: 0.4, Run: keywordSearch},
		{Name: "keyword candidates p95", Unit: "ms", Goal: 0.4, Sized: true, Run: keywordCandidates},
		{Name: "hybrid search", Unit: "ms", Goal: 2, Run: hybridSearch},
		{Name: "hybrid search overhead", Unit: "ms", Goal: 0.05, Run: hybridOverhead},
		{Name: "search while indexing p95", Unit: "ms", Goal: 3, Run: searchWhileIndexing},
	}
}

// keywordSearch compares a search by keywords with the plain FTS5 query of all words of the question, at the 95th
// percentile.
func keywordSearch(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	return againstPlain(ctx, e, hybridChunks, func(s steps) time.Duration { return s.whole })
}

// keywordCandidates compares finding the candidates of a search by keywords with the same; what the search goes on to do
// with them does not grow with the index.
func keywordCandidates(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	return againstPlain(ctx, e, e.Size, func(s steps) time.Duration { return s.lists })
}

// againstPlain asks questions of an index without vectors and of plain FTS5 in turn.
func againstPlain(ctx context.Context, e *Env, chunks int, part func(steps) time.Duration) (ours, yardstick float64, err error) {
	m, err := e.index(ctx, chunks, 0)
	if err != nil {
		return 0, 0, err
	}
	db, err := openYardstick(ctx, m)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	list := questions(asked)
	var times, plain []time.Duration
	err = observed(ctx, m, false, list, func(s steps) error {
		times = append(times, part(s))
		took, err := timed(func() error { return plainMatch(ctx, db, list[len(plain)]) })
		plain = append(plain, took)
		e.Step(len(plain), len(list))
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return p95(times), p95(plain), nil
}

// plainMatch ranks what holds any word of a question by FTS5 alone.
func plainMatch(ctx context.Context, db *sql.DB, question string) error {
	terms := analysis.Terms(question)
	slices.Sort(terms)
	rows, err := db.QueryContext(ctx,
		"SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY bm25(chunks_fts) LIMIT 100",
		search.MatchExpr(slices.Compact(terms)))
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// steps is how long a search took, and steps of it.
type steps struct{ whole, lists, scores time.Duration }

// rest is what is neither spent on the two lists nor on the scores of the candidates.
func (s steps) rest() time.Duration { return s.whole - s.lists - s.scores }

// observed asks m questions and calls f with the times of each search. In the end m has its own settings again.
func observed(ctx context.Context, m *kioku.Memory, hybrid bool, list []string, f func(steps) error) error {
	var s steps
	opt := search.Options{Hybrid: &hybrid}
	opt.Observe = func(step string, took time.Duration) {
		switch step {
		case search.StepLists:
			s.lists = took
		case search.StepScores:
			s.scores = took
		}
	}
	m.Configure(opt)
	defer m.Configure(search.Options{})
	for _, q := range list {
		took, err := timed(func() error {
			a, err := m.Search(ctx, memory.Query{Text: q})
			if err == nil && hybrid && a.Mode != memory.ModeHybrid {
				err = fmt.Errorf("a search was answered by mode %s: %v", a.Mode, a.Degraded)
			}
			return err
		})
		if err != nil {
			return err
		}
		s.whole = took
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

// hybridSearch compares a search with the sum of what it cannot do without: one pass over the bytes of all vectors, and the
// lists of a search by keywords alone.
func hybridSearch(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, err := e.index(ctx, hybridChunks, hybridDims)
	if err != nil {
		return 0, 0, err
	}
	vectors := make([]float32, hybridChunks*hybridDims)
	for i := range vectors {
		vectors[i] = float32(i)
	}
	list := questions(asked / 3)
	if err := observed(ctx, m, true, list, func(steps) error { return nil }); err != nil { // the vectors of the questions are known now
		return 0, 0, err
	}
	var whole, keywords, floor []time.Duration
	for i, q := range list {
		err := observed(ctx, m, true, []string{q}, func(s steps) error { whole = append(whole, s.whole); return nil })
		if err == nil {
			err = observed(ctx, m, false, []string{q}, func(s steps) error { keywords = append(keywords, s.lists); return nil })
		}
		if err != nil {
			return 0, 0, err
		}
		start := time.Now()
		if vek32.Sum(vectors) == 0 {
			return 0, 0, errors.New("the vectors are zero")
		}
		floor = append(floor, time.Since(start))
		e.Step(i+1, len(list))
	}
	return median(whole), median(keywords) + median(floor), nil
}

// hybridOverhead compares what a search does beside the lists and the scores with the whole of it.
func hybridOverhead(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, err := e.index(ctx, hybridChunks, hybridDims)
	if err != nil {
		return 0, 0, err
	}
	list := questions(asked / 3)
	var rest, whole []time.Duration
	for range 2 { // the first time, the vectors of the questions are made
		rest, whole = nil, nil
		err := observed(ctx, m, true, list, func(s steps) error {
			rest, whole = append(rest, s.rest()), append(whole, s.whole)
			e.Step(len(whole), len(list))
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return median(rest), median(whole), nil
}

// timed returns how long f took.
func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

// p95 returns the time in milliseconds that one in twenty exceeds.
func p95(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)*95/100]) / float64(time.Millisecond)
}

// openYardstick opens the index of a memory for yardsticks to read from.
func openYardstick(ctx context.Context, m *kioku.Memory) (*sql.DB, error) {
	st, err := m.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("open yardstick: %w", err)
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: st.Database}).EscapedPath(), RawQuery: "mode=ro"}
	db, err := sql.Open("sqlite3", name.String())
	if err != nil {
		return nil, fmt.Errorf("open yardstick: %w", err)
	}
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{"PRAGMA mmap_size = 1073741824", "PRAGMA cache_size = -2000"} {
		if _, err := db.ExecContext(ctx, pragma); err != nil {
			return nil, errors.Join(fmt.Errorf("open yardstick: %w", err), db.Close())
		}
	}
	return db, nil
}

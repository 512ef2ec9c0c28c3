package speed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"kioku"
	"kioku/memory"
	"kioku/search"
)

const (
	// hybridChunks is the number of chunks of benches that are not sized.
	hybridChunks = 100_000
	// keywordQuestions and hybridQuestions are how many questions a bench asks.
	keywordQuestions, hybridQuestions = 150, 50
	// busyChunks is the number of chunks that are indexed while others search.
	busyChunks = 30_000
)

// searchSteps are the durations of a search and of steps of it.
type searchSteps struct{ whole, lists, scores time.Duration }

// rest is the time that is spent neither on the two lists nor on the scores of the candidates.
func (s searchSteps) rest() time.Duration { return s.whole - s.lists - s.scores }

// searchObserved asks m a question, by keywords only unless hybrid is set, and returns the durations. Afterwards m has its
// default settings.
func searchObserved(ctx context.Context, m *kioku.Memory, hybrid bool, question string) (s searchSteps, err error) {
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
	start := time.Now()
	a, err := m.Search(ctx, memory.Query{Text: question})
	s.whole = time.Since(start)
	if err == nil && hybrid && a.Mode != memory.ModeHybrid {
		err = fmt.Errorf("a search was answered by mode %s: %v", a.Mode, a.Degraded)
	}
	return s, err
}

// keywordSearch compares a search by keywords with the plain FTS5 query of all words of the question, at the 95th
// percentile.
func keywordSearch(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	return againstPlain(ctx, e, hybridChunks, func(s searchSteps) time.Duration { return s.whole })
}

// keywordCandidates compares the search for candidates by keywords with the same; the steps after it do not grow with the
// index.
func keywordCandidates(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	return againstPlain(ctx, e, e.Size, func(s searchSteps) time.Duration { return s.lists })
}

// againstPlain asks questions of an index without vectors and of plain FTS5 in turn.
func againstPlain(ctx context.Context, e *Env, chunks int, part func(searchSteps) time.Duration) (ours, yardstick float64, err error) {
	m, err := e.fixtures.index(ctx, chunks, 0)
	if err != nil {
		return 0, 0, err
	}
	db, err := readIndex(ctx, m)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	var parts, plain times
	for i, q := range questions(keywordQuestions) {
		e.Step(i, keywordQuestions)
		s, err := searchObserved(ctx, m, false, q)
		if err == nil {
			err = plain.measure(func() error { return db.match(ctx, q) })
		}
		if err != nil {
			return 0, 0, err
		}
		parts = append(parts, part(s))
	}
	return parts.p95(), plain.p95(), nil
}

// hybridSearch compares a search with the sum of what it cannot do without: one pass over the bytes of all vectors, and the
// lists of a search by keywords only.
func hybridSearch(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	vectors := make([]float32, hybridChunks*vectorDims)
	for i := range vectors {
		vectors[i] = float32(i)
	}
	var whole, lists, pass times
	err = searchHybrid(ctx, e, func(m *kioku.Memory, q string, s searchSteps) error {
		words, err := searchObserved(ctx, m, false, q)
		whole, lists = append(whole, s.whole), append(lists, words.lists)
		if err == nil {
			err = pass.measure(func() error { return readAll(vectors) })
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return whole.median(), lists.median() + pass.median(), nil
}

// hybridOverhead compares the time that a search spends beside the lists and the scores with the whole of it.
func hybridOverhead(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	var rest, whole times
	err = searchHybrid(ctx, e, func(_ *kioku.Memory, _ string, s searchSteps) error {
		rest, whole = append(rest, s.rest()), append(whole, s.whole)
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	return rest.median(), whole.median(), nil
}

// searchHybrid asks questions of an index with vectors, and calls f after each that is asked for the second time: the
// first time, its vector is requested.
func searchHybrid(ctx context.Context, e *Env, f func(m *kioku.Memory, question string, s searchSteps) error) error {
	m, err := e.fixtures.index(ctx, hybridChunks, vectorDims)
	if err != nil {
		return err
	}
	list := questions(hybridQuestions)
	for i, q := range append(list, list...) {
		e.Step(i, 2*len(list))
		s, err := searchObserved(ctx, m, true, q)
		if err == nil && i >= len(list) {
			err = f(m, q, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// searchWhileIndexing compares searches while every file of a workspace is indexed again with searches before and after,
// at the 95th percentile. Any error, such as a locked database, ends it.
func searchWhileIndexing(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "workspace")
	m, err := indexLogs(ctx, workspace, filepath.Join(e.Dir, "state"), busyChunks, 0)
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	once := func(asked int) bool { return asked == keywordQuestions }
	var idle, busy times
	if err := searchUntil(ctx, m, &idle, once); err != nil {
		return 0, 0, err
	}
	if err := writeLogs(ctx, workspace, busyChunks, logSeed+1); err != nil {
		return 0, 0, err
	}
	synced := make(chan error, 1)
	go func() { synced <- syncChanged(ctx, m) }()
	err = searchUntil(ctx, m, &busy, func(int) bool { return len(synced) > 0 })
	if err = errors.Join(err, <-synced); err != nil {
		return 0, 0, fmt.Errorf("search while indexing: %w", err)
	}
	if err := searchUntil(ctx, m, &idle, once); err != nil {
		return 0, 0, err
	}
	e.Step(1, 1)
	return busy.p95(), idle.p95(), nil
}

// searchUntil asks questions one after the other until stop, which is called with the number of searches so far, returns
// true.
func searchUntil(ctx context.Context, m *kioku.Memory, t *times, stop func(asked int) bool) error {
	list := questions(keywordQuestions)
	for i := 0; !stop(i); i++ {
		err := t.measure(func() error { _, err := m.Search(ctx, memory.Query{Text: list[i%len(list)]}); return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// syncChanged brings the index in step, and returns an error if not every file was read.
func syncChanged(ctx context.Context, m *kioku.Memory) error {
	report, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	if err == nil && report.Read < busyChunks/logEntries {
		err = fmt.Errorf("%d of %d files were read", report.Read, busyChunks/logEntries)
	}
	return err
}

package speed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku"
	"kioku/store/slab"
)

// medianAgainstDisk compares the median search by keywords of a memory whose words are in memory with that of one that may keep
// nothing in memory: the same index, searched by FTS5, and the candidates analysed again.
func medianAgainstDisk(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	inMemory, onDisk, err := searchBoth(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	return inMemory.median(), onDisk.median(), nil
}

// p95AgainstDisk is medianAgainstDisk at the 95th percentile.
func p95AgainstDisk(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	inMemory, onDisk, err := searchBoth(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	return inMemory.p95(), onDisk.p95(), nil
}

// searchBoth asks questions in turn of a memory with its words in memory and of one that has them on disk.
func searchBoth(ctx context.Context, e *Env) (inMemory, onDisk times, err error) {
	m, err := e.fixtures.index(ctx, e.Size, 0)
	if err != nil {
		return nil, nil, err
	}
	disk, err := e.fixtures.onDisk(ctx, e.Size)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, disk.Close()) }()
	if err := awaitWords(ctx, m); err != nil {
		return nil, nil, err
	}
	for i, q := range questions(keywordQuestions) {
		e.Step(i, keywordQuestions)
		a, err := searchObserved(ctx, m, false, q)
		if err != nil {
			return nil, nil, err
		}
		b, err := searchObserved(ctx, disk, false, q)
		if err != nil {
			return nil, nil, err
		}
		inMemory, onDisk = append(inMemory, a.whole), append(onDisk, b.whole)
	}
	return inMemory, onDisk, nil
}

// onDisk opens the index of the fixture without vectors once more, for reading, without anything kept in memory.
func (f *fixtures) onDisk(ctx context.Context, chunks int) (*kioku.Memory, error) {
	return kioku.Open(ctx, kioku.Options{Workspace: f.workspace(chunks), StateDir: f.state(chunks, 0), Mode: kioku.ReadOnly,
		Chunking: logChunking, Vectors: slab.NewBudget(0)})
}

// wordsTimeout is how long the words of an index may take to be loaded.
const wordsTimeout = 5 * time.Minute

// awaitWords asks questions until the words of a memory without vectors are in memory.
func awaitWords(ctx context.Context, m *kioku.Memory) error {
	ctx, cancel := context.WithTimeout(ctx, wordsTimeout)
	defer cancel()
	for {
		if _, err := searchObserved(ctx, m, false, questions(1)[0]); err != nil {
			return err
		}
		s, err := m.Status(ctx)
		if err != nil {
			return err
		}
		if s.Sizes.Resident > 0 {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("load the words: %w", ctx.Err())
		}
	}
}

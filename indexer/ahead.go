package indexer

import (
	"context"
	"iter"
	"slices"
	"sync"

	"kioku/embed"
)

// RunAhead is Run with a longer backlog: after the texts of the index come those that the index is about to contain. Their
// vectors go to the cache. The sequence is read twice, first to count its texts; it must yield only texts without a vector.
func (b *Backfill) RunAhead(ctx context.Context, texts iter.Seq2[Text, error], onProgress func(Progress)) (BackfillReport, error) {
	return b.runAhead(ctx, texts, onProgress, pacer{})
}

// RunAheadInBackground is RunAhead at the pace that the machine has to spare.
func (b *Backfill) RunAheadInBackground(ctx context.Context, texts iter.Seq2[Text, error]) (BackfillReport, error) {
	return b.runAhead(ctx, texts, nil, pacer{pace: b.Pace})
}

func (b *Backfill) runAhead(ctx context.Context, texts iter.Seq2[Text, error], onProgress func(Progress), pace pacer) (BackfillReport, error) {
	if !b.embedder.Enabled() {
		return BackfillReport{}, nil
	}
	count := 0
	for _, err := range texts {
		if err != nil {
			return BackfillReport{}, err
		}
		count++
	}
	if count == 0 {
		return BackfillReport{}, nil
	}
	next, stop := iter.Pull2(texts)
	defer stop()
	return b.run(ctx, onProgress, pace, &aheadStore{VectorStore: b.store, next: next, left: count, known: map[Hash]bool{}})
}

// aheadStore is a VectorStore whose backlog goes on with a sequence of texts. It holds a page of them in memory.
type aheadStore struct {
	VectorStore
	next func() (Text, error, bool)
	left int // texts that next has still to yield, about

	mu    sync.Mutex    // guards the fields below
	page  []Text        // texts of the sequence whose vectors are not stored
	known map[Hash]bool // texts that were in page or were stored
}

// Backlog implements VectorStore.
func (s *aheadStore) Backlog(ctx context.Context, space embed.Space, limit int, first ...string) ([]Text, int, error) {
	texts, chunks, err := s.VectorStore.Backlog(ctx, space, limit, first...)
	if err != nil || len(texts) >= limit {
		return texts, chunks + s.left, err
	}
	if err := s.fillPage(limit - len(texts)); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	indexed := make(map[Hash]bool, len(texts))
	for _, t := range texts {
		indexed[t.Hash] = true
	}
	for _, t := range s.page {
		if !indexed[t.Hash] {
			texts, chunks = append(texts, t), chunks+1
		}
	}
	return texts, chunks + s.left, nil
}

// fillPage reads the sequence until the page has n texts, or the sequence ends.
func (s *aheadStore) fillPage(n int) error {
	for s.pageSize() < n {
		t, err, ok := s.next()
		if !ok || err != nil {
			s.left = 0
			return err
		}
		s.left = max(s.left-1, 0)
		s.mu.Lock()
		if !s.known[t.Hash] {
			s.known[t.Hash] = true
			s.page = append(s.page, t)
		}
		s.mu.Unlock()
	}
	return nil
}

func (s *aheadStore) pageSize() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.page)
}

// PutVectors implements VectorStore.
func (s *aheadStore) PutVectors(ctx context.Context, space embed.Space, vectors map[Hash]Vectors) error {
	if err := s.VectorStore.PutVectors(ctx, space, vectors); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash := range vectors {
		s.known[hash] = true
	}
	s.page = slices.DeleteFunc(s.page, func(t Text) bool {
		_, isStored := vectors[t.Hash]
		return isStored
	})
	return nil
}

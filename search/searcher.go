package search

import "context"

// Searcher answers queries from a store.
type Searcher struct{}

// New returns a searcher; e may be nil.
func New(s Store, e Embedder, opt Options) *Searcher { panic("not built") }

// Search answers q.
func (s *Searcher) Search(ctx context.Context, q Query) (Answer, error) { panic("not built") }

// Explain says what became of the chunk that holds a line of a file.
func (s *Searcher) Explain(ctx context.Context, q Query, path string, line int) (Explanation, error) {
	panic("not built")
}

// Analyze returns the terms of a text in order, as they are indexed and asked for.
func Analyze(text string) []string { panic("not built") }

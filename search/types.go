package search

import (
	"context"

	"kioku/embed"
	"kioku/memory"
)

// Chunk is a candidate as the store holds it.
type Chunk struct {
	ID        int64
	Path      string
	Source    string
	StartLine int
	EndLine   int
	Headings  string
	// Date (YYYY-MM-DD) of the file or entry, empty where there is none.
	Date string
	// Evergreen chunks do not decay: front matter says so, or the file is MEMORY.md or USER.md.
	Evergreen bool
	// Fence is the mark of the code fence within which the chunk begins, "```"; empty where it begins in none.
	Fence string
	// Closed says that the chunk ends where a section does: a heading follows, or the end of the file.
	Closed bool
	Text   string
	// Vector is the stored unit vector; nil where there is none, and where it was not asked for.
	Vector []float32
}

// Index describes the index that a view sees.
type Index struct {
	// Space of the stored vectors; zero where there are none.
	Space  embed.Space
	Files  int
	Chunks int
	// Embedded counts the chunks that have a vector.
	Embedded int
	// AvgTerms is the mean number of analysed terms a chunk.
	AvgTerms float64
	// Generation is bumped by every committed change.
	Generation int64
}

// Neighbor is a chunk near a query vector.
type Neighbor struct {
	ID     int64
	Cosine float64
}

// Store gives a search a consistent picture of the index.
type Store interface {
	// View calls f with a reader of one snapshot; vectors says whether Nearest will be called. The reader is good
	// until f returns, and Match and Nearest may run at the same time.
	View(ctx context.Context, vectors bool, f func(Reader) error) error
}

// Reader reads one snapshot of an index.
type Reader interface {
	// Index describes the snapshot.
	Index() Index
	// DocFreq returns in how many chunks each term occurs; terms that occur nowhere are absent.
	DocFreq(ctx context.Context, terms []string) (map[string]int, error)
	// Dated reports whether any chunk has a date (YYYY-MM-DD) between two days, both included.
	Dated(ctx context.Context, first, last string) (bool, error)
	// Match returns the ids of the best chunks that hold any of t.Any, best first: each counts by all of
	// the terms that it holds, in proportions that suffice for choosing candidates. Without terms it returns those that the
	// filter lets through, newest first.
	Match(ctx context.Context, t Terms, f memory.Filter, limit int) ([]int64, error)
	// Nearest returns the k chunks nearest to a unit vector, nearest first.
	Nearest(ctx context.Context, vector []float32, f memory.Filter, k int) ([]Neighbor, error)
	// Chunks reads chunks by id, in any order; ids that are not there are left out.
	Chunks(ctx context.Context, ids []int64, vectors bool) ([]Chunk, error)
}

// Embedder turns a query into a vector; *embed.Client is one.
type Embedder interface {
	Enabled() bool
	// Weak reports that the vectors come from no real model, so that keywords weigh more.
	Weak() bool
	Space() embed.Space
	Query(ctx context.Context, text string) ([]float32, error)
}

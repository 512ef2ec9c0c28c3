package search

import (
	"context"

	"kioku/embed"
	"kioku/memory"
	"kioku/search/analysis"
)

// Chunk is a piece of a file, as the store contains it.
type Chunk struct {
	// ID identifies the chunk within the index.
	ID int64
	// Path of the file, relative to the workspace, with slashes.
	Path string
	// Source of the file.
	Source string
	// Title of the file, empty if it has none.
	Title string
	// Names are what the file is called, a name a line: the words of its file name, its title, its aliases, and the tags of its
	// front matter with a # before each. Empty for a file without names, such as a daily note.
	Names string
	// Folders are the words of the folders of the file, a folder a line; empty if there are none.
	Folders string
	// Language decides how the words of the chunk are analysed, "" for English.
	Language analysis.Language
	// StartLine and EndLine are the first and the last line in the file, from 1.
	StartLine, EndLine int
	// Headings is the path of the headings above the chunk, empty if there is none.
	Headings string
	// Date (YYYY-MM-DD) of the file or entry, empty if it has none.
	Date string
	// Evergreen chunks do not decay: front matter says so, or the file is MEMORY.md or USER.md.
	Evergreen bool
	// Fence is the mark of the code fence in which the chunk begins, such as "```"; empty if it begins in none.
	Fence string
	// Closed reports that the chunk ends with its section: a heading follows, or the end of the file.
	Closed bool
	// Text of the chunk, whole lines.
	Text string
	// Vector is the stored unit vector; nil if there is none or it was not asked for.
	Vector []float32
	// Windows are the vectors of a few lines of Text each, in their order; nil if there are none or they were not asked for.
	Windows []embed.Window
}

// Index describes the index that a view reads.
type Index struct {
	// Space of the stored vectors; zero if there are none.
	Space embed.Space
	// Files and Chunks are the numbers of indexed files and chunks.
	Files, Chunks int
	// Embedded is the number of chunks with a vector.
	Embedded int
	// Languages are the languages of chunks beside English, in any order.
	Languages []analysis.Language
	// AvgTerms is the mean number of terms in a chunk; 0 for an empty index.
	AvgTerms float64
	// Generation grows with every committed change.
	Generation int64
}

// unembedded returns the number of chunks without a vector.
func (x Index) unembedded() int { return x.Chunks - x.Embedded }

// Neighbor is a chunk near a query vector.
type Neighbor struct {
	// ID of the chunk.
	ID int64
	// Cosine of its vector and the query vector, in [-1,1].
	Cosine float64
}

// Spread tells how the cosines of a query and the chunks of an index are distributed.
type Spread struct {
	// Mean is the mean cosine, and Deviation the standard deviation; both 0 without vectors.
	Mean, Deviation float64
}

// Store gives a search a consistent view of the index.
type Store interface {
	// View calls f with a reader of one snapshot; vectors reports whether Nearest will be called. The reader is valid until
	// f returns, and Match and Nearest may run at the same time. After an error, View may call f again with another snapshot.
	View(ctx context.Context, vectors bool, f func(Reader) error) error
}

// Reader reads one snapshot of an index.
type Reader interface {
	// Index describes the snapshot.
	Index() Index
	// DocFreq returns the number of chunks that contain each term; terms that occur nowhere are absent.
	DocFreq(ctx context.Context, terms []string) (map[string]int, error)
	// Longer returns at most limit terms that begin with a term, or end with it, with the number of chunks of each, the most frequent if there
	// are more.
	Longer(ctx context.Context, term string, end bool, limit int) (map[string]int, error)
	// Dated reports whether any chunk has a date (YYYY-MM-DD) between two days, both included.
	Dated(ctx context.Context, first, last string) (bool, error)
	// Lacking returns the number of indexed files that have no value for a field; for "date", those without any dated chunk.
	Lacking(ctx context.Context, field string) (int, error)
	// Match returns the ids of the best chunks with any term of t.Any, best first. Each counts by all terms that it
	// contains, precisely enough to choose candidates. Without terms, Match returns the chunks that the filter lets through,
	// newest first.
	Match(ctx context.Context, t Terms, f memory.Filter, limit int) ([]int64, error)
	// Nearest returns the k chunks nearest to a unit vector, nearest first. The spread is that of all chunks, whatever the
	// filter, or of a sample of some thousand if there are more.
	Nearest(ctx context.Context, vector []float32, f memory.Filter, k int) ([]Neighbor, Spread, error)
	// Chunks reads chunks by id, in any order, with or without their vectors and windows. Unknown ids are skipped.
	Chunks(ctx context.Context, ids []int64, vectors bool) ([]Chunk, error)
	// Origins returns whose words the lines of chunks are, by the id of the chunk, as far as they are not only the owner's.
	Origins(ctx context.Context, ids []int64) (map[int64][]memory.LineOrigin, error)
	// Verify returns an error if the text of one of these chunks is not the one that was indexed.
	Verify(ctx context.Context, ids []int64) error
}

// Embedder turns a query into a vector; *embed.Client is one.
type Embedder interface {
	// Enabled reports whether there is a provider.
	Enabled() bool
	// Class says how far the vectors can be trusted beside the words.
	Class() embed.Class
	// Space identifies the vectors.
	Space() embed.Space
	// Query returns the unit vector of a query.
	Query(ctx context.Context, text string) ([]float32, error)
}

package indexer

import (
	"context"
	"crypto/sha256"
	"iter"
	"time"

	"kioku/chunker"
	"kioku/embed"
)

// Hash is the sha256 of a file's bytes or of a chunk's text.
type Hash = [sha256.Size]byte

// Chunk is a chunk on its way into a store.
type Chunk struct {
	chunker.Chunk
	// Hash of Text.
	Hash Hash
	// Vector is a unit vector, nil where the text could not be embedded.
	Vector []float32
	// Terms are the words of the chunk as the store keeps them, nil where it has yet to analyse the chunk.
	Terms *Terms
}

// Terms are what an analysis made of a chunk.
type Terms struct {
	// Text is the words, separated by spaces, and Count how many they are.
	Text  string
	Count int
	// Date of the chunk (YYYY-MM-DD), empty where it has none.
	Date string
}

// File is what the index is to hold of one file from now on.
type File struct {
	// Path is relative to the workspace, with "/"; absolute for an extra path outside of it.
	Path    string
	Source  string
	SHA256  Hash
	ModTime time.Time
	Size    int64
	// Skipped says why the file is not indexed; then it has no chunks.
	Skipped string
	// Gone takes the file out of the index; then only Path counts.
	Gone bool
	// Date of the file (YYYY-MM-DD): front matter, else the prefix of the name; empty where there is none.
	Date   string
	Meta   chunker.Meta
	Chunks []Chunk
}

// Stored is what the index holds of one file.
type Stored struct {
	Source  string
	SHA256  Hash
	ModTime time.Time
	Size    int64
	Skipped string
	Chunks  int
	// Unembedded counts the chunks that have no vector in the index's own space.
	Unembedded int
}

// Store holds the index. Its only implementation outside of tests is in the root package.
type Store interface {
	// Files returns what the index holds, by path; where names are given, what it holds at or below these. The map stays
	// the store's: it is only read, and no longer than until the next call.
	Files(ctx context.Context, under ...string) (map[string]Stored, error)
	// CachedVectors returns the known vectors of texts by their hashes; unknown ones are absent. A space that does
	// not know its dimension yet stands for the index's own where they match.
	CachedVectors(ctx context.Context, space embed.Space, hashes []Hash) (map[Hash][]float32, error)
	// ReplaceFile puts files in the place of what the index held of them, all in one transaction, and keeps
	// their vectors in the cache. Vectors of another space than the index's go to the cache alone.
	ReplaceFile(ctx context.Context, space embed.Space, files ...File) error
}

// Rebuilder is a store that can be built anew.
type Rebuilder interface {
	// Stale says why the whole index must be built anew ("chunking changed", ...), empty if it need not.
	Stale(ctx context.Context, space embed.Space) (string, error)
	// CacheVectors keeps vectors that were paid for, before anything else is done with them.
	CacheVectors(ctx context.Context, space embed.Space, vectors map[Hash][]float32) error
	// ReplaceAll puts files in the place of the whole index in one transaction, with vectors of space. The old
	// index answers until it returns nil; if it returns an error, or files yields one, the old index stays.
	ReplaceAll(ctx context.Context, space embed.Space, files iter.Seq2[File, error]) error
}

// Embedder turns texts into vectors; *embed.Client is one.
type Embedder interface {
	Enabled() bool
	Space() embed.Space
	Documents(ctx context.Context, texts []string) ([]embed.Embedding, error)
	Health() embed.Health
}

// Event kinds.
const (
	SyncStarted     = "sync_started"
	FileIndexed     = "file_indexed"
	FileRemoved     = "file_removed"
	FileSkipped     = "file_skipped"
	SyncDone        = "sync_done"
	WatchMode       = "watch_mode"
	RootUnavailable = "root_unavailable"
	RootAvailable   = "root_available"
	SyncFailed      = "error"
)

// Event is something that happened to the index.
type Event struct {
	Kind   string
	Path   string
	Text   string
	Chunks int
	Time   time.Time
}

// Progress phases.
const (
	PhaseScan   = "scan"
	PhaseIndex  = "index"
	PhaseEmbed  = "embed"
	PhaseCommit = "commit"
)

// Progress is one step of a sync or rebuild. In PhaseEmbed the files done are those that have their vectors; where a
// sync wrote the words first, FilesDone begins anew then, and FilesTotal counts the files that lack vectors.
type Progress struct {
	Phase      string
	FilesDone  int
	FilesTotal int
	Chunks     int
	Embedded   int
	Skipped    int
	Path       string
}

// Report is the outcome of a sync or rebuild.
type Report struct {
	// Files and Chunks written, files removed, files skipped (all that are skipped now, not only the new ones).
	Files, Chunks, Removed, Skipped int
	// Embedded counts texts that a provider embedded, Cached those whose vectors were known.
	Embedded, Cached int
	// Read counts files whose content was read.
	Read int
	// Unavailable lists the roots that could not be read.
	Unavailable []string
	// EmbedErr is why texts are without vectors, nil where none are.
	EmbedErr error
	// Stale is why the index ought to be built anew, which this sync did not do; empty where it need not.
	Stale string
	// Bare counts unchanged files that SyncOptions.NoRebuild left without vectors.
	Bare int
	Took time.Duration
}

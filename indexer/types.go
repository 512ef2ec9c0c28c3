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
	// Terms are the words of the chunk as the store keeps them, nil if the store has yet to analyse the chunk.
	Terms *Terms
}

// Terms are what an analysis made of a chunk.
type Terms struct {
	// Text is the words, separated by spaces, and Count how many they are.
	Text  string
	Count int
	// Date of the chunk (YYYY-MM-DD), empty if it has none.
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
	// Date of the file (YYYY-MM-DD): front matter, else the prefix of the name; empty if there is none.
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
	// Skipped is why the file is not indexed, empty if it is.
	Skipped string
}

// Store is the index as a sync sees it. Package store implements it.
type Store interface {
	// Files returns what the index holds, by path; with names, what it holds at or below these. The map stays the
	// store's: it is only read, and no longer than until the next call.
	Files(ctx context.Context, under ...string) (map[string]Stored, error)
	// ReplaceFile puts files in the place of what the index held of them, all in one transaction. Chunks whose texts
	// have a known vector get it; ReplaceFile returns how many.
	ReplaceFile(ctx context.Context, files ...File) (known int, err error)
	// Stale says why all files must be cut again ("chunking changed ..."), empty if they need not.
	Stale(ctx context.Context) (string, error)
	// ReplaceAll puts files in the place of the whole index in one transaction, as ReplaceFile does. The old index
	// answers until ReplaceAll returns nil; if it returns an error, or files yields one, the old index stays.
	ReplaceAll(ctx context.Context, files iter.Seq2[File, error]) (known int, err error)
}

// Text is a text that has no vector yet.
type Text struct {
	Hash Hash
	Text string
}

// VectorStore is the index as a backfill sees it. Package store implements it.
type VectorStore interface {
	// AttachKnown gives the chunks that lack a vector of a space those that the cache holds, and returns how many.
	AttachKnown(ctx context.Context, space embed.Space) (int, error)
	// Backlog returns at most limit texts that lack a vector of a space, those of the newest files first, each once, and
	// how many chunks lack one.
	Backlog(ctx context.Context, space embed.Space, limit int) (texts []Text, chunks int, err error)
	// PutVectors stores unit vectors of a space by the hashes of their texts, and keeps in the cache those whose text is
	// not in the index any more. Vectors of another space leave the index for the cache first.
	PutVectors(ctx context.Context, space embed.Space, vectors map[Hash][]float32) error
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

// Progress is one step of a sync, of a rebuild, or of the backfill that follows (PhaseEmbed).
type Progress struct {
	Phase string
	// FilesDone of FilesTotal files are read and, in a sync, written.
	FilesDone, FilesTotal int
	// Chunks counts the chunks that were written.
	Chunks int
	// Embedded of EmbedTotal chunks got their vectors in this backfill.
	Embedded, EmbedTotal int
	Skipped              int
	Path                 string
}

// Report is the outcome of a sync or rebuild.
type Report struct {
	// Files and Chunks written, files removed, files skipped (all that are skipped now, not only the new ones).
	Files, Chunks, Removed, Skipped int
	// Known counts chunks that got a vector which the index had already.
	Known int
	// Read counts files whose content was read.
	Read int
	// Unavailable lists the roots that could not be read.
	Unavailable []string
	// Stale is why all files ought to be cut again, which this sync did not do; empty if they need not.
	Stale string
	Took  time.Duration
}

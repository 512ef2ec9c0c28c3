package indexer

import (
	"context"
	"crypto/sha256"
	"time"

	"kioku/chunker"
	"kioku/memory"
)

// Hash is the SHA-256 of a file's bytes or of the text of which a chunk gets its vector.
type Hash = [sha256.Size]byte

// Chunk is a chunk to be stored.
type Chunk struct {
	chunker.Chunk
	// Hash is the hash of [EmbeddedText]: of the names of the file and Text.
	Hash Hash
	// Terms are the analysed words of the chunk; nil if the store must analyse it.
	Terms *Terms
}

// Terms is the outcome of analysing a chunk.
type Terms struct {
	// Text is the words, separated by spaces.
	Text string
	// Count is the number of words.
	Count int
	// Words are the words as analysis.EncodeTerms writes them.
	Words []byte
	// Date is the day of the chunk (YYYY-MM-DD); empty if it has none.
	Date string
	// Language is the ISO 639-1 code of the language whose stems the words are; empty for those of English.
	Language string
}

// File is the new content of the index for one file.
type File struct {
	// Path is relative to the workspace, with "/"; it is absolute for an extra path outside of the workspace.
	Path string
	// Source is one of memory.Sources.
	Source string
	// SHA256 is the hash of the bytes; zero if they were not read.
	SHA256 Hash
	// ModTime is the modification time; zero if it is not known.
	ModTime time.Time
	// Stamp is that of [files.Stamp]; 0 if it is not known.
	Stamp int64
	// Size is the size in bytes; 0 if it is not known.
	Size int64
	// Skipped is why the file is not indexed; then it has no chunks. Empty if it is indexed.
	Skipped string
	// Gone removes the file from the index; then only Path is used.
	Gone bool
	// Date is the day of the file (YYYY-MM-DD) from its front matter or its name; empty if there is none.
	Date string
	// Title is that of the front matter, else the heading that stands for the file, else the words of the file name; empty if
	// there are none, as for a file that is named for a day.
	Title string
	// Names are what the file is called, a name a line: the words of the file name, the title, the aliases, and the tags of the
	// front matter with a # before each. They stand for the file in each of its chunks. Empty for a file without names: one
	// that is only named for a day, MEMORY.md, or a transcript. At most 1 KiB.
	Names string
	// Folders are the words of the folders of the file, a folder a line, outermost first; empty if the file has no Names.
	Folders string
	// Tags are those of the front matter and of the text, without the #; nil if there are none.
	Tags []string
	// Origins are whose words the lines are that are not only the owner's, in the order of the lines; nil if there are none.
	Origins []memory.LineOrigin
	// Links are the links of the text to other notes; nil if there are none. Their targets are relative to the workspace.
	Links []chunker.Link
	// Meta is the front matter; zero if there is none.
	Meta chunker.Meta
	// Remark says what of the file could not be read: another encoding than UTF-8, a slip in its front matter, the lines of a transcript that
	// were not understood, or all of a template.
	// Empty if all was read.
	Remark string
	// Chunks are in the order of the text; empty for a file without text.
	Chunks []Chunk
}

// Stored is what the index contains of one file, without its chunks.
type Stored struct {
	// Source is one of memory.Sources.
	Source string
	// SHA256 is the hash of the bytes that were indexed; zero if they were not read.
	SHA256 Hash
	// ModTime is the modification time when the file was read; zero if it was not known.
	ModTime time.Time
	// Stamp is that of [files.Stamp] when the file was read; 0 if it was not known.
	Stamp int64
	// Size in bytes when the file was read; 0 if it was not known.
	Size int64
	// Date is the day of the file; empty if it has none.
	Date string
	// Skipped is why the file has no chunks; empty if it is indexed.
	Skipped string
}

// Store is the index as a sync sees it. Package store implements it.
type Store interface {
	// Files returns the files of the index by path. With names, it returns only the files at or below these. The caller must
	// not change the map, and may read it until the next call of the store.
	Files(ctx context.Context, under ...string) (map[string]Stored, error)
	// ReplaceFile replaces files in one transaction. Chunks whose texts have a cached vector get it; known counts them.
	ReplaceFile(ctx context.Context, files ...File) (known int, err error)
	// Stale returns why all files must be split again ("chunking changed ..."); empty if they need not.
	Stale(ctx context.Context) (string, error)
	// SetCut records that all files are split as the splitter does it now: the index is not stale any more.
	SetCut(ctx context.Context) error
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
	// SpaceChanged means that searches use the vectors of another embedding model from now on.
	SpaceChanged = "space_changed"
	// Embedding is sent now and then while texts are embedded for long, and EmbedDone after some were.
	Embedding = "embedding"
	EmbedDone = "embed_done"
)

// Event is something that happened to the index.
type Event struct {
	// Kind is one of the event kinds.
	Kind string `json:"kind"`
	// Path is the file or root; empty if the event is about the whole index.
	Path string `json:"path,omitempty"`
	// Text is a reason, an error, a summary or the new watch mode; empty if there is nothing to add.
	Text string `json:"text,omitempty"`
	// Chunks counts the chunks that were written, or got a vector in this run of the backfill.
	Chunks int `json:"chunks,omitempty"`
	// Modified is the modification time of a file that was indexed, and zero for other events.
	Modified time.Time `json:"modified,omitzero"`
	// Full reports that a sync that started or is done looks at all files.
	Full bool `json:"full,omitempty"`
	// Time is when it happened.
	Time time.Time `json:"time,omitzero"`
}

// Progress phases.
const (
	PhaseScan   = "scan"
	PhaseIndex  = "index"
	PhaseEmbed  = "embed"
	PhaseCommit = "commit"
)

// Progress is one step of a sync, of a rebuild, or of the backfill after it (PhaseEmbed).
type Progress struct {
	// Phase is one of the progress phases.
	Phase string `json:"phase"`
	// FilesDone and FilesTotal count files that are done, and all files that must be read.
	FilesDone  int `json:"files_done"`
	FilesTotal int `json:"files_total"`
	// Chunks counts the chunks that were written.
	Chunks int `json:"chunks"`
	// Embedded and EmbedTotal count texts that the provider embedded in this backfill, and all that it is to embed.
	Embedded   int `json:"embedded,omitempty"`
	EmbedTotal int `json:"embed_total,omitempty"`
	// Skipped counts files that cannot be indexed.
	Skipped int `json:"skipped,omitempty"`
	// Path is the file that is done; empty if the step is about no single file.
	Path string `json:"path,omitempty"`
}

// Report is the outcome of a sync or a rebuild.
type Report struct {
	// Files and Chunks count what was written.
	Files  int `json:"files"`
	Chunks int `json:"chunks"`
	// Removed counts files that were removed from the index.
	Removed int `json:"removed"`
	// Skipped counts all files that the index lists with a reason, not only the new ones.
	Skipped int `json:"skipped"`
	// Known counts chunks that got a cached vector.
	Known int `json:"known"`
	// Read counts files whose content was read.
	Read int `json:"read"`
	// Unread counts files that could not be read, for a reason that may pass. The index keeps what it has of them.
	Unread int `json:"unread"`
	// UnreadErr is the first of these reasons; nil if all files were read.
	UnreadErr error `json:"-"`
	// Unavailable lists the roots that could not be read; empty if all could.
	Unavailable []string `json:"unavailable,omitempty"`
	// Stale is why the index must be rebuilt, which this sync did not do; empty if it need not.
	Stale string `json:"stale,omitempty"`
	// Took is the duration.
	Took time.Duration `json:"took"`
}

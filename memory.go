package kioku

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
	"kioku/search"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrLocked: another process owns the index; the message names it.
	ErrLocked = errors.New("index is in use")
	// ErrNewerSchema: a newer Kioku wrote the index.
	ErrNewerSchema = errors.New("index was written by a newer kioku")
	// ErrForeignFile: the file at the index's place is a database of another program.
	ErrForeignFile = errors.New("not a kioku index")
	// ErrNotFound: no such memory file, or none that may be read; which of the two is not told.
	ErrNotFound = errors.New("no such memory file")
	// ErrReadOnly: the memory was opened without the right to write.
	ErrReadOnly = errors.New("memory is open read-only")
	// ErrClosed: the memory was closed.
	ErrClosed = errors.New("memory is closed")
)

// Options says which memory to open and how.
type Options struct {
	// Agent is the id of the agent: [a-z0-9][a-z0-9_-]{0,63}. Empty means "main".
	Agent string
	// Workspace is the folder with MEMORY.md and memory/.
	Workspace string
	// State is the folder that holds memory/<agent>.sqlite. It is made, 0700, where it is missing.
	State string
	// ReadOnly opens an index that another process may own: searches and reads work, nothing is brought up to date.
	ReadOnly bool

	Chunking chunker.Options
	// Embedder turns text into vectors; nil means keywords alone. It may be shared by several memories.
	Embedder *embed.Client
	Index    indexer.Options
	Search   search.Options
	// CacheEntries bounds the embedding cache, beyond the texts that are indexed now; 0 means 50,000.
	CacheEntries int
	// Location decides what "today" is for Append; nil means time.Local.
	Location *time.Location

	// Now is the clock, nil means time.Now.
	Now func() time.Time
	// Log receives what no caller can be told; nil discards it.
	Log *slog.Logger
}

// IndexState is how far the index is.
type IndexState struct {
	// Generation is bumped by every committed change.
	Generation   int64
	Files        int
	Chunks       int
	PendingFiles int
	// LastSync is the end of the last complete sync, zero where there was none.
	LastSync time.Time
}

// Answer is what Search returns.
type Answer struct {
	search.Answer
	State IndexState
	Took  time.Duration
}

// GetRequest asks for lines of a memory file.
type GetRequest struct {
	Path string
	// From is the first line, 0 means 1; Lines how many, 0 means 120.
	From, Lines int
}

// Excerpt is a run of lines of a file.
type Excerpt struct {
	Path string
	// Text is whole lines, at most 12,000 characters; empty beyond the end of the file.
	Text string
	// From is the first line of Text and Lines how many there are.
	From, Lines int
	TotalLines  int
	// Truncated says that fewer lines came than were asked for although the file has more.
	Truncated bool
	// NextFrom is the line to go on from, 0 at the end of the file.
	NextFrom int
}

// Targets of a note.
const (
	TargetDaily    = "daily"
	TargetLongTerm = "long_term"
)

// Note is text to remember.
type Note struct {
	Text string
	// Target is TargetDaily (also when empty) or TargetLongTerm.
	Target string
	// Category heads the section of a daily note; empty means "note".
	Category string
	// Key makes the call idempotent: a second note with the same key is not written.
	Key string
}

// Appended says where a note is.
type Appended struct {
	Path      string
	StartLine int
	// Deduplicated says that the same text or key was there before, and nothing was written.
	Deduplicated bool
}

// SyncOptions changes what a sync does.
type SyncOptions = indexer.SyncOptions

// Status describes a memory for people.
type Status struct {
	Agent     string
	Workspace string
	Database  string
	State     IndexState
	Skipped   []SkippedFile
	// WatchMode is "inotify", "polling" or "off"; WatchNote says why it is not "inotify".
	WatchMode, WatchNote string
	Space                embed.Space
	Health               embed.Health
	DatabaseBytes        int64
	WALBytes             int64
	Embedded             int
	Cached               int
	Degraded             []search.Degradation
	Unavailable          []string
	Syncing              bool
}

// SkippedFile is a file that is not indexed, and why.
type SkippedFile struct {
	Path, Reason string
}

// Event is something that happened to the index.
type Event struct {
	indexer.Event
	Generation int64
}

// Memory is one agent's memory: its folder and the index of it. Its methods may be called concurrently.
type Memory struct {
}

// Open opens the memory of an agent and takes its index for this process. It does not sync; call Sync or Watch.
//
// A damaged index is set aside as *.corrupt-<time> and made anew; one of an older schema is emptied but for its
// embedding cache. It returns ErrLocked where another process owns the index, ErrNewerSchema and ErrForeignFile
// where the file must not be touched.
func Open(ctx context.Context, opt Options) (*Memory, error) { panic("not built") }

// Agent returns the agent's id.
func (m *Memory) Agent() string { panic("not built") }

// Workspace returns the folder, absolute and with symbolic links resolved.
func (m *Memory) Workspace() string { panic("not built") }

// Search answers a query; see search.Searcher.Search for the ranking. Where the index is empty it syncs first, for
// at most 2 s; where files are known to have changed it starts a sync and does not wait for it.
func (m *Memory) Search(ctx context.Context, q search.Query) (Answer, error) { panic("not built") }

// Explain says what became of the passage at a line of a file.
func (m *Memory) Explain(ctx context.Context, q search.Query, path string, line int) (search.Explanation, error) {
	panic("not built")
}

// State returns how far the index is.
func (m *Memory) State(ctx context.Context) (IndexState, error) { panic("not built") }

// Get returns lines of a file that the index may hold. It returns a *search.InputError for a path that could never
// be one, and ErrNotFound for one that is missing or lies outside of the memory.
func (m *Memory) Get(ctx context.Context, req GetRequest) (Excerpt, error) { panic("not built") }

// Append writes a note at the end of today's file or of MEMORY.md, whole or not at all, and fsyncs it.
func (m *Memory) Append(ctx context.Context, note Note) (Appended, error) { panic("not built") }

// Sync brings the index in step with the folder. step, where it is not nil, is told of the progress.
func (m *Memory) Sync(ctx context.Context, opt SyncOptions, step func(indexer.Progress)) (indexer.Report, error) {
	panic("not built")
}

// Rebuild makes the whole index anew while the old one answers.
func (m *Memory) Rebuild(ctx context.Context, step func(indexer.Progress)) (indexer.Report, error) {
	panic("not built")
}

// Watch syncs and then keeps the index in step with the folder until ctx is done.
func (m *Memory) Watch(ctx context.Context) error { panic("not built") }

// Status describes the memory.
func (m *Memory) Status(ctx context.Context) (Status, error) { panic("not built") }

// Subscribe returns the events from now on until ctx is done; then the channel is closed. A subscriber that does
// not keep up loses events, never holds up the indexer.
func (m *Memory) Subscribe(ctx context.Context) <-chan Event { panic("not built") }

// Close gives the index back. Running calls end first.
func (m *Memory) Close() error { panic("not built") }

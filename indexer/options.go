package indexer

import (
	"log/slog"
	"time"
)

// DefaultMaxFileBytes is the size above which a file is skipped where Options do not say.
const DefaultMaxFileBytes = 10 << 20

// Options says what to index and when. Zero values mean the defaults.
type Options struct {
	// Workspace is the folder with MEMORY.md, USER.md and memory/.
	Workspace string
	// ExtraPaths are further files or folders, absolute or relative to the workspace; folders are walked for .md.
	// The last element may be a glob.
	ExtraPaths []string
	// Sessions are transcripts of conversations; the zero value indexes none.
	Sessions Sessions
	// MaxFileBytes is the size above which a file is skipped; 0 means 10 MiB.
	MaxFileBytes int64
	// Debounce is how long a file must rest before it is indexed; 0 means 1500 ms.
	Debounce time.Duration
	// MaxWait is the longest that a file which never rests waits; 0 means 10 s.
	MaxWait time.Duration
	// Interval between full scans while watching; 0 means 5 min.
	Interval time.Duration
	// PollInterval between scans where the system has no more watches to give; 0 means 5 s.
	PollInterval time.Duration
	// Hide takes out of a file's text what is neither to be found nor shown, before the text is cut; lines keep their numbers.
	// It is called from several goroutines at once. Nil takes out nothing.
	Hide func(src []byte) []byte
	// Analyze is called with each file that was cut, before anything is written, from several goroutines at once; it may fill
	// in the Terms of the chunks. Nil does nothing.
	Analyze func(*File)
	// Notify is told of every event; it must not block. Nil means nobody.
	Notify func(Event)
	// Watcher makes the source of file events; nil means fsnotify.
	Watcher func() (Watcher, error)
	// Now is the clock, nil means time.Now.
	Now func() time.Time
	// Log receives what no caller can be told; nil discards it.
	Log *slog.Logger
}

// SyncOptions changes what a sync does.
type SyncOptions struct {
	// Verify reads and hashes every file, also where its size and time are unchanged.
	Verify bool
	// Prune forgets the files of roots that cannot be read.
	Prune bool
	// NoRebuild leaves an index that ought to be built anew as it is (State.Stale says why), as a query wants it. Changed files
	// are indexed as ever.
	NoRebuild bool
	// Patient leaves transcripts that have grown by less than Sessions says as the index holds them. The first full sync of an
	// Indexer never does.
	Patient bool
}

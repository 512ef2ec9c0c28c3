package indexer

import (
	"log/slog"
	"time"

	"kioku/memory"
)

// DefaultMaxFileBytes is the default of Options.MaxFileBytes.
const DefaultMaxFileBytes = 10 << 20

// Settings says what is indexed beside the workspace, and when. Zero values mean the defaults.
type Settings struct {
	// ExtraPaths are more files or folders, absolute or relative to the workspace. A folder contributes the .md files in and
	// below it. The last element may be a glob. Empty means none.
	ExtraPaths []string
	// Include are globs of Markdown files that are indexed beside MEMORY.md, USER.md and memory/, relative to the workspace. "**"
	// matches any folders, and a glob that matches a folder includes all below it. .gitignore applies. Empty
	// means those of its .kioku.yaml; without these, none in a workspace with MEMORY.md or memory/, and [WholeFolder] in others.
	Include []string
	// Exclude are globs of paths of the index that are not indexed, whatever else includes them. A glob that matches a folder
	// excludes all below it. Empty excludes nothing.
	Exclude []string
	// Left are folders of the workspace of which no glob of Include includes a file, relative to it. Empty means none.
	Left []string
	// Sessions are transcripts of conversations, the agent's own and those of other programs; the zero value indexes none.
	Sessions Sessions
	// MaxFileBytes is the maximum size of a file in bytes; larger files are skipped. 0 means 10 MiB.
	MaxFileBytes int64
	// Debounce is how long a file must stay unchanged before it is indexed; 0 means 1.5 s.
	Debounce time.Duration
	// MaxWait is how long a file that keeps changing waits at most; 0 means 10 s.
	MaxWait time.Duration
	// Interval is the time between full scans while watching; 0 means 5 min.
	Interval time.Duration
	// PollInterval is the time between scans if the system has no file watches left; 0 means 5 s.
	PollInterval time.Duration
}

// Options says what to index, and with what.
type Options struct {
	Settings
	// Workspace is the folder of Markdown. It is required.
	Workspace string
	// StateDir is the folder of the index. If it is in the workspace, no pattern includes a file of it. Empty if unknown.
	StateDir string
	// Origins returns whose words the lines of a file are, for File.Origins, from its bytes with the markers. It is called
	// concurrently. Nil means that all are the owner's.
	Origins func(src []byte) []memory.LineOrigin
	// Analyze is called with each file that was split, before the file is written. It may set the Terms of the chunks. It is
	// called concurrently. Nil does nothing.
	Analyze func(*File)
	// Notify is called with every event and must not block; nil ignores events.
	Notify func(Event)
	// Watcher returns a source of file events; nil means fsnotify.
	Watcher func() (Watcher, error)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log gets messages that no caller can get; nil discards them.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	setDefault := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	setDefault(&o.Debounce, 1500*time.Millisecond)
	setDefault(&o.MaxWait, 10*time.Second)
	setDefault(&o.Interval, 5*time.Minute)
	setDefault(&o.PollInterval, 5*time.Second)
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	o.Sessions = o.Sessions.withDefaults()
	if o.Watcher == nil {
		o.Watcher = newFSWatcher
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// SyncOptions changes what a sync does. The zero value indexes what has changed and rebuilds a stale index.
type SyncOptions struct {
	// Verify reads and hashes every file, even if its size and time are unchanged.
	Verify bool `json:"verify,omitempty"`
	// Prune removes the files of roots that cannot be read.
	Prune bool `json:"prune,omitempty"`
	// NoRebuild does not rebuild a stale index (SyncState.Stale says why it is stale). Changed files are indexed as usual.
	NoRebuild bool `json:"no_rebuild,omitempty"`
	// DeferSessions skips transcripts that have grown by less than Sessions says. The first full sync of an Indexer ignores it.
	DeferSessions bool `json:"-"`
}

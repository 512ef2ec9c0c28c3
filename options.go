package kioku

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
	"kioku/internal/files"
	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
)

// Options says which memory to open and how. Workspace and StateDir are required.
type Options struct {
	// Agent is the id of the agent: [a-z0-9][a-z0-9_-]{0,63}. Empty means "main".
	Agent string
	// Workspace is the folder of notes. If it has neither MEMORY.md nor memory/, all Markdown in it is indexed.
	Workspace string
	// StateDir is the folder that contains memory/<agent>.sqlite. It is made, 0700, if it is missing.
	StateDir string
	// Mode is what the memory may do; the zero value is Own.
	Mode Mode
	// LockWait is how long Open waits for another process that owns the index, unless that is a daemon; 0 means not at all.
	LockWait time.Duration
	// Daemon marks this process as one that keeps the index until it is stopped, so that nobody waits for it.
	Daemon bool
	// Socket is the unix socket on which a daemon answers, for those who find the index in use; it may be empty.
	Socket string

	// Chunking is how notes are cut; the zero value means 400 tokens with an overlap of 80.
	Chunking chunker.Options
	// Embedder turns text into vectors; nil means keywords only. It may be shared by several memories. No memory closes it:
	// its owner may, once all memories that use it are closed.
	Embedder *embed.Client
	// Index is what is indexed and when.
	Index IndexOptions
	// History is what is kept of the versions of notes.
	History HistoryOptions
	// Episodes cuts an old version of a file into the episodes that say how sensitive its lines are; nil means that derivation is off. It is called
	// concurrently.
	Episodes func(memory.SourceFile) []memory.Episode
	// Search is the ranking; each field that is not set has its default.
	Search search.Options
	// CacheEntries bounds the vectors of the embedding cache, beyond those of texts that are indexed now; 0 means 250,000.
	CacheEntries int
	// Vectors bounds the vectors and words that searches keep in RAM. It may be shared by several memories; nil means
	// slab.DefaultBudget for this one. What does not fit is searched on disk.
	Vectors *slab.Budget
	// Location decides what "today" is for Append; nil means time.Local.
	Location *time.Location

	// Now is the clock, nil means time.Now.
	Now func() time.Time
	// Log receives what no caller can be told; nil discards it.
	Log *slog.Logger
}

// Mode is what a memory may do to its index and its folder.
type Mode int

const (
	// Own takes the index for this process, which keeps it in step with the folder.
	Own Mode = iota
	// ReadIndex only reads the index, which another process may own. It may add notes, and the owner indexes them.
	ReadIndex
	// ReadOnly reads the index and writes nothing.
	ReadOnly
)

// IndexOptions says what is indexed beside the workspace, and when.
type IndexOptions = indexer.Settings

// HistoryOptions say what Kioku keeps of the versions of notes itself. What git has of them is read in any case.
type HistoryOptions struct {
	// Journal records the texts of the notes in the state folder whenever a sync has found that they have changed.
	Journal bool
	// MaxBytes is the size of the journal above which its oldest versions are removed; 0 means history.DefaultJournalBytes.
	MaxBytes int64
	// MaxAge is the age above which they are removed; 0 means never.
	MaxAge time.Duration
}

// defaultAgent is the agent if none is named.
const defaultAgent = "main"

// agentID is what an agent may be called: safe as a file name and in every protocol.
var agentID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// CheckAgent returns a *memory.InputError if id is not a valid id of an agent.
func CheckAgent(id string) error {
	if agentID.MatchString(id) {
		return nil
	}
	return &memory.InputError{Field: "agent",
		Problem: "must be 1 to 64 of a-z, 0-9, '_' and '-', beginning with a letter or digit"}
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	o.Agent = cmp.Or(o.Agent, defaultAgent)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Location = cmp.Or(o.Location, time.Local)
	o.CacheEntries = cmp.Or(o.CacheEntries, 250_000)
	o.Vectors = cmp.Or(o.Vectors, slab.NewBudget(slab.DefaultBudget))
	if o.Index.MaxFileBytes <= 0 {
		o.Index.MaxFileBytes = indexer.DefaultMaxFileBytes
	}
	o.Index.MaxFileBytes = min(o.Index.MaxFileBytes, 1<<40)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// resolveWorkspace returns a folder without symbolic links, so that a folder with two names is one workspace.
func resolveWorkspace(dir string) (string, error) {
	if dir == "" {
		return "", &memory.InputError{Field: "workspace", Problem: "must name the folder with MEMORY.md and memory/"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w; make it with kioku init, or name another with --workspace", dir, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", dir, err)
	}
	if !info.IsDir() {
		return "", &memory.InputError{Field: "workspace", Problem: dir + " is a file; name the folder that holds MEMORY.md"}
	}
	return real, nil
}

// DefaultState returns the state folder of this user, that of the command kioku if it is not told another: kioku in
// $XDG_STATE_HOME or ~/.local/state. The error says that there is neither.
func DefaultState() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "kioku"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no folder for the index: name one, or set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(home, ".local", "state", "kioku"), nil
}

// StateOf returns the folder below a state folder that contains an agent's index and sessions, for Options.StateDir. Of an agent
// with a name of its own that is the state folder. Agent main has one for each workspace, <state>/folders/<name>-<hash>, so that
// workspaces need no names.
//
// Earlier versions kept the index of agent main in the state folder itself. The workspace that it was made from keeps it there: a
// link in folders/ says so, which StateOf makes.
func StateOf(ctx context.Context, state, agent, workspace string) string {
	if agent != defaultAgent || workspace == "" {
		return state
	}
	own := filepath.Join(state, "folders", FolderKey(workspace))
	if real, err := filepath.EvalSymlinks(own); err == nil && files.SameFolder(real, state) {
		return state
	} else if err == nil {
		return own
	}
	before, err := IndexedWorkspace(ctx, state, agent)
	if err != nil || before == "" || !files.SameFolder(before, workspace) {
		return own // an index that cannot be read is nobody's
	}
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err == nil {
		_ = os.Symlink("..", own) // without the link, the index is looked at again next time
	}
	return state
}

// FolderKey returns the name that a workspace has in the state folder: its own, and a hash of its path.
func FolderKey(workspace string) string {
	path := workspace
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, filepath.Base(path))
	name = strings.Trim(name[:min(len(name), 32)], "-")
	if name == "" {
		name = "folder"
	}
	return fmt.Sprintf("%s-%.4x", name, sha256.Sum256([]byte(path)))
}

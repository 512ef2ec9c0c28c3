// Package kioku is the memory of AI agents: one folder of Markdown and one SQLite index of it for each agent.
//
// [Open] returns a [Memory], which searches, reads, appends, and keeps its index in step with the folder.
// The Markdown is the truth and is only ever appended to, by [Memory.Append]; the index is a cache that can be
// rebuilt at any time, except for embeddings that were paid for, which survive every rebuild.
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
	"sync"
	"sync/atomic"
	"time"

	"kioku/store/slab"

	"kioku/atlas"
	"kioku/chunker"
	derived "kioku/derive/store"
	"kioku/embed"
	"kioku/history"
	"kioku/indexer"
	"kioku/internal/files"
	"kioku/memory"
	"kioku/note"
	"kioku/search"
	"kioku/store"
	"kioku/vectors"
)

// Memory is one agent's memory: its folder and the index of it. Its methods may be called concurrently.
type Memory struct {
	opt       Options
	workspace string
	log       *slog.Logger
	lock      *os.File // nil unless the mode is Own
	store     *store.Store
	indexer   *indexer.Indexer
	cache     *vectors.Cache // of embeddings
	derived   *derived.Store // what is derived, in a file of its own
	fill      *vectors.Fill  // of opt.Embedder
	spaces    *spaces
	searcher  atomic.Pointer[search.Searcher]
	// ranking are the search settings of the searcher.
	ranking   atomic.Pointer[search.Options]
	atlas     *atlas.Atlas
	notes     *note.Folder
	past      *history.Past
	events    events
	lastCheck atomic.Pointer[IndexCheck]
	skipped   skippedNotes
	work      work
}

// work is what a memory is doing.
type work struct {
	calls   sync.WaitGroup
	closing chan struct{} // closed when Close begins
	// synced has room for one notice to Watch that a sync has ended, or that the vectors of the index are whole.
	synced chan struct{}
	// embeds contains a token for the call that embeds in the background, and one for a call that waits for its end.
	embeds chan struct{}

	mu     sync.Mutex // guards the fields below
	closed bool       // no call may begin any more
	// catchUp is closed when the words of the sync in the background are indexed; nil while none runs.
	catchUp chan struct{}
	// Numbers of notes that this memory has written: all, those before the full sync that is under way, and those that a full sync has
	// seen. Each is at most the one before.
	written, syncing, seen int
}

// markersVersion is part of the fingerprint of an index. It changes whenever text.StripMarks removes something else.
const markersVersion = ", marks v3"

// Open opens the memory of an agent and takes its index for this process. It does not sync; call Sync or Watch.
//
// An index that is damaged, of an older schema or of another workspace is replaced by an empty one, which the next sync fills; what was
// paid for is in other files. So is one whose damage is noticed later: then a sync in the background fills the new one. Open returns a *LockedError if another process owns the index and
// does not give it up within opt.LockWait, and memory.ErrNewerSchema or memory.ErrForeignFile if the file must not be changed.
// In the mode ReadOnly it takes no lock and changes nothing.
func Open(ctx context.Context, opt Options) (*Memory, error) {
	opt = opt.withDefaults()
	if err := CheckAgent(opt.Agent); err != nil {
		return nil, err
	}
	if opt.StateDir == "" {
		return nil, &memory.InputError{Field: "state", Problem: "must name a folder for the index"}
	}
	if err := indexer.CheckPaths(opt.Index.ExtraPaths); err != nil {
		return nil, err
	}
	if err := indexer.CheckGlobs(opt.Index.Include, opt.Index.Exclude); err != nil {
		return nil, err
	}
	workspace, err := resolveWorkspace(opt.Workspace)
	if err != nil {
		return nil, err
	}
	splitter, err := chunker.New(opt.Chunking)
	if err != nil {
		return nil, err
	}
	if opt.Embedder == nil {
		if opt.Embedder, err = embed.New(embed.Config{Provider: "none"}); err != nil {
			return nil, err
		}
	}
	m := &Memory{opt: opt, workspace: workspace, log: opt.Log.With("agent", opt.Agent),
		work: work{closing: make(chan struct{}), synced: make(chan struct{}, 1), embeds: make(chan struct{}, 2)}}
	m.events.closing = m.work.closing
	m.notes = m.newNotes()
	m.past = m.newPast()
	m.spaces = newSpaces(m)
	if err := m.openStore(ctx, splitter.Fingerprint()+markersVersion); err != nil {
		return nil, err
	}
	m.indexer = indexer.New(splitter, m.store, indexer.Options{Workspace: workspace, StateDir: opt.StateDir, Settings: opt.Index,
		Origins: note.Origins, Analyze: m.store.Analyze, Notify: m.notify, Now: opt.Now, Log: m.log})
	m.fill = vectors.NewFill(m.cache, m.spaces, opt.Embedder, opt.Now, m.log)
	m.fill.Notify = m.notifyFill
	m.atlas = atlas.New(atlas.Options{Read: m.store.ReadMap, Now: opt.Now, Log: m.log, Begin: m.inBackground})
	m.rankBy(opt.Search)
	return m, nil
}

// openStore takes the lock and opens the index.
func (m *Memory) openStore(ctx context.Context, chunking string) (err error) {
	path := store.Path(m.opt.StateDir, m.opt.Agent)
	if m.opt.Mode == Own {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("make state folder: %w", err)
		}
		if err := m.takeLock(ctx, lockPath(path)); err != nil {
			return err
		}
	}
	m.cache, err = vectors.Open(ctx, vectors.Path(m.opt.StateDir, m.opt.Agent), vectors.Options{Entries: m.opt.CacheEntries,
		ReadOnly: m.opt.Mode != Own, Now: m.opt.Now, Log: m.log})
	if err != nil {
		return m.unlock(err)
	}
	m.derived = derived.New(derived.Path(m.opt.StateDir, m.opt.Agent), path, derived.Options{ReadOnly: m.opt.Mode != Own, Now: m.opt.Now, Log: m.log,
		Forgotten: func(text string) bool { id, _ := m.notes.Forgotten().SaysAny(text); return id != "" }})
	m.store, err = store.Open(ctx, path, store.Options{Workspace: m.workspace, Chunking: chunking, ReadOnly: m.opt.Mode != Own,
		Cache: m.cache, Vectors: m.opt.Vectors, Now: m.opt.Now, Log: m.log, Recipe: m.spaces.recipeOf,
		Adopt: m.derived.Adopt, Replaced: func() { m.catchUp(context.Background()) }})
	if err != nil {
		return m.unlock(errors.Join(err, m.cache.Close()))
	}
	return nil
}

// unlock gives the index up after an error of opening, which it returns.
func (m *Memory) unlock(err error) error {
	if m.lock == nil {
		return err
	}
	return errors.Join(err, files.Unlock(m.lock))
}

// Configure puts new search settings in the place of those the memory was opened with. Searches under way keep theirs,
// and the re-ranker stays unless opt has another. A person
// who has changed settings may have mended the embedding provider, so that it is asked again.
func (m *Memory) Configure(opt search.Options) {
	m.rankBy(opt)
	m.opt.Embedder.AllowProbe()
	m.fill.Wake()
}

// rankBy makes the searcher of search settings; what only the memory knows is filled in.
func (m *Memory) rankBy(opt search.Options) {
	m.ranking.Store(&opt)
	if opt.Now == nil {
		opt.Now = m.opt.Now
	}
	if opt.Admit == nil {
		opt.Admit = m.opt.Search.Admit
	}
	if opt.Reranker == nil {
		opt.Reranker = m.opt.Search.Reranker
	}
	opt.Active = m.spaces.active
	m.searcher.Store(search.New(m.store, m.opt.Embedder, opt))
}

// indexChanged has Watch do what follows a sync.
func (m *Memory) indexChanged() {
	select {
	case m.work.synced <- struct{}{}:
	default:
	}
}

// Agent returns the agent's id.
func (m *Memory) Agent() string { return m.opt.Agent }

// Workspace returns the folder, absolute and with symbolic links resolved.
func (m *Memory) Workspace() string { return m.workspace }

// enter begins a call; it returns memory.ErrClosed once Close has begun.
func (m *Memory) enter() error {
	m.work.mu.Lock()
	defer m.work.mu.Unlock()
	if m.work.closed {
		return memory.ErrClosed
	}
	m.work.calls.Add(1)
	return nil
}

// leave ends a call.
func (m *Memory) leave() { m.work.calls.Done() }

// enterToWrite begins a call that changes the index.
func (m *Memory) enterToWrite() error {
	if err := m.enter(); err != nil {
		return err
	}
	if m.opt.Mode != Own {
		m.leave()
		return memory.ErrReadOnly
	}
	return nil
}

// inCall runs f within a call.
func inCall[T any](m *Memory, f func() (T, error)) (T, error) {
	if err := m.enter(); err != nil {
		var none T
		return none, err
	}
	defer m.leave()
	return f()
}

// inBackground runs f, which may outlive the call that is under way, but not the memory.
func (m *Memory) inBackground(ctx context.Context, f func(context.Context)) {
	m.work.calls.Add(1) // within a call, so Close still waits
	ctx, cancel := m.untilClose(context.WithoutCancel(ctx))
	go func() {
		defer m.leave()
		defer cancel()
		f(ctx)
	}()
}

// untilClose returns a context that ends with ctx and when Close begins.
func (m *Memory) untilClose(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-m.work.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// notifyFill passes on how far the backfill is.
func (m *Memory) notifyFill(s vectors.State, ended bool) {
	ev := indexer.Event{Kind: indexer.Embedding, Text: s.String(), Chunks: s.Embedded, Time: m.opt.Now()}
	if ended {
		ev.Kind, ev.Text = indexer.EmbedDone, fmt.Sprintf("%d of %d texts", s.Embedded, s.Total)
	}
	m.events.publish(Event{Event: ev, Generation: m.store.Generation()})
}

// notify passes on an event of the indexer.
func (m *Memory) notify(ev indexer.Event) {
	m.work.mu.Lock()
	switch {
	case ev.Full && ev.Kind == indexer.SyncStarted:
		m.work.syncing = m.work.written
	case ev.Full && ev.Kind == indexer.SyncDone:
		m.work.seen = m.work.syncing
	}
	m.work.mu.Unlock()
	if ev.Kind == indexer.SyncDone {
		m.fill.Wake() // not by Subscribe, which may drop events
		m.indexChanged()
	}
	m.events.publish(Event{Event: ev, Generation: m.store.Generation()})
}

// Subscribe returns the events from now on until ctx is done or the memory is closed; then the channel is closed. It never
// blocks the indexer: for a subscriber that does not keep up, the last event is EventsLost, and the channel is closed.
func (m *Memory) Subscribe(ctx context.Context) <-chan Event { return m.events.subscribe(ctx) }

// Close stops syncs and watches, waits for running calls and closes the index. A second Close does nothing.
func (m *Memory) Close() error {
	m.work.mu.Lock()
	if m.work.closed {
		m.work.mu.Unlock()
		return nil
	}
	m.work.closed = true
	close(m.work.closing)
	m.work.mu.Unlock()
	m.work.calls.Wait()
	return m.unlock(errors.Join(m.spaces.close(), m.derived.Close(), m.store.Close(), m.cache.Close()))
}

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
	// GivenVectors has only queries embedded: vectors of notes come by PutVectorRows, and whoever writes notes calls SyncPaths.
	GivenVectors bool
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
	// ReadOnly reads the index, which another process may own, and writes nothing.
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

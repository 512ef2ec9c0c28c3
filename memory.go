package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"kioku/atlas"
	"kioku/chunker"
	derived "kioku/derive/store"
	"kioku/embed"
	"kioku/history"
	"kioku/indexer"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/note"
	"kioku/search"
	"kioku/store"
	"kioku/store/slab"
	"kioku/vectors"
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
type IndexOptions struct {
	// ExtraPaths are further files or folders, absolute or relative to the workspace; folders are walked for .md. The last
	// element may be a glob.
	ExtraPaths []string
	// Include are globs of Markdown files in the workspace that are indexed beside MEMORY.md, USER.md and memory/; see
	// indexer.Options. None means none in a workspace that has MEMORY.md or memory/, and all in one that has neither.
	Include []string
	// Exclude are globs of paths that are not indexed, whatever else takes them in.
	Exclude []string
	// Sessions are transcripts of conversations, the agent's own and those of other programs; the zero value indexes none.
	Sessions indexer.Sessions
	// MaxFileBytes is the size above which a file is skipped; 0 means 10 MiB.
	MaxFileBytes int64
	// Debounce is how long a file must rest before it is indexed; 0 means 1500 ms.
	Debounce time.Duration
	// MaxWait is the longest that a file which never rests waits; 0 means 10 s.
	MaxWait time.Duration
	// Interval between full scans while watching; 0 means 5 min.
	Interval time.Duration
	// PollInterval between scans if the system has no more watches to give; 0 means 5 s.
	PollInterval time.Duration
}

// maxFileBytes returns MaxFileBytes or its default.
func (o IndexOptions) maxFileBytes() int64 {
	if o.MaxFileBytes <= 0 {
		return indexer.DefaultMaxFileBytes
	}
	return min(o.MaxFileBytes, 1<<40)
}

// SyncOptions changes what a sync does.
type SyncOptions = indexer.SyncOptions

// Event is something that happened to the index.
type Event struct {
	indexer.Event
	// Generation of the index after the event; it increases with every committed change.
	Generation int64
}

// Memory is one agent's memory: its folder and the index of it. Its methods may be called concurrently.
type Memory struct {
	opt         Options
	workspace   string
	log         *slog.Logger
	lock        *os.File // nil unless the mode is Own
	store       *store.Store
	indexer     *indexer.Indexer
	cache       *vectors.Cache // of embeddings
	derived     *derived.Store // what is derived, in a file of its own
	fill        *vectors.Fill  // of opt.Embedder
	generations *generations
	searcher    atomic.Pointer[search.Searcher]
	// ranking are the search settings of the searcher.
	ranking atomic.Pointer[search.Options]
	// recorded is 1 more than the generation of the index that the journal has; 0 if it is not known.
	recorded  atomic.Int64
	events    events
	lastCheck atomic.Pointer[IndexCheck]
	skipped   skippedNotes
	atlas     *atlas.Atlas
	notes     *note.Folder
	past      *history.Past
	// notesWritten counts the notes that Append has written, notesIndexed those that a later full sync has seen, and notesAtSync
	// those before the full sync that is under way.
	notesWritten, notesIndexed, notesAtSync atomic.Int64
	// embedRequests counts the syncs in the background that wanted texts embedded; embedding is set while one call does it.
	embedRequests atomic.Int64
	embedding     atomic.Bool

	// synced has room for one notice to Watch that a sync has ended, or that the vectors of the index are whole.
	synced chan struct{}

	closing    chan struct{} // closed when Close begins
	calls      sync.WaitGroup
	mu         sync.Mutex
	closed     bool          // guarded by mu
	background chan struct{} // guarded by mu; closed when the sync in the background ends, nil while none runs
}

// agentID is what an agent may be called: safe as a file name and in every protocol.
var agentID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// markersVersion is part of the fingerprint of an index. It changes whenever text.StripMarks removes something else.
const markersVersion = ", marks v3"

// CheckAgent returns a *memory.InputError if id is not a valid id of an agent.
func CheckAgent(id string) error {
	if agentID.MatchString(id) {
		return nil
	}
	return &memory.InputError{Field: "agent",
		Problem: "must be 1 to 64 of a-z, 0-9, '_' and '-', beginning with a letter or digit"}
}

// Open opens the memory of an agent and takes its index for this process. It does not sync; call Sync or Watch.
//
// An index that is damaged, of an older schema or of another workspace is replaced by an empty one, which the next sync fills; what was
// paid for is in other files. So is one whose damage is noticed later: then a sync in the background fills the new one. Open returns a *LockedError if another process owns the index and
// does not give it up within opt.LockWait, and memory.ErrNewerSchema or memory.ErrForeignFile if the file must not be changed.
// In the modes ReadIndex and ReadOnly it takes no lock and changes nothing.
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
	m := &Memory{opt: opt, workspace: workspace, log: opt.Log.With("agent", opt.Agent), closing: make(chan struct{}), synced: make(chan struct{}, 1)}
	m.notes, m.past = m.newNotes(), m.newPast()
	if m.generations, err = newGenerations(opt, m.log, m.spaceChanged, m.indexChanged); err != nil {
		return nil, err
	}
	m.opt.Embedder = m.generations.wanted
	if err := m.openStore(ctx, splitter.Fingerprint()+markersVersion); err != nil {
		return nil, err
	}
	m.indexer = indexer.New(splitter, m.store, indexer.Options{
		Workspace: workspace, StateDir: opt.StateDir, ExtraPaths: opt.Index.ExtraPaths, Include: opt.Index.Include, Exclude: opt.Index.Exclude,
		Sessions: opt.Index.Sessions, MaxFileBytes: opt.Index.MaxFileBytes,
		Debounce: opt.Index.Debounce, MaxWait: opt.Index.MaxWait, Interval: opt.Index.Interval, PollInterval: opt.Index.PollInterval,
		StripMarkers: text.StripMarks, Origins: note.Origins, Analyze: m.store.Analyze,
		Notify: m.notify, Now: opt.Now, Log: m.log,
	})
	m.fill = vectors.NewFill(m.cache, m.generations, m.opt.Embedder, opt.Now, m.log)
	m.fill.Notify = m.notifyFill
	m.atlas = m.newAtlas()
	m.rankBy(opt.Search)
	return m, nil
}

// IndexedWorkspace returns the folder that an agent's index under a state folder was made from, "" if there is no index yet.
// It changes nothing and needs no lock.
func IndexedWorkspace(ctx context.Context, state, agent string) (string, error) {
	if err := CheckAgent(agent); err != nil {
		return "", err
	}
	return store.WorkspaceOf(ctx, store.Path(state, agent))
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	o.Agent = cmp.Or(o.Agent, defaultAgent)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Location = cmp.Or(o.Location, time.Local)
	o.CacheEntries = cmp.Or(o.CacheEntries, 250_000)
	o.Vectors = cmp.Or(o.Vectors, slab.NewBudget(slab.DefaultBudget))
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
	m.derived = derived.New(derived.Path(m.opt.StateDir, m.opt.Agent), path, derived.Options{ReadOnly: m.opt.Mode != Own, Now: m.opt.Now, Log: m.log})
	m.store, err = store.Open(ctx, path, store.Options{Workspace: m.workspace, Chunking: chunking, ReadOnly: m.opt.Mode != Own,
		Cache: m.cache, Vectors: m.opt.Vectors, Now: m.opt.Now, Log: m.log, Replaced: m.indexReplaced,
		Recipe: m.generations.recipeOf, Adopt: m.derived.Adopt})
	if err != nil {
		return m.unlock(errors.Join(err, m.cache.Close()))
	}
	m.generations.store = m.store
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

// rankBy makes the searcher of search settings.
func (m *Memory) rankBy(opt search.Options) {
	m.ranking.Store(&opt)
	m.searcher.Store(m.searcherOf(opt))
}

// searcherOf returns a searcher with search settings; what only the memory knows is filled in.
func (m *Memory) searcherOf(opt search.Options) *search.Searcher {
	if opt.Now == nil {
		opt.Now = m.opt.Now
	}
	if opt.Admit == nil {
		opt.Admit = m.opt.Search.Admit
	}
	if opt.Reranker == nil {
		opt.Reranker = m.opt.Search.Reranker
	}
	opt.Active = m.generations.active
	return search.New(m.store, m.opt.Embedder, opt)
}

// spaceChanged is told that searches use the vectors of another space from now on.
func (m *Memory) spaceChanged(space embed.Space) {
	m.notify(indexer.Event{Kind: indexer.SpaceChanged, Text: space.Name(), Time: m.opt.Now()})
	m.indexChanged() // the space on the disk of the vectors before is given back
}

// indexChanged has Watch do what follows a sync.
func (m *Memory) indexChanged() {
	select {
	case m.synced <- struct{}{}:
	default:
	}
}

// Agent returns the agent's id.
func (m *Memory) Agent() string { return m.opt.Agent }

// Workspace returns the folder, absolute and with symbolic links resolved.
func (m *Memory) Workspace() string { return m.workspace }

// enter begins a call; it returns memory.ErrClosed once Close has begun.
func (m *Memory) enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return memory.ErrClosed
	}
	m.calls.Add(1)
	return nil
}

// leave ends a call.
func (m *Memory) leave() { m.calls.Done() }

// untilClose returns a context that ends with ctx and when Close begins.
func (m *Memory) untilClose(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-m.closing:
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
	switch {
	case ev.Full && ev.Kind == indexer.SyncStarted:
		m.notesAtSync.Store(m.notesWritten.Load())
	case ev.Full && ev.Kind == indexer.SyncDone:
		m.notesSeen(m.notesAtSync.Load())
	}
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
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	close(m.closing)
	m.mu.Unlock()
	m.calls.Wait()
	m.events.close()
	return m.unlock(errors.Join(m.generations.close(), m.derived.Close(), m.store.Close(), m.cache.Close()))
}

package indexer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kioku/chunker"
	"kioku/internal/trace"
)

// Splitter splits a file into chunks; *chunker.Chunker is one. It is called concurrently.
type Splitter interface {
	Split(kind chunker.Kind, src []byte) chunker.Document
}

// Watch modes.
const (
	ModeInotify = "inotify"
	ModePolling = "polling"
	ModeOff     = "off"
)

// SyncState is how far the index is in step with the folder.
type SyncState struct {
	// PendingFiles counts changed paths that wait to be indexed, and files of the sync under way or of the one that failed.
	PendingFiles int `json:"pending_files"`
	// LastSync is the end of the last complete sync; zero before the first.
	LastSync time.Time `json:"last_sync,omitzero"`
	// WatchMode is ModeInotify, ModePolling or ModeOff.
	WatchMode string `json:"watch_mode"`
	// WatchNote is why the folder is polled; empty if it is not.
	WatchNote string `json:"watch_note,omitempty"`
	// Unavailable lists the roots that could not be read. The index keeps their files. Empty if all could be read.
	Unavailable []string `json:"unavailable,omitempty"`
	// Stale is why the index must be rebuilt; empty if it need not.
	Stale string `json:"stale,omitempty"`
	// Syncing is true while a sync or a rebuild runs.
	Syncing bool `json:"syncing"`
	// Dirty is true if the index may lag behind the folder: before the first sync, after a failed one, and while changed
	// paths wait.
	Dirty bool `json:"dirty"`
	// LastErr is why the last sync failed, or why it could not read some files. It is nil from the next full sync on that
	// ends well.
	LastErr error `json:"last_error,omitempty"`
	// RetryAt is the earliest time of the next sync after a failure; zero if LastErr is nil. A sync that a person asks for
	// does not wait.
	RetryAt time.Time `json:"retry_at,omitzero"`
	// failures counts the syncs that failed in a row.
	failures int
}

// Indexer keeps an index in step with a folder. Its methods may be called concurrently; one sync runs at a time.
type Indexer struct {
	splitter Splitter
	store    Store
	opt      Options
	layout   layout

	beside atomic.Pointer[besideCount] // nil before the first count

	turn         chan struct{} // contains a token while a sync runs
	watching     atomic.Bool
	indexPending chan struct{} // tells the watch to index the paths that it debounces
	recovered    chan struct{} // tells the watch that it need not wait for RetryAt any more
	known        atomic.Int64  // see Known

	// Owned by the sync that has the turn.
	stats map[string]statEntry // by path
	// emptyScans counts in how many consecutive scans a root looked as if all its files were deleted.
	emptyScans map[string]int
	// caughtUp is true after the first complete sync, from which on sessions may be deferred.
	caughtUp bool

	mu       sync.Mutex // guards the fields below
	state    SyncState
	waiting  int              // changed paths that the watch debounces
	left     []string         // files that changed while they were indexed, absolute
	onFolder func(dir string) // gets each folder before it is read; nil if nobody watches
}

// New returns an indexer of opt.Workspace.
func New(s Splitter, store Store, opt Options) *Indexer {
	opt = opt.withDefaults()
	return &Indexer{
		splitter: s, store: store, opt: opt,
		layout:       newLayout(opt),
		turn:         make(chan struct{}, 1),
		indexPending: make(chan struct{}, 1),
		recovered:    make(chan struct{}, 1),
		stats:        map[string]statEntry{},
		state:        SyncState{WatchMode: ModeOff, Dirty: true},
	}
}

// Sync brings the index in step with the folder. It rebuilds a stale index unless opt.NoRebuild is set. It waits until the
// sync before it has ended. onProgress may be nil; it is called by the calling goroutine.
//
// Files that cannot be indexed are no error; the index lists them with a reason. Once ctx is done, Sync returns its error
// and leaves only whole files in the index.
func (x *Indexer) Sync(ctx context.Context, opt SyncOptions, onProgress func(Progress)) (Report, error) {
	return x.sync(ctx, request{SyncOptions: opt, counted: true}, onProgress)
}

// SyncPaths is Sync for files and folders that have changed, by their absolute paths, as a watch does it.
func (x *Indexer) SyncPaths(ctx context.Context, paths ...string) (Report, error) {
	return x.sync(ctx, request{paths: outermost(paths)}, nil)
}

// Rebuild is a sync that splits all files again. If the index has files of a root that cannot be read, it returns an error and changes
// nothing.
func (x *Indexer) Rebuild(ctx context.Context, onProgress func(Progress)) (Report, error) {
	return x.sync(ctx, request{rebuild: true}, onProgress)
}

// SyncState returns the current state.
func (x *Indexer) SyncState() SyncState {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.state
	if s.LastErr == nil {
		s.PendingFiles += x.waiting
	} else { // the same files, for the most part
		s.PendingFiles = max(s.PendingFiles, x.waiting)
	}
	s.Dirty = s.Dirty || x.waiting > 0 || len(x.left) > 0
	return s
}

// Known returns how many chunks have got a cached vector when they were written, since the start.
func (x *Indexer) Known() int64 { return x.known.Load() }

// sync waits for its turn and executes one request.
func (x *Indexer) sync(ctx context.Context, req request, onProgress func(Progress)) (Report, error) {
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	defer func() { <-x.turn }()
	if onProgress == nil {
		onProgress = func(Progress) {}
	}
	ctx, span := trace.Start(ctx, "sync")
	start := x.opt.Now()
	x.updateState(func(s *SyncState) {
		s.Syncing = true
		if req.full() {
			x.left = nil
		}
	})
	x.notify(Event{Kind: SyncStarted, Full: req.full()})
	r := &syncRun{Indexer: x, req: req, onProgress: onProgress}
	err := r.execute(ctx)
	x.caughtUp = x.caughtUp || req.full() && err == nil
	r.rep.Took = x.opt.Now().Sub(start)
	x.known.Add(int64(r.rep.Known))
	x.syncEnded(r, err, ctx.Err() != nil)
	span.Int("files", r.rep.Files)
	span.Int("chunks", r.rep.Chunks)
	span.End(err)
	return r.rep, err
}

// syncEnded records the outcome of a sync and notifies of it.
func (x *Indexer) syncEnded(r *syncRun, err error, canceled bool) {
	x.updateState(func(s *SyncState) {
		failed := s.LastErr != nil
		s.recordOutcome(r, err, err != nil && canceled, x.retryWait)
		if failed && s.LastErr == nil {
			signal(x.recovered)
		}
		if err != nil {
			return
		}
		if r.req.full() {
			s.Stale = r.rep.Stale
			if s.LastErr == nil {
				s.LastSync = x.opt.Now()
			}
		}
		x.left = append(x.left, r.unsettled...)
	})
	if err != nil {
		x.notify(Event{Kind: SyncFailed, Text: err.Error()})
		return
	}
	text := fmt.Sprintf("%d indexed, %d removed", r.rep.Files, r.rep.Removed)
	x.notify(Event{Kind: SyncDone, Text: text, Chunks: r.rep.Chunks, Full: r.req.full()})
}

// signal puts a token into a channel that has room for one, unless there is one already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// updateState calls change with mu locked.
func (x *Indexer) updateState(change func(*SyncState)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change(&x.state)
}

// folderSeen passes a folder to the watch, if there is one.
func (x *Indexer) folderSeen(dir string) {
	x.mu.Lock()
	onFolder := x.onFolder
	x.mu.Unlock()
	if onFolder != nil {
		onFolder(dir)
	}
}

// takeLeft returns the files that changed while they were indexed, and clears the list.
func (x *Indexer) takeLeft() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := x.left
	x.left = nil
	return left
}

func (x *Indexer) notify(e Event) {
	if x.opt.Notify == nil {
		return
	}
	e.Time = x.opt.Now()
	x.opt.Notify(e)
}

// setUnavailable records which roots are unavailable, and notifies of changes.
func (x *Indexer) setUnavailable(roots []unavailableRoot) {
	names := rootNames(roots)
	was := map[string]bool{}
	x.updateState(func(s *SyncState) {
		for _, name := range s.Unavailable {
			was[name] = true
		}
		s.Unavailable = names
	})
	for _, root := range roots {
		if !was[root.name] {
			x.notify(Event{Kind: RootUnavailable, Path: root.name, Text: root.reason})
		}
		delete(was, root.name)
	}
	for name := range was {
		x.notify(Event{Kind: RootAvailable, Path: name})
	}
}

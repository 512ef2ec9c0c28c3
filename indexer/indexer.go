package indexer

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kioku/chunker"
)

// Splitter cuts a file into chunks; *chunker.Chunker is one. It is called from several goroutines at once.
type Splitter interface {
	Split(kind chunker.Kind, src []byte) chunker.Document
}

// Watch modes.
const (
	ModeInotify = "inotify"
	ModePolling = "polling"
	ModeOff     = "off"
)

// State is what is known of the index at this moment.
type State struct {
	// PendingFiles counts changed paths that wait to be indexed, and files of the sync under way.
	PendingFiles int
	// LastSync is the end of the last complete sync, zero where there was none.
	LastSync time.Time
	// WatchMode is ModeInotify, ModePolling or ModeOff; WatchNote says why it is polling.
	WatchMode, WatchNote string
	// Unavailable lists the roots that could not be read; the index keeps what it held of them.
	Unavailable []string
	// Stale is why the index ought to be built anew, as long as that has not worked; empty where it need not.
	Stale string
	// Syncing says that a sync or rebuild is under way.
	Syncing bool
	// Dirty says that the index lags behind the folder, or may: before the first sync, after one that failed, and
	// while changed paths wait.
	Dirty bool
	// LastErr is why the last sync failed, nil if it did not.
	LastErr error
}

// Indexer keeps an index in step with a folder. Its methods may be called concurrently; one sync runs at a time.
type Indexer struct {
	split  Splitter
	index  Store
	opt    Options
	layout layout

	turn     chan struct{} // holds a token while a sync runs
	watching atomic.Bool
	hurry    chan struct{} // tells the watch to index what it holds back

	// Owned by the sync that has the turn.
	memos  map[string]memo
	doubts doubts
	// caughtUp says that a full sync has ended well, after which others may be patient.
	caughtUp bool

	mu      sync.Mutex // guards what follows
	state   State
	waiting int              // changed paths that the watch holds back
	left    []string         // files that changed while they were indexed, absolute
	onDir   func(dir string) // told of each folder before it is read, nil where nobody watches
}

// New returns an indexer of opt.Workspace.
func New(s Splitter, ix Store, opt Options) *Indexer {
	opt = withDefaults(opt)
	return &Indexer{
		split: s, index: ix, opt: opt,
		layout: newLayout(opt.Workspace, opt.ExtraPaths, opt.Sessions),
		turn:   make(chan struct{}, 1),
		hurry:  make(chan struct{}, 1),
		memos:  map[string]memo{},
		state:  State{WatchMode: ModeOff, Dirty: true},
	}
}

func withDefaults(o Options) Options {
	orDuration := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	orDuration(&o.Debounce, 1500*time.Millisecond)
	orDuration(&o.MaxWait, 10*time.Second)
	orDuration(&o.Interval, 5*time.Minute)
	orDuration(&o.PollInterval, 5*time.Second)
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

// Sync brings the index in step with the folder, or builds it anew where the index says that it must be and opt allows
// it. A call waits for the one before it. step, where it is not nil, is told of the progress, by the calling goroutine.
//
// Files that cannot be indexed are no error; the index lists them with a reason. Once ctx is done, Sync returns its error and
// leaves whole files only.
func (x *Indexer) Sync(ctx context.Context, opt SyncOptions, step func(Progress)) (Report, error) {
	return x.do(ctx, request{full: true, counted: true, verify: opt.Verify, prune: opt.Prune, noRebuild: opt.NoRebuild, patient: opt.Patient}, step)
}

// Rebuild cuts all files again while the old index answers, and then syncs. If the files of a root that cannot be read would
// be lost, it returns an error and the old index stays.
func (x *Indexer) Rebuild(ctx context.Context, step func(Progress)) (Report, error) {
	return x.do(ctx, request{full: true, rebuild: true}, step)
}

// State returns what is known of the index at this moment.
func (x *Indexer) State() State {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.state
	s.PendingFiles += x.waiting
	s.Dirty = s.Dirty || x.waiting > 0 || len(x.left) > 0
	return s
}

// request says what a sync is to look at.
type request struct {
	// full looks at everything, otherwise only at paths.
	full  bool
	paths []string
	// counted scans count towards believing that a root was emptied.
	counted bool
	verify  bool
	prune   bool
	rebuild bool
	// noRebuild is SyncOptions.NoRebuild, patient SyncOptions.Patient.
	noRebuild bool
	patient   bool
}

// do waits for its turn and runs one sync.
func (x *Indexer) do(ctx context.Context, req request, step func(Progress)) (Report, error) {
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	defer func() { <-x.turn }()
	if step == nil {
		step = func(Progress) {}
	}
	start := x.opt.Now()
	x.begin(req)
	r := newRun(x, req, step)
	err := r.run(ctx)
	x.caughtUp = x.caughtUp || req.full && err == nil
	r.rep.Stale = r.stale
	r.rep.Took = x.opt.Now().Sub(start)
	x.end(r, err)
	return r.rep, err
}

func (x *Indexer) begin(req request) {
	x.update(func(s *State) {
		s.Syncing = true
		if req.full {
			x.left = nil
		}
	})
	x.notify(Event{Kind: SyncStarted})
}

// end puts the outcome of a sync into the state and tells of it.
func (x *Indexer) end(r *run, err error) {
	x.update(func(s *State) {
		s.Syncing, s.PendingFiles, s.LastErr = false, 0, err
		if err != nil {
			s.Dirty = true
			return
		}
		if r.req.full {
			s.LastSync, s.Dirty, s.Stale = x.opt.Now(), false, r.stale
		}
		x.left = append(x.left, r.left...)
	})
	if err != nil {
		x.notify(Event{Kind: SyncFailed, Text: err.Error()})
		return
	}
	text := fmt.Sprintf("%d indexed, %d removed", r.rep.Files, r.rep.Removed)
	x.notify(Event{Kind: SyncDone, Text: text, Chunks: r.rep.Chunks})
}

// update changes the state under its lock.
func (x *Indexer) update(change func(*State)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change(&x.state)
}

// folderSeen passes a folder on to the watch, if there is one.
func (x *Indexer) folderSeen(dir string) {
	x.mu.Lock()
	onDir := x.onDir
	x.mu.Unlock()
	if onDir != nil {
		onDir(dir)
	}
}

// takeLeft returns the files that changed while they were indexed, and forgets them.
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

// setLost notes which roots are unavailable and tells of those that went or came back.
func (x *Indexer) setLost(lost []lostRoot) {
	var names []string
	was := map[string]bool{}
	x.update(func(s *State) {
		for _, name := range s.Unavailable {
			was[name] = true
		}
		for _, l := range lost {
			names = append(names, l.name)
		}
		s.Unavailable = names
	})
	for _, l := range lost {
		if !was[l.name] {
			x.notify(Event{Kind: RootUnavailable, Path: l.name, Text: l.reason})
		}
		delete(was, l.name)
	}
	for name := range was {
		x.notify(Event{Kind: RootAvailable, Path: name})
	}
}

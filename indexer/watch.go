package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"kioku/internal/text"
)

// errWatching: a second Watch would do everything twice.
var errWatching = errors.New("the folder is being watched already")

// verifyEvery is after how many reconciling scans one reads every file, for edits that leave size and time unchanged.
const verifyEvery = 12

// Watch syncs and then keeps the index in step with the folder until ctx is done; then it returns nil. It returns an error
// at once if another Watch of x runs. It retries what goes wrong in between, which SyncState and events report.
func (x *Indexer) Watch(ctx context.Context) error {
	if !x.watching.CompareAndSwap(false, true) {
		return errWatching
	}
	defer x.watching.Store(false)
	w := newWatch(x)
	defer w.stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		w.startDueSync(ctx, time.Now())
		timer.Reset(time.Until(w.nextDue()))
		select {
		case <-ctx.Done():
			if w.running != nil {
				<-w.running
			}
			return nil
		case c, ok := <-w.changes():
			w.handleChange(c, ok, time.Now())
		case err := <-w.running:
			w.syncFinished(err, time.Now())
		case <-x.indexPending:
			w.waiting.makeDue(time.Now())
		case <-w.x.recovered:
		case <-timer.C:
		}
	}
}

// IndexPending makes the watch index at once the changed paths that it debounces, and does not wait for that. It returns
// false if this would not bring the index in step: nobody watches, or the index lags for another reason.
func (x *Indexer) IndexPending() bool {
	x.mu.Lock()
	known := x.onFolder != nil && !x.state.Dirty && len(x.left) == 0
	x.mu.Unlock()
	if !known {
		return false
	}
	signal(x.indexPending)
	return true
}

// watch is the state of one Watch. It watches the folders that scans pass to it, or polls: then every PollInterval is a full scan, and
// each reconciling scan tries to watch again. Its goroutine owns all fields but those that mu guards.
type watch struct {
	x       *Indexer
	waiting *debounce
	// running gets the outcome of the sync under way; nil while there is none.
	running  chan error
	inFlight int // paths of the sync under way
	scans    int // reconciling scans
	// fullAt is when a full scan is due; zero if none is wanted.
	fullAt time.Time
	// reconcileAt and rootsAt are when the next reconciling scan and the next check of the roots are due.
	reconcileAt, rootsAt time.Time
	roots                map[string]rootState
	// globs are those that applied when the layout was last asked for them.
	globs []string
	// polls is set while the system has no watches left.
	polls bool
	// outdated is set if watches may report old names; the next full scan replaces them.
	outdated bool

	mu      sync.Mutex
	watcher Watcher         // nil while polling, and from the loss of events to the full scan after it
	dirs    map[string]bool // watched folders
	missing error           // why a folder could not be watched; nil if all could
}

func newWatch(x *Indexer) *watch {
	now := time.Now()
	w := &watch{
		x: x, waiting: newDebounce(x.opt.Debounce, x.opt.MaxWait),
		reconcileAt: now, rootsAt: now, roots: x.rootStates(), globs: x.layout.globs(), dirs: map[string]bool{},
	}
	x.mu.Lock()
	x.onFolder = w.watchFolder
	x.mu.Unlock()
	return w
}

// stop ends watching and polling.
func (w *watch) stop() {
	w.x.updateState(func(s *SyncState) {
		w.x.onFolder, w.x.waiting = nil, 0
		s.Dirty = s.Dirty || len(w.waiting.paths) > 0 || !w.fullAt.IsZero() // no watch indexes them now
	})
	w.closeWatcher()
	w.setMode(ModeOff, "")
}

// startDueSync starts the sync that is due, unless one runs.
func (w *watch) startDueSync(ctx context.Context, now time.Time) {
	if w.running != nil || now.Before(w.x.SyncState().RetryAt) {
		return
	}
	if !now.Before(w.rootsAt) {
		w.rootsAt = now.Add(w.x.opt.PollInterval)
		w.checkRoots(now)
	}
	req := request{SyncOptions: SyncOptions{DeferSessions: true}}
	switch {
	case !now.Before(w.reconcileAt):
		w.reconcileAt = now.Add(w.x.opt.Interval)
		w.scans++
		req.counted, req.Verify = true, w.scans%verifyEvery == 0
		w.openWatcher()
	case !w.fullAt.IsZero() && !now.Before(w.fullAt):
		if !w.polls {
			w.openWatcher()
		}
	default:
		due := w.waiting.takeDue(now)
		if due == nil {
			return
		}
		w.inFlight = len(due)
		req.paths = outermost(due)
	}
	if req.full() {
		w.fullAt = time.Time{}
		w.waiting.clear()
	}
	w.countWaiting()
	running := make(chan error, 1)
	w.running = running
	go func() {
		_, err := w.x.sync(ctx, req, nil)
		running <- err
	}()
}

// nextDue returns when something is due.
func (w *watch) nextDue() time.Time {
	if w.running != nil {
		return time.Now().Add(time.Hour)
	}
	at := w.reconcileAt
	for _, t := range []time.Time{w.fullAt, w.rootsAt, w.waiting.wake} {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if retry := w.x.SyncState().RetryAt; at.Before(retry) {
		return retry
	}
	return at
}

// syncFinished schedules what a sync left undone. If a folder could not be watched, it begins to poll.
func (w *watch) syncFinished(err error, now time.Time) {
	w.running, w.inFlight = nil, 0
	w.countWaiting()
	w.mu.Lock()
	watching, missing := w.watcher != nil, w.missing
	w.mu.Unlock()
	switch {
	case watching && missing != nil:
		w.closeWatcher()
		w.poll(missing)
	case watching:
		w.polls = false
		w.setMode(ModeInotify, "")
	}
	if state := w.x.SyncState(); state.LastErr != nil {
		w.x.opt.Log.Error("sync failed", "cause", state.LastErr, "again_at", state.RetryAt)
		w.wantFullScan(state.RetryAt)
	}
	if err != nil {
		return
	}
	for _, p := range w.x.takeLeft() {
		w.pathChanged(p, now)
	}
}

// handleChange handles one change that the watcher sent. After lost events, everything is scanned with new watches; and a while after a folder
// has gone, since it may only have another name now, and the watches below it report the old one.
func (w *watch) handleChange(c Change, ok bool, now time.Time) {
	if !ok || c.Err != nil {
		w.x.opt.Log.Info("file events were lost, scanning everything", "cause", c.Err)
		w.closeWatcher()
		w.wantFullScan(now.Add(w.x.opt.Debounce))
		return
	}
	folderGone := c.Gone && w.watches(c.Path)
	if folderGone {
		w.outdated = true
		w.wantFullScan(now.Add(w.x.opt.PollInterval))
	}
	if w.layoutChanged(c.Path) {
		w.wantFullScan(now.Add(w.x.opt.Debounce))
	}
	if !folderGone && !w.concerns(c) {
		return
	}
	if filepath.Base(c.Path) == ignoreFile {
		c.Path = filepath.Dir(c.Path)
	}
	w.pathChanged(c.Path, now)
	if len(w.x.SyncState().Unavailable) > 0 {
		w.wantFullScan(now.Add(w.x.opt.Debounce))
	}
}

// wantFullScan asks for a full scan at a time, or earlier.
func (w *watch) wantFullScan(at time.Time) {
	if w.fullAt.IsZero() || at.Before(w.fullAt) {
		w.fullAt = at
	}
}

// layoutChanged reports whether other globs apply since a path changed: MEMORY.md or memory/ was made in a whole folder, or the
// settings file was written.
func (w *watch) layoutChanged(path string) bool {
	if !w.x.layout.decides(path) {
		return false
	}
	was := w.globs
	w.globs = w.x.layout.globs()
	return !slices.Equal(was, w.globs)
}

// pathChanged debounces a path, or asks for a full scan if too many wait.
func (w *watch) pathChanged(path string, now time.Time) {
	if !w.waiting.touch(path, now) {
		w.wantFullScan(now.Add(w.x.opt.Debounce))
	}
	w.countWaiting()
}

// countWaiting updates the number of changed paths that are not indexed yet.
func (w *watch) countWaiting() {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	w.x.waiting = len(w.waiting.paths) + w.inFlight
}

// concerns reports whether a change may matter to the index.
func (w *watch) concerns(c Change) bool {
	if !w.x.layout.near(c.Path) {
		return false
	}
	switch filepath.Ext(c.Path) {
	case ".jsonl", ignoreFile:
		return true
	}
	if text.MarkdownExtension(c.Path) != "" {
		return true
	}
	info, err := os.Lstat(c.Path)
	return err == nil && !info.Mode().IsRegular()
}

// near reports whether a path is at, above or below a target, and has no ignored name on the way.
func (l layout) near(abs string) bool {
	for _, t := range l.current() {
		if _, ok := below(abs, t.abs()); ok {
			return true
		}
		rel, ok := below(t.abs(), abs)
		if dir, last := filepath.Split(rel); last == ignoreFile {
			rel = strings.TrimSuffix(dir, "/")
		}
		if ok && (rel == "" || !ignoredPath(rel)) {
			return true
		}
		// The ignore files above a target apply to it.
		if _, inside := below(filepath.Dir(abs), t.abs()); inside && filepath.Base(abs) == ignoreFile {
			return true
		}
	}
	return false
}

// outermost returns the paths that are not below another path of the list.
func outermost(paths []string) []string {
	all := make(map[string]bool, len(paths))
	for _, p := range paths {
		all[p] = true
	}
	var out []string
	for _, p := range paths {
		inner := false
		for up := filepath.Dir(p); up != filepath.Dir(up) && !inner; up = filepath.Dir(up) {
			inner = all[up]
		}
		if !inner {
			out = append(out, p)
		}
	}
	return out
}

// openWatcher begins to watch, unless it does already: the full scan that follows passes all folders to watchFolder.
func (w *watch) openWatcher() {
	if w.outdated {
		w.closeWatcher()
	}
	if w.outdated = false; w.changes() != nil {
		return
	}
	watcher, err := w.x.opt.Watcher()
	if err != nil {
		w.poll(err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watcher, w.dirs, w.missing = watcher, map[string]bool{}, nil
	if !w.polls {
		w.setMode(ModeInotify, "")
	}
}

// closeWatcher ends watching.
func (w *watch) closeWatcher() {
	w.mu.Lock()
	watcher := w.watcher
	w.watcher = nil
	w.mu.Unlock()
	if watcher == nil {
		return
	}
	if err := watcher.Close(); err != nil {
		w.x.opt.Log.Warn("close the file watcher", "cause", err)
	}
}

// changes returns the channel of the watcher; nil while polling.
func (w *watch) changes() <-chan Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Changes()
}

// watches reports whether a folder is watched.
func (w *watch) watches(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watcher != nil && w.dirs[dir]
}

// watchFolder watches a folder. Syncs call it on their goroutine.
func (w *watch) watchFolder(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher == nil || w.missing != nil {
		return
	}
	w.dirs[dir] = true
	if err := w.watcher.Add(dir); err != nil && !isFolderError(err) {
		w.missing = err
	}
}

// isFolderError reports whether an error is about the folder, so that the scan reports it, and not about watching.
func isFolderError(err error) bool {
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP, fsnotify.ErrClosed} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// poll polls from now on. It logs nothing if the folder is polled already.
func (w *watch) poll(cause error) {
	w.polls = true
	note := fmt.Sprintf("%v; looking for changes every %v", cause, w.x.opt.PollInterval)
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EMFILE) {
		note += " (raise fs.inotify.max_user_watches, fs.inotify.max_user_instances or the limit of open files)"
	}
	if w.setMode(ModePolling, note) {
		w.x.opt.Log.Warn("no file watches to be had", "note", note)
	}
}

// setMode sets the watch mode, and reports whether it is another one than before.
func (w *watch) setMode(mode, note string) bool {
	var was string
	w.x.updateState(func(s *SyncState) {
		was = s.WatchMode
		s.WatchMode, s.WatchNote = mode, note
	})
	if was == mode {
		return false
	}
	w.x.notify(Event{Kind: WatchMode, Text: mode})
	return true
}

package indexer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// errWatching: a second Watch would do everything twice.
var errWatching = errors.New("the folder is being watched already")

// deepEvery is after how many reconciling scans one reads every file, for edits that leave size and time as they were.
const deepEvery = 12

// Watch syncs and then keeps the index in step with the folder until ctx is done; then it returns nil. It returns an
// error at once where another Watch of x runs. What goes wrong in between is told by State and by events, and is
// tried again.
func (x *Indexer) Watch(ctx context.Context) error {
	if !x.watching.CompareAndSwap(false, true) {
		return errWatching
	}
	defer x.watching.Store(false)
	w := newWatch(x)
	defer w.close()
	w.open()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		w.start(ctx, time.Now())
		timer.Reset(time.Until(w.next()))
		select {
		case <-ctx.Done():
			if w.running != nil {
				<-w.running
			}
			return nil
		case c, ok := <-w.changes():
			w.change(c, ok, time.Now())
		case err := <-w.running:
			w.finished(err, time.Now())
		case <-x.hurry:
			w.waiting.hurry(time.Now())
		case <-w.exhausted:
		case <-timer.C:
		}
	}
}

// Hurry has the watch index at once the changed paths that it lets rest, and does not wait for that. It is false where
// this would not bring the index in step: nobody watches, or the index lags for another reason.
func (x *Indexer) Hurry() bool {
	x.mu.Lock()
	known := x.onDir != nil && !x.state.Dirty && len(x.left) == 0
	x.mu.Unlock()
	if !known {
		return false
	}
	select {
	case x.hurry <- struct{}{}:
	default:
	}
	return true
}

// watch is the state of one Watch. Its goroutine owns all of it but what mu guards.
type watch struct {
	x       *Indexer
	waiting *debounce
	// running gets the outcome of the sync under way; nil while there is none.
	running  chan error
	inFlight int // paths of the sync under way
	failures int
	scans    int
	// When a full scan, the reconciling one and the look at the roots are due. fullAt is zero where none is wanted.
	fullAt, reconcileAt, rootsAt time.Time
	roots                        map[string]rootState

	exhausted chan struct{} // told when limit is set
	mu        sync.Mutex
	src       Watcher         // nil while polling
	dirs      map[string]bool // watched folders
	limit     error           // why no more folders can be watched
}

func newWatch(x *Indexer) *watch {
	now := time.Now()
	return &watch{
		x: x, waiting: newDebounce(x.opt.Debounce, x.opt.MaxWait),
		reconcileAt: now, rootsAt: now, roots: x.lookAtRoots(),
		exhausted: make(chan struct{}, 1), dirs: map[string]bool{},
	}
}

// start begins the sync that is due, if any, unless one runs.
func (w *watch) start(ctx context.Context, now time.Time) {
	w.fallBack()
	if w.running != nil {
		return
	}
	if !now.Before(w.rootsAt) {
		w.rootsAt = now.Add(w.x.opt.PollInterval)
		w.checkRoots(now)
	}
	var req request
	switch {
	case !now.Before(w.reconcileAt):
		w.reconcileAt = now.Add(w.x.opt.Interval)
		w.retryWatching()
		w.scans++
		req = request{full: true, counted: true, verify: w.scans%deepEvery == 0}
	case !w.fullAt.IsZero() && !now.Before(w.fullAt):
		req = request{full: true}
	default:
		if req.paths = w.waiting.due(now); req.paths == nil {
			return
		}
	}
	if req.full {
		w.fullAt = time.Time{}
		w.waiting.clear()
	}
	w.inFlight = len(req.paths)
	req.patient = true
	w.countWaiting()
	req.paths = outermost(req.paths)
	w.running = make(chan error, 1)
	running := w.running
	go func() {
		_, err := w.x.do(ctx, req, nil)
		running <- err
	}()
}

// next is when something is due.
func (w *watch) next() time.Time {
	if w.running != nil {
		return time.Now().Add(time.Hour)
	}
	at := w.reconcileAt
	for _, t := range []time.Time{w.fullAt, w.rootsAt, w.waiting.wake} {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	return at
}

// want asks for a full scan at a time, or earlier.
func (w *watch) want(at time.Time) {
	if w.fullAt.IsZero() || at.Before(w.fullAt) {
		w.fullAt = at
	}
}

// finished plans what a sync leaves to be done.
func (w *watch) finished(err error, now time.Time) {
	w.running, w.inFlight = nil, 0
	w.countWaiting()
	if err != nil {
		w.failures++
		wait := min(w.x.opt.PollInterval<<min(w.failures-1, 10), w.x.opt.Interval)
		w.x.opt.Log.Error("sync failed", "cause", err, "again_in", wait)
		w.want(now.Add(wait))
		return
	}
	w.failures = 0
	for _, p := range w.x.takeLeft() {
		w.touch(p, now)
	}
}

// change takes in one hint.
func (w *watch) change(c Change, ok bool, now time.Time) {
	if !ok || c.Err != nil {
		w.x.opt.Log.Info("file events were lost, scanning everything", "cause", c.Err)
		w.reopen()
		w.want(now.Add(w.x.opt.Debounce))
		return
	}
	wasDir := c.Gone && w.drop(c.Path)
	if !w.concerns(c, wasDir) {
		return
	}
	if filepath.Base(c.Path) == ignoreFile {
		c.Path = filepath.Dir(c.Path)
	}
	w.touch(c.Path, now)
	if len(w.x.State().Unavailable) > 0 {
		w.want(now.Add(w.x.opt.Debounce))
	}
}

// touch has a path looked at once it rests.
func (w *watch) touch(path string, now time.Time) {
	if !w.waiting.touch(path, now) {
		w.want(now.Add(w.x.opt.Debounce))
	}
	w.countWaiting()
}

// countWaiting tells the state how many changed paths are not in the index yet.
func (w *watch) countWaiting() {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	w.x.waiting = len(w.waiting.paths) + w.inFlight
}

// concerns reports whether a change may matter to the index.
func (w *watch) concerns(c Change, wasDir bool) bool {
	if !w.x.layout.near(c.Path) {
		return false
	}
	switch filepath.Ext(c.Path) {
	case ".md", ".jsonl", ignoreFile:
		return true
	}
	info, err := os.Lstat(c.Path)
	return wasDir || err == nil && !info.Mode().IsRegular()
}

// near reports whether a path is at, above or below a target, and has no ignored name on the way.
func (l layout) near(abs string) bool {
	for _, t := range l.targets {
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
		// The ignore files above a target count for it.
		if _, inside := below(filepath.Dir(abs), t.abs()); inside && filepath.Base(abs) == ignoreFile {
			return true
		}
	}
	return false
}

// outermost drops the paths that lie below another one of the list.
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

package indexer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// open begins to watch, or to poll where the system has nothing left to watch with. The folders are added by the scan.
func (w *watch) open() {
	w.x.mu.Lock()
	w.x.onDir = w.add
	w.x.mu.Unlock()
	src, err := w.x.opt.Watcher()
	if err != nil {
		w.poll(err)
		return
	}
	w.mu.Lock()
	w.src, w.dirs, w.limit = src, map[string]bool{}, nil
	w.mu.Unlock()
	w.mode(ModeInotify, "")
}

// reopen replaces the watches by new ones. After lost events, old ones may report under names that are not theirs.
func (w *watch) reopen() {
	if w.release() {
		w.open()
	}
}

// close ends watching and polling.
func (w *watch) close() {
	w.x.mu.Lock()
	w.x.onDir, w.x.waiting = nil, 0
	w.x.state.Dirty = w.x.state.Dirty || len(w.waiting.paths) > 0 || !w.fullAt.IsZero() // nobody will look now
	w.x.mu.Unlock()
	w.release()
	w.mode(ModeOff, "")
}

// release gives all watches back, and reports whether there were any.
func (w *watch) release() bool {
	w.mu.Lock()
	src := w.src
	w.src = nil
	w.mu.Unlock()
	if src == nil {
		return false
	}
	if err := src.Close(); err != nil {
		w.x.opt.Log.Warn("file watches were not given back", "cause", err)
	}
	return true
}

// changes is where the hints come from; nil while polling.
func (w *watch) changes() <-chan Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.src == nil {
		return nil
	}
	return w.src.Changes()
}

// add watches a folder. A sync calls it, on its own goroutine.
func (w *watch) add(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirs[dir] = true
	if w.src == nil || w.limit != nil {
		return
	}
	err := w.src.Add(dir)
	if err == nil || passing(err) {
		return
	}
	w.limit = err
	select {
	case w.exhausted <- struct{}{}:
	default:
	}
}

// passing reports whether an error is about the folder, which the scan will report, and not about watching.
func passing(err error) bool {
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP, fsnotify.ErrClosed} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// drop ends watching a folder that is gone, and those below it, whose watches would go on under the old name if it
// was only renamed. It reports whether it was watched.
func (w *watch) drop(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.src == nil || !w.dirs[dir] {
		return false
	}
	for d := range maps.Clone(w.dirs) {
		if _, ok := below(dir, d); !ok {
			continue
		}
		delete(w.dirs, d)
		if err := w.src.Remove(d); err != nil {
			w.x.opt.Log.Debug("a watch was not given back", "dir", d, "cause", err)
		}
	}
	return true
}

// fallBack turns to polling when a folder could not be watched.
func (w *watch) fallBack() {
	w.mu.Lock()
	limit := w.limit
	w.mu.Unlock()
	if limit != nil && w.release() {
		w.poll(limit)
	}
}

// poll turns to polling. Where that is already so, nothing is said again.
func (w *watch) poll(cause error) {
	note := fmt.Sprintf("%v; looking for changes every %v", cause, w.x.opt.PollInterval)
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EMFILE) {
		note += " (raise fs.inotify.max_user_watches or fs.inotify.max_user_instances)"
	}
	if w.mode(ModePolling, note) {
		w.x.opt.Log.Warn("no file watches to be had", "note", note)
	}
}

// retryWatching sees whether the system has watches again. As long as it has not, nothing is said.
func (w *watch) retryWatching() {
	if w.changes() != nil {
		return
	}
	src, err := w.x.opt.Watcher()
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir := range w.dirs {
		if err := src.Add(dir); err != nil && !passing(err) {
			if err := src.Close(); err != nil {
				w.x.opt.Log.Warn("file watches were not given back", "cause", err)
			}
			return
		}
	}
	w.src, w.limit = src, nil
	w.mode(ModeInotify, "")
}

// mode notes how changes are noticed from now on, and reports whether that is new.
func (w *watch) mode(mode, note string) bool {
	var was string
	w.x.update(func(s *State) {
		was = s.WatchMode
		s.WatchMode, s.WatchNote = mode, note
	})
	if was == mode {
		return false
	}
	w.x.notify(Event{Kind: WatchMode, Text: mode})
	return true
}

// rootState is what tells a root from another that took its place.
type rootState struct {
	// info is nil where there is no folder.
	info fs.FileInfo
	// there, readable and empty, as far as looking at it shows.
	there, readable, empty bool
}

// same reports whether nothing happened to a root.
func (a rootState) same(b rootState) bool {
	if a.there != b.there || a.readable != b.readable || a.empty != b.empty {
		return false
	}
	return a.info == nil || b.info == nil || os.SameFile(a.info, b.info)
}

// lookAtRoots looks at the roots, and at targets that are not their root.
func (x *Indexer) lookAtRoots() map[string]rootState {
	out := map[string]rootState{}
	for _, t := range x.layout.targets {
		for _, dir := range []string{t.root, t.abs()} {
			if _, ok := out[dir]; !ok && !(t.optional && dir != t.root) {
				out[dir] = lookAtRoot(dir)
			}
		}
	}
	return out
}

func lookAtRoot(dir string) rootState {
	info, err := os.Lstat(dir)
	if err != nil {
		return rootState{}
	}
	if !info.IsDir() {
		return rootState{there: true} // a file is another one after each save
	}
	s := rootState{info: info, there: true}
	if root, err := openRoot(dir); err == nil {
		s.readable, s.empty = true, isEmpty(root)
		root.Close()
	}
	return s
}

// checkRoots wants a full scan where a root went, came back or was replaced, and always while polling.
func (w *watch) checkRoots(now time.Time) {
	w.forgetLost()
	roots := w.x.lookAtRoots()
	if !maps.EqualFunc(w.roots, roots, rootState.same) {
		w.roots = roots
		w.reopen()
		w.want(now)
	}
	if w.changes() == nil {
		w.want(now)
	}
}

// forgetLost forgets how the roots looked that a sync could not read: one that went and came back between two looks is
// the same folder, but its watches are gone.
func (w *watch) forgetLost() {
	lost := w.x.State().Unavailable
	for dir, was := range w.roots {
		if was.readable && !was.empty && slices.Contains(lost, w.x.layout.name(dir)) {
			w.roots[dir] = rootState{}
		}
	}
}

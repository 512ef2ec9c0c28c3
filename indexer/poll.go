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

// openWatcher starts to watch, or to poll if the system has no watches left. The scans add the folders.
func (w *watch) openWatcher() {
	w.x.mu.Lock()
	w.x.onFolder = w.watchFolder
	w.x.mu.Unlock()
	watcher, err := w.x.opt.Watcher()
	if err != nil {
		w.startPolling(err)
		return
	}
	w.mu.Lock()
	w.watcher, w.dirs, w.watchErr = watcher, map[string]bool{}, nil
	w.mu.Unlock()
	w.setMode(ModeInotify, "")
}

// reopenWatcher replaces all watches by new ones. After lost events, old ones may report wrong names.
func (w *watch) reopenWatcher() {
	if w.closeWatcher() {
		w.openWatcher()
	}
}

// stopWatching stops watching and polling.
func (w *watch) stopWatching() {
	w.x.updateState(func(s *SyncState) {
		w.x.onFolder, w.x.waiting = nil, 0
		s.Dirty = s.Dirty || len(w.waiting.paths) > 0 || !w.fullAt.IsZero() // no watch indexes them now
	})
	w.closeWatcher()
	w.setMode(ModeOff, "")
}

// closeWatcher closes the watcher, and reports whether there was one.
func (w *watch) closeWatcher() bool {
	w.mu.Lock()
	watcher := w.watcher
	w.watcher = nil
	w.mu.Unlock()
	if watcher != nil {
		w.logClose(watcher.Close())
	}
	return watcher != nil
}

func (w *watch) logClose(err error) {
	if err != nil {
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

// watchFolder watches a folder. Syncs call it on their goroutine.
func (w *watch) watchFolder(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirs[dir] = true
	if w.watcher == nil || w.watchErr != nil {
		return
	}
	err := w.watcher.Add(dir)
	if err == nil || isFolderError(err) {
		return
	}
	w.watchErr = err
	select {
	case w.exhausted <- struct{}{}:
	default:
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

// unwatchFolder stops watching a folder that is gone, and the folders below it: if it was renamed, their watches would
// report the old names. It reports whether the folder was watched.
func (w *watch) unwatchFolder(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher == nil || !w.dirs[dir] {
		return false
	}
	for d := range maps.Clone(w.dirs) {
		if _, ok := below(dir, d); !ok {
			continue
		}
		delete(w.dirs, d)
		if err := w.watcher.Remove(d); err != nil {
			w.x.opt.Log.Debug("remove a file watch", "dir", d, "cause", err)
		}
	}
	return true
}

// pollIfExhausted starts to poll if a folder could not be watched.
func (w *watch) pollIfExhausted() {
	w.mu.Lock()
	err := w.watchErr
	w.mu.Unlock()
	if err != nil && w.closeWatcher() {
		w.startPolling(err)
	}
}

// startPolling polls from now on. It logs nothing if the folder is polled already.
func (w *watch) startPolling(cause error) {
	note := fmt.Sprintf("%v; looking for changes every %v", cause, w.x.opt.PollInterval)
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EMFILE) {
		note += " (raise fs.inotify.max_user_watches, fs.inotify.max_user_instances or the limit of open files)"
	}
	if w.setMode(ModePolling, note) {
		w.x.opt.Log.Warn("no file watches to be had", "note", note)
	}
}

// retryWatcher ends polling if the system has enough watches again.
func (w *watch) retryWatcher() {
	if w.changes() != nil {
		return
	}
	watcher, err := w.x.opt.Watcher()
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir := range w.dirs {
		if err := watcher.Add(dir); err != nil && !isFolderError(err) {
			w.logClose(watcher.Close())
			return
		}
	}
	w.watcher, w.watchErr = watcher, nil
	w.setMode(ModeInotify, "")
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

// rootState tells a root from another folder in its place.
type rootState struct {
	// info identifies the folder; nil if there is none.
	info fs.FileInfo
	// exists, readable and empty describe what is there.
	exists, readable, empty bool
}

// same reports whether nothing happened to a root.
func (a rootState) same(b rootState) bool {
	if a.exists != b.exists || a.readable != b.readable || a.empty != b.empty {
		return false
	}
	return a.info == nil || b.info == nil || os.SameFile(a.info, b.info)
}

// rootStates returns the states of the roots, and of targets that are not their root, by path.
func (x *Indexer) rootStates() map[string]rootState {
	states := map[string]rootState{}
	for _, t := range x.layout.targets {
		for _, dir := range []string{t.root, t.abs()} {
			if _, ok := states[dir]; !ok && !(t.optional && dir != t.root) {
				states[dir] = stateOfRoot(dir)
			}
		}
	}
	return states
}

func stateOfRoot(dir string) rootState {
	info, err := os.Lstat(dir)
	if err != nil {
		return rootState{}
	}
	if !info.IsDir() {
		return rootState{exists: true} // each save may replace a file by another
	}
	s := rootState{info: info, exists: true}
	if root, err := openRootFolder(dir); err == nil {
		s.readable, s.empty = true, isEmpty(root)
		root.Close()
	}
	return s
}

// checkRoots asks for a full scan if a root went, came back or was replaced, and always while polling.
func (w *watch) checkRoots(now time.Time) {
	// A root that a sync could not read may be back, as the same folder, but without its watches.
	lost := w.x.SyncState().Unavailable
	for dir, was := range w.roots {
		if was.readable && !was.empty && slices.Contains(lost, w.x.layout.name(dir)) {
			w.roots[dir] = rootState{}
		}
	}
	roots := w.x.rootStates()
	if !maps.EqualFunc(w.roots, roots, rootState.same) {
		w.roots = roots
		w.reopenWatcher()
		w.wantFullScan(now)
	}
	if w.changes() == nil {
		w.wantFullScan(now)
	}
}

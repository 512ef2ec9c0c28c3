package indexer

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher is a source of file events.
type Watcher interface {
	// Add watches the entries of a folder. To watch it again is no error, also after another took its place.
	Add(dir string) error
	// Remove ends that; a folder that is not watched is no error.
	Remove(dir string) error
	// Changes sends what happens, in order, and is closed by Close.
	Changes() <-chan Change
	Close() error
}

// Change is a hint that something happened in a watched folder.
type Change struct {
	// Path of the file or folder, absolute.
	Path string
	// Gone says that the path was removed or renamed; something else may be there by now.
	Gone bool
	// Err says that changes were lost; then nothing else is set.
	Err error
}

// maxQueued is how many changes wait for a slow reader before they are given up for a full scan.
const maxQueued = 1 << 16

// fsWatcher is the Watcher of the operating system.
type fsWatcher struct {
	w   *fsnotify.Watcher
	out chan Change
	wg  sync.WaitGroup
}

func newFSWatcher() (Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	f := &fsWatcher{w: w, out: make(chan Change)}
	f.wg.Go(f.forward)
	return f, nil
}

func (f *fsWatcher) Add(dir string) error { return f.w.Add(dir) }

func (f *fsWatcher) Remove(dir string) error {
	// It can only fail because the folder, and the watch with it, is gone.
	_ = f.w.Remove(dir)
	return nil
}

func (f *fsWatcher) Changes() <-chan Change { return f.out }

func (f *fsWatcher) Close() error {
	err := f.w.Close()
	f.wg.Wait()
	return err
}

// forward brings the two channels of fsnotify into one, until they are closed. It never waits for its own reader
// alone: fsnotify sends some errors while it holds the lock that Add, Remove and Close need.
func (f *fsWatcher) forward() {
	defer close(f.out)
	var queue []Change
	events, errs := f.w.Events, f.w.Errors
	for events != nil {
		var out chan Change
		var first Change
		if len(queue) > 0 {
			out, first = f.out, queue[0]
		}
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			queue = enqueue(queue, Change{Path: ev.Name, Gone: ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)})
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			queue = enqueue(queue, Change{Err: err})
		case out <- first:
			queue = queue[1:]
		}
	}
}

// enqueue appends a change, or puts the news that changes were lost in the place of too many.
func enqueue(queue []Change, c Change) []Change {
	if len(queue) >= maxQueued {
		return []Change{{Err: fsnotify.ErrEventOverflow}}
	}
	return append(queue, c)
}

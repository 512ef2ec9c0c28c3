package indexer

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher is a source of file events.
type Watcher interface {
	// Add watches the entries of a folder. It may be called again for the same path, also if another folder is there now.
	Add(dir string) error
	// Changes returns the channel of changes in order. Close closes it.
	Changes() <-chan Change
	// Close stops watching all folders.
	Close() error
}

// Change is a hint that something happened in a watched folder.
type Change struct {
	// Path is the absolute path of the file or folder.
	Path string
	// Gone is true if the path was removed or renamed. Something else may be there by now.
	Gone bool
	// Err is set if changes were lost; then the other fields are zero. Nil otherwise.
	Err error
}

// maxQueued is how many changes may wait for a slow reader. For more, the reader must scan everything.
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

func (f *fsWatcher) Changes() <-chan Change { return f.out }

func (f *fsWatcher) Close() error {
	err := f.w.Close()
	f.wg.Wait()
	return err
}

// forward merges the two channels of fsnotify into one until they are closed. While it waits for its own reader, it keeps
// receiving: fsnotify sends some errors while it holds the lock that Add and Close need.
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

// enqueue appends a change. It replaces a full queue by one change that says that changes were lost.
func enqueue(queue []Change, c Change) []Change {
	if len(queue) >= maxQueued {
		return []Change{{Err: fsnotify.ErrEventOverflow}}
	}
	return append(queue, c)
}

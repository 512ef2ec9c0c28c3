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

// fsWatcher is the Watcher of the operating system.
type fsWatcher struct {
	w    *fsnotify.Watcher
	out  chan Change
	stop chan struct{}
	wg   sync.WaitGroup
}

func newFSWatcher() (Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	f := &fsWatcher{w: w, out: make(chan Change), stop: make(chan struct{})}
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
	close(f.stop)
	err := f.w.Close()
	f.wg.Wait()
	return err
}

// forward brings the two channels of fsnotify into one.
func (f *fsWatcher) forward() {
	defer close(f.out)
	for {
		var c Change
		select {
		case <-f.stop:
			return
		case ev, ok := <-f.w.Events:
			if !ok {
				return
			}
			c = Change{Path: ev.Name, Gone: ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)}
		case err, ok := <-f.w.Errors:
			if !ok {
				return
			}
			c = Change{Err: err}
		}
		select {
		case f.out <- c:
		case <-f.stop:
			return
		}
	}
}

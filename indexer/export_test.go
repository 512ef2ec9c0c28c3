package indexer

import (
	"github.com/fsnotify/fsnotify"
)

// NewFSWatcher is the default of Options.Watcher.
var NewFSWatcher = newFSWatcher

// NewHeldWatcher is NewFSWatcher, but takes no event from the system before release is called.
func NewHeldWatcher() (w Watcher, release func(), err error) {
	fs, err := fsnotify.NewBufferedWatcher(0)
	if err != nil {
		return nil, nil, err
	}
	f := &fsWatcher{w: fs, out: make(chan Change)}
	return f, func() { f.wg.Go(f.forward) }, nil
}

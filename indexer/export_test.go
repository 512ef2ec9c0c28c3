package indexer

import (
	"context"

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

// SyncPaths syncs as a watch does when these paths changed.
func (x *Indexer) SyncPaths(ctx context.Context, paths ...string) (Report, error) {
	return x.sync(ctx, request{paths: outermost(paths)}, nil)
}

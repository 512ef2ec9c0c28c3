package indexer

// Watcher is a source of file events.
type Watcher interface{}

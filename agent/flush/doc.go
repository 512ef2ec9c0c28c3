// Package flush stores memories before old messages leave the model's window.
//
// Settings.Decide says when: a little before the window is full, once between two compactions, and always before a
// compaction. A Ledger records on disk which flushes were begun and which are done, with the messages to flush, so that
// a crash loses nothing and no note is stored twice. A Runner asks a model for what is worth keeping, and stores it.
package flush

// Package flush stores memories before old messages leave the model's window.
//
// Settings.Decide says when: a little before the window is full, once between two compactions, and always before one. A
// Ledger keeps on disk which flush was begun and which has ended, with the messages that are about to go, so that a crash
// loses nothing and the same notes are not stored twice. A Runner has a model say what is worth keeping, and appends it.
package flush

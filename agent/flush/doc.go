// Package flush stores memories before old messages leave the model's window. DESIGN.md describes it.
//
// Settings.Decide says when. A Ledger records on disk which messages of a session are covered: a model was shown them, and
// the notes that it made of them are in memory. A Runner flushes with a model of the service.
package flush

// Package recall searches memory for a message of a user before a model is asked. It delays a turn up to a deadline and never
// fails one: the [Outcome] says what went wrong.
package recall

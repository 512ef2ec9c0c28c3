// Package recall searches memory for what a user has just said, before a model is asked. It never holds up a turn for
// long and never fails one: what went wrong stands in the [Outcome].
package recall

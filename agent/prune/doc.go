// Package prune shortens old tool results in what is sent to a model, so that a long conversation fits, and the request after
// a pause, for which no prompt cache helps, is small.
//
// [Prune] is a pure function: from messages, settings and a clock it makes a list of edits. [Apply] applies them to a copy.
// The caller records the edits and applies them to every later request, so that the bytes that a provider has cached stay the
// same. The package does not change transcripts.
package prune

// Package prune shortens old tool results in what is sent to a model, so that a long conversation fits and the request
// after a pause, which no prompt cache helps any more, is a small one.
//
// [Prune] is a pure function: from messages, settings and a clock it makes a list of edits. [Apply] carries them out on a
// copy. The caller records the edits and applies them again to every later request, so that the bytes which a provider has
// cached stay the same. Nothing here touches a transcript.
package prune

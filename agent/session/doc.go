// Package session keeps the transcripts of an agent's conversations: a file of JSON lines each, to which is only ever
// appended. What a model is sent follows from the transcript alone ([Session.View]), so that a conversation goes on after
// a crash where it was, with the same bytes.
//
// A transcript holds what was said, and nothing that was put beside it: what was recalled for a turn belongs into the
// system prompt, and [Options.Strip] takes out what comes back all the same.
package session

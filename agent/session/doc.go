// Package session keeps the transcripts of an agent's conversations. A transcript is a file of JSON lines that only grows.
// The messages that a model is sent follow from the transcript ([Session.View]), so that after a crash a conversation
// continues with the same bytes.
//
// A transcript contains only what was said. Recalled memories belong into the system prompt; [Session.Append] removes them
// from messages.
package session

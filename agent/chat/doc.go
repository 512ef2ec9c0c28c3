// Package chat is an agent: it carries on a conversation with a model, with the prompt, the memory and the tools of a
// sidecar, and keeps it in a transcript.
package chat

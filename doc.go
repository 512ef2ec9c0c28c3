// Package kioku is the memory of AI agents: one folder of Markdown and one SQLite index of it for each agent.
//
// [Open] returns a [Memory], which searches, reads, appends, and keeps its index in step with the folder.
// The Markdown is the truth and is only ever appended to, by [Memory.Append]; the index is a cache that can be
// rebuilt at any time, except for embeddings that were paid for, which survive every rebuild.
package kioku

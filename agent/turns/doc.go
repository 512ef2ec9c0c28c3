// Package turns keeps a record of what went into the last prompts of an agent: layers, recalled passages and why, flushes and
// compactions. It contains no text of notes, and messages of users only if the settings say so or a transcript has them anyway.
//
// The record is JSON lines in turns/turns.jsonl of the agent's state folder, 0600. A file that is full becomes turns.1.jsonl, which replaces the one
// before. A record is lost rather than a turn: nothing that happens to the files fails one. A disk that hangs holds it up.
package turns

// Package transcripts reads the transcripts that other agents keep of their conversations: those of Claude Code and of Codex. Both
// are files of JSON lines that only grow. Of a line, only what a person wrote or was answered counts: no tool calls and results, no
// images, no thoughts, no subagents, and no texts that the program itself put in. The formats are not documented by their makers;
// a line that is not understood is left out and counted. So are passwords and keys: a reference stands in the place of each.
package transcripts

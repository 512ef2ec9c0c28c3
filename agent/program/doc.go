// Package program asks the programs of other agents, such as Claude Code, Codex and Gemini CLI, for one reply. A [Preset] says how one of
// them is started; [Agent.Ask] gives it the prompt, the tools that it may call and a folder that is gone afterwards, and reads what it
// prints: the reply, what it has cost, and why it has failed.
package program

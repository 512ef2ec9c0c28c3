// Package prompt makes the system prompt of an agent out of eight layers: identity, soul, tools, skills, memory, the other
// files of the workspace, runtime and channel. The earlier a layer stands, the stronger it is.
//
// [Assemble] is a pure function: the same input makes the same bytes. What was recalled from memory is shown as data,
// inside a frame that its text cannot leave; [memory.StripRecalled] takes such frames out of what is about to be stored.
//
// If the prompt has more tokens than its budget, parts are shortened or left out one after the other, each as far as it
// takes, in this order: HEARTBEAT.md, BOOTSTRAP.md, the skills (first to their names), USER.md, the caller's blocks from
// the last to the first, recalled memories from the worst to the best, MEMORY.md, how to use the memory tools (as a whole:
// the tools say themselves what they are for), AGENTS.md, TOOLS.md, IDENTITY.md, SOUL.md. The rest is small and always
// stays: the one line in place of IDENTITY.md, runtime and channel.
package prompt

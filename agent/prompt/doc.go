// Package prompt assembles the system prompt of an agent from eight layers: identity, soul, tools, skills, memory, the other
// files of the workspace, runtime and channel. An earlier layer takes precedence over a later one.
//
// [Assemble] is a pure function: the same input gives the same bytes. Recalled memories are data, inside a frame that their
// text cannot end; [memory.StripRecalled] removes such frames from text that is stored.
//
// If the prompt exceeds its budget, parts are shortened or left out, one after the other and only as far as necessary, in
// this order: HEARTBEAT.md, BOOTSTRAP.md, the skills (first to their names), USER.md, the caller's blocks from the last to
// the first, recalled memories from the worst to the best, MEMORY.md, the rules for the memory tools (as a whole, because the
// tools describe themselves), AGENTS.md, TOOLS.md, IDENTITY.md, SOUL.md. The rest is small and always stays: the one line
// that replaces IDENTITY.md, runtime and channel.
package prompt

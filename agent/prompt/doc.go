// Package prompt assembles the system prompt of an agent from eight layers: identity, soul, tools, skills, memory, the other
// files of the workspace, runtime and channel. An earlier layer takes precedence over a later one.
//
// In the cache-friendly order, which is the default of Kioku, the eight layers keep their order within what is constant, and what
// changes from turn to turn (the time, recalled memories and the caller's changing blocks) is no part of the prompt: it is
// Result.Turn, a block that the newest message of the user is sent with. So the bytes of a request are the beginning of the next
// one, and a provider's cache has them. The other order has the time in the seventh layer and memories in the fifth.
//
// [Assemble] is a pure function: the same input gives the same bytes. Recalled memories are data, inside a frame that their
// text cannot end; [memory.StripRecalled] removes such frames from text that is stored.
//
// If the prompt exceeds its budget, parts are shortened or left out, one after the other and only as far as necessary, in
// this order: HEARTBEAT.md, BOOTSTRAP.md, the skills (first to their names), USER.md, the caller's blocks from the last to
// the first, recalled memories from the worst to the best, MEMORY.md, the rules for the memory tools (as a whole, because the
// tools describe themselves), AGENTS.md, TOOLS.md, IDENTITY.md, SOUL.md. The rest is small and always stays: the one line
// that replaces IDENTITY.md, runtime and channel. In the cache-friendly order the prompt has seven eighths of the budget, whatever
// is recalled, and the turn block has the rest and what the prompt leaves: in it the caller's changing blocks are cut first, and
// then recalled memories.
package prompt

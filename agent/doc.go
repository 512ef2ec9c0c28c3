// Package agent is an agent with a memory in one call: [New] opens the memory of a workspace and begins a conversation with a
// model. [Agent.Turn] answers a message, with the prompt, recall, tools, pruning, flush and compaction that the packages
// below this one provide. A program that asks its model itself calls [Agent.Before] before each request and [Agent.After]
// after each answer instead.
//
// Only this package opens a memory. Those below it need no cgo and no index: they work with any memory.Service, such as a
// client.Client of a running kioku serve, which [Options] takes too.
package agent

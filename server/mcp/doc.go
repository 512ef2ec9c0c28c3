// Package mcp serves a memory over the Model Context Protocol: five tools, the curated notes as resources, and two prompts.
//
// It has no engine of its own. Everything that it does is a call of MemoryService or AgentService, with the rights of
// whoever makes it. [New] returns a server of one session, for a transport such as standard input and output; [NewHandler] serves
// many sessions over HTTP.
package mcp

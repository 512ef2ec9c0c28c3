// Package server serves memories over gRPC: kioku.v1.MemoryService, kioku.v1.AgentService for agents with sidecars, the
// standard health service and reflection.
//
// One set of handlers serves all callers. A [Server] listens on its listeners ([ListenUnix], [ListenTCP]), and
// [Server.Local] calls the same handlers in this process, as functions. Handlers return the errors of memories and sidecars
// unchanged. The code in call.go around every handler admits the call, checks its token, returns errors as statuses,
// recovers from panics and makes every text of a response valid UTF-8. DESIGN.md explains how clients share the server.
package server

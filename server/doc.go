// Package server serves memories over gRPC: kioku.v1.MemoryService, kioku.v1.AgentService for agents with sidecars, the
// standard health service and reflection.
//
// One set of handlers serves all callers. A [Server] listens on its listeners ([ListenUnix], [ListenTCP]), and
// [Server.Local] calls the same handlers in this process, as functions. Handlers return the errors of memories and sidecars
// unchanged. The interceptors in call.go return them as statuses, recover from panics, check tokens and make every text
// of a response valid UTF-8.
package server

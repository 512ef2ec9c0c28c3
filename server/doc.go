// Package server serves memories and the sidecars of agents: over gRPC as kioku.v1.MemoryService, kioku.v1.AgentService, the
// standard health service and reflection, and on the same ports over HTTP, whose doors are below this package.
//
// One set of handlers serves all callers. A [Server] listens on its listeners ([ListenUnix], [ListenTCP], [ListenOn]). What
// answers HTTP ([Server.HandleHTTP]) calls the same services by [Server.Conn], on behalf of the client of its request, and
// [Server.Local] calls them for the owner of the process. Handlers return the errors of memories and sidecars unchanged. The
// code in call.go around every handler checks the token of a call, admits it, returns errors as statuses, recovers from panics
// and makes every text of a response valid UTF-8. DESIGN.md explains how protocols share a port and clients the server.
package server

// Package server answers for memories over gRPC: kioku.v1.MemoryService, kioku.v1.AgentService where sidecars run beside
// the agents, the standard health service and reflection.
//
// One set of handlers serves every way in. A [Server] listens where its listeners say ([ListenUnix], [ListenTCP]),
// and [Server.Local] calls the same handlers inside of the process, as functions. Handlers return the errors
// of the engine and of the sidecars as they are; interceptors, one a file, turn them into statuses, keep panics away from
// the process, check tokens and see to it that every text that leaves is valid UTF-8.
package server

// Package server answers for memories over gRPC: kioku.v1.MemoryService, the standard health service and reflection.
//
// One set of handlers serves every way in. A [Server] listens where its listeners say ([ListenUnix], [ListenTCP]),
// and [Server.Local] reaches the same handlers inside of the process. Handlers return the engine's errors as they
// are; interceptors, one a file, turn them into statuses, keep panics away from the process, check tokens and see
// to it that every text that leaves is valid UTF-8.
package server

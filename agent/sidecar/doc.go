// Package sidecar runs beside one agent: it combines prompt, recall, pruning, flush and compaction with the settings, the
// workspace and the memory of that agent. The gRPC AgentService and package chat use it.
package sidecar

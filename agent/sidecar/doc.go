// Package sidecar is what runs beside one agent: it joins prompt, recall, pruning, flush and compaction with the settings,
// the workspace and the memory of that agent. The gRPC AgentService and package chat are made of it.
package sidecar

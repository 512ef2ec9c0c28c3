package store

import (
	"time"

	"kioku/memory"
)

// Lines are lines of a file of the index, from the first to the last one, from 1.
type Lines struct {
	// Path of the file.
	Path string `json:"path"`
	// From is the first line.
	From int `json:"from"`
	// To is the last line.
	To int `json:"to"`
}

// ScoredUnit is a unit that matches a query.
type ScoredUnit struct {
	memory.Unit
	// Score in [0,1], relative to the best match.
	Score float64
}

// EntityQuery asks for entities.
type EntityQuery struct {
	// Norms of names and aliases (vocab.Norm).
	Norms []string
	// UIDs or their beginnings.
	UIDs []string
	// Type of the entities; empty means all.
	Type string
	// Limit is the maximum number; 0 means 100.
	Limit int
	// MaxSensitivity is the ceiling of the episodes that mention them, and that have their names.
	MaxSensitivity memory.Sensitivity
	// Relations says that the relations of the entities are wanted too.
	Relations bool
}

// Statuses of jobs.
const (
	JobQueued  = "queued"
	JobRunning = "running"
	JobDone    = "done"
	JobParked  = "parked"
	JobDropped = "dropped"
)

// Job is a task for the worker that asks a model.
type Job struct {
	// ID of the job, 0 before it is enqueued.
	ID int64
	// Kind is "extract", "summary" ...; Key tells jobs of a kind apart, of which one is live at a time.
	Kind, Key string
	// Input is JSON.
	Input string
	// InputSHA256 is the hash of what the answer depends on.
	InputSHA256 [32]byte
	// Status is one of the constants Job....
	Status string
	// Priority, lower first; then OrderAt, then ID.
	Priority int
	// RunAfter is when it is due, OrderAt its place among due ones, LeaseUntil when its lease ends.
	RunAfter, OrderAt, LeaseUntil time.Time
	// Owner of the lease.
	Owner string
	// Tries is how often it was claimed.
	Tries int
	// ErrorClass ("contract", "refused", "crash_loop" ...) and LastError, with the raw answer, bounded and without secrets.
	ErrorClass, LastError string
	// TokensIn and TokensOut that it has used.
	TokensIn, TokensOut int
	// CreatedAt and UpdatedAt.
	CreatedAt, UpdatedAt time.Time
}

// Stats are the totals of what is derived.
type Stats struct {
	// Episodes in the index; Pending have no claims by rule yet, Uncut counts files that are not cut into episodes.
	Episodes, Pending, Uncut int
	// Secret and Private episodes among them.
	Secret, Private int
	// Units by kind and state ("fact/validated").
	Units map[string]int
	// Entities by type.
	Entities map[string]int
	// DirtySlots wait for their units.
	DirtySlots int
	// Jobs by status.
	Jobs map[string]int
	// Oldest is when the oldest queued job was made.
	Oldest time.Time
	// TokensToday and CallsToday of all models, CallsThisHour, and CachedAnswers.
	TokensToday, CallsToday, CallsThisHour, CachedAnswers int
	// Dropped counts items of models that were rejected, by reason.
	Dropped map[string]int
}

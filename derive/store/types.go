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

// Job is a task of a model that has failed for good and waits for a person.
type Job struct {
	// ID of the job, 0 before it is parked.
	ID int64
	// Kind is "extract" or "summary"; Key tells jobs of a kind apart.
	Kind, Key string
	// Input is JSON: what the answer depends on.
	Input string
	// ErrorClass ("contract", "refused" ...) and LastError, with the raw answer, bounded and without secrets.
	ErrorClass, LastError string
	// ParkedAt is when it was parked.
	ParkedAt time.Time
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
	// Jobs by status, which is "parked".
	Jobs map[string]int
	// TokensToday and CallsToday of all models, CallsThisHour, and CachedAnswers.
	TokensToday, CallsToday, CallsThisHour, CachedAnswers int
	// Dropped counts items of models that were rejected, by reason.
	Dropped map[string]int
	// Problem says why the model was not reached when it was last asked, and NextTry when it is asked again; empty if it was reached.
	Problem string
	NextTry time.Time
}

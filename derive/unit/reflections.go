package unit

import (
	"time"

	"kioku/memory"
)

// ReflectionFilter selects what a model thinks of episodes.
type ReflectionFilter struct {
	// From and To (YYYY-MM-DD) bound the days, To included; empty means no bound.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Limit of the number of episodes, at most 1,000; 0 means 100.
	Limit int `json:"limit,omitempty"`
}

// Reflections is what a model thinks of episodes, and the moods of their days.
type Reflections struct {
	// Reflections are the latest first.
	Reflections []EpisodeReflection `json:"reflections"`
	// Days are in order.
	Days []DayMood `json:"days"`
}

// EpisodeReflection is what a model thinks of an episode.
type EpisodeReflection struct {
	// Episode is its UID, and Path with the lines where it is.
	Episode   string `json:"episode"`
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	// Date of the episode; empty if it has none.
	Date string    `json:"date,omitempty"`
	At   time.Time `json:"at,omitzero"`
	memory.Reflection
}

// DayMood sums up the reflections about a day.
type DayMood struct {
	Date string `json:"date"`
	// Mood is the mean of the emotions in [-1,1], each by the confidence of its reflection: joy is above zero, sadness, anger and fear are
	// below.
	Mood float64 `json:"mood"`
	// Emotions counts the episodes by label.
	Emotions map[string]int `json:"emotions"`
}

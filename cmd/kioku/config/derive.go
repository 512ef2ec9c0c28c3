package config

import "time"

// Derive are the settings of what is derived from notes: facts, open loops and summaries.
type Derive struct {
	// Enabled is true if anything is derived.
	Enabled bool
	// Model that derives: "none" for rules only, "default" for the language model of chat, else the name of another model of its
	// provider.
	Model string
	// MaxSensitivity is the ceiling of what a model is sent: "normal", "private", or "auto" for private if its server is on this
	// machine, else normal.
	MaxSensitivity string
	// MaxTokensPerDay bounds what the model of all processes together may cost.
	MaxTokensPerDay int
	// Reflect asks the model for its reflections about episodes too.
	Reflect bool
	// ExportDir is the folder of the views in the workspace; empty writes none.
	ExportDir string
	// Private are globs of paths whose episodes are private.
	Private []string
	// Predicates are further predicates of facts by name, each with its class: "set", "exclusive" or "event".
	Predicates map[string]string
	// Recall is how long the model may take to phrase further queries of a recall, and to choose among what was found; 0 does not ask it.
	Recall time.Duration
}

// Values of derive.llm.model that are no names of models.
const (
	// DeriveNoModel derives by rules only.
	DeriveNoModel = "none"
	// DeriveDefaultModel derives by the model of llm.model.
	DeriveDefaultModel = "default"
)

// defaultDerive returns the settings of a run that nobody configured.
func defaultDerive() Derive {
	return Derive{
		Model: DeriveNoModel, MaxSensitivity: "auto", MaxTokensPerDay: 200_000,
		ExportDir: "derived", Predicates: map[string]string{},
	}
}

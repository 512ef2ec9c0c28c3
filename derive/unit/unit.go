package unit

import (
	"time"

	"kioku/memory"
)

// Line is a line of an episode as a model may read it.
type Line struct {
	// Number of the line in the file or the episode, from 1: several lines may have the number of one line of a transcript.
	Number int
	// Speaker of the line: one of the constants memory.Speaker..., or the name of somebody else.
	Speaker string
	// Text without marks of Kioku and comments.
	Text string
}

// EpisodeText is an episode with its text.
type EpisodeText struct {
	memory.Episode
	// Lines without what was recalled. Those of tools are in no prompt, and no claim can cite them.
	Lines []Line
}

// EpisodeClaims are the mentions and claims of one episode.
type EpisodeClaims struct {
	// Episode whose text they were made from, by UID and TextSHA256.
	Episode memory.Episode
	// Maker is "rule", or the contract and the model as in Claim. An episode counts as read by it even if nothing was found.
	Maker string
	// Reflection is what a model thinks of the episode: a JSON object with its "salience" in [0,1]; empty if it was not asked.
	Reflection string
	// Mentions of entities.
	Mentions []Mention
	// Claims with lines relative to the episode.
	Claims []Claim
}

// Slot is what units are made from: all claims that meet in it, and the decisions about it.
type Slot struct {
	// Kind is memory.KindFact or memory.KindLoop.
	Kind string
	// Subject of facts, canonical after merges; the zero value for loops.
	Subject memory.EntityRef
	// Name is the slot of the predicate for facts, and the key of a loop.
	Name string
	// Claims in no order that means anything.
	Claims []Claim
	// Decisions about the units and keys of the slot, in the order of decisions.md.
	Decisions []Decision
	// Now is the time of the resolution.
	Now time.Time
}

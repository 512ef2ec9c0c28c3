package unit

import (
	"encoding/json"
	"time"

	"kioku/memory"
)

// Entity is somebody or something that notes are about.
type Entity struct {
	// ID in the index, 0 if not stored.
	ID int64 `json:"-"`
	// UID is a hash of type, norm and qualifier, in hexadecimal digits.
	UID string `json:"id"`
	// Type is PERSON, PLACE, PROJECT, WORK, TOPIC, ORG or OTHER, or one that the settings add.
	Type string `json:"type"`
	// Name as it is shown.
	Name string `json:"name"`
	// Qualifier tells two entities of one name apart; empty for the first.
	Qualifier string `json:"qualifier,omitempty"`
	// Aliases as they are written in notes.
	Aliases []string `json:"aliases,omitempty"`
	// MergedInto is the UID of the entity that stands for this one: a person has merged them, or notes say that this is another name
	// of it; empty if none.
	MergedInto string `json:"merged_into,omitempty"`
	// Mentions is the number of episodes that mention it.
	Mentions int `json:"mentions"`
	// LastSeen is the time of the newest of them.
	LastSeen time.Time `json:"last_seen,omitzero"`
	// Relations that it has to others, those that most episodes tell first; at most 20, and none unless they were asked for.
	Relations []Relation `json:"relations,omitempty"`
}

// Relation is how two entities are related, as notes say.
type Relation struct {
	// Source and Target are the names of the entities, and Kind is what Target is to Source: friend, family, partner, likes ....
	Source string `json:"source"`
	Kind   string `json:"kind"`
	Target string `json:"target"`
	// Citation is a line that says it, "memory/2026-03-02.md#L7".
	Citation string `json:"citation"`
	// Episodes is the number of episodes that say it.
	Episodes int `json:"episodes"`
}

// Mention says that an episode mentions an entity.
type Mention struct {
	// Entity that is mentioned.
	Entity memory.EntityRef
	// Aliases by which the entity is called beside its name. Where a person has written them, an entity with such a name is this one.
	Aliases []string
	// Likely are further names by which it is likely called, such as the first name of somebody: people are asked.
	Likely []string
	// Role is "mentioned", "subject" or "author".
	Role string
	// Confidence in [0,1].
	Confidence float64
}

// Kinds of claims.
const (
	// ClaimFact says that something holds.
	ClaimFact = "fact"
	// ClaimLoop says that something is open.
	ClaimLoop = "loop"
	// ClaimClose says that something that was open is done.
	ClaimClose = "close"
	// ClaimRelation says how two entities are related.
	ClaimRelation = "relation"
)

// Claim is what one episode says: the evidence of units. Units are a function of all claims and of what people have decided,
// whatever the order in which the claims came.
type Claim struct {
	// Kind is one of the constants Claim....
	Kind string
	// EpisodeID of the episode that says it.
	EpisodeID int64
	// EpisodeUID of it.
	EpisodeUID string
	// Maker is "rule", or the contract and the model, "facts/1 model-name".
	Maker string
	// StartLine and EndLine are the cited lines, relative to the episode, from 1.
	StartLine, EndLine int
	// Quote is what stands there literally, apart from white space and Unicode normalisation; at most 200 characters.
	Quote string
	// Speaker of the cited lines.
	Speaker string
	// LongTerm is that of the episode: the claim stands in a file of what stays true.
	LongTerm bool
	// Confidence of the claim in [0,1], before speakers and repetitions count.
	Confidence float64
	// At is the time of the episode; zero if it has none.
	At time.Time
	// Sensitivity of the episode, at least.
	Sensitivity memory.Sensitivity

	// Subject of a fact or relation.
	Subject memory.EntityRef
	// Predicate of a fact, or the kind of relation.
	Predicate string
	// Object of a fact, as it was said.
	Object string
	// ObjectEntity of a relation, and of a fact whose object is an entity; else nil.
	ObjectEntity *memory.EntityRef
	// From and To (YYYY, YYYY-MM or YYYY-MM-DD) bound when a fact holds in the world, To excluded; empty for no bound.
	From, To string

	// LoopText is what is open, or what was done.
	LoopText string
	// Due (YYYY-MM-DD) is when it is due, empty if not known.
	Due string
	// Closes is the key of the loop that a ClaimClose closes.
	Closes string
}

// Version is one state that a unit was in.
type Version struct {
	// UID of the unit.
	UID string `json:"id"`
	// Version is the number of the version, from 1.
	Version int `json:"version"`
	// Reason is why it changed: "claims", "decision", "expired", or "rules" if the program or the vocabulary is another one.
	Reason string `json:"reason"`
	// Payload is the canonical JSON of the unit, without evidence.
	Payload string `json:"-"`
	// Unit is that unit, as the service that derives has read it; the zero value in the index.
	Unit memory.Unit `json:"unit"`
	// Model and Contract that made it, empty for a rule.
	Model    string `json:"model,omitempty"`
	Contract string `json:"contract,omitempty"`
	// RecordedAt is the time of the change.
	RecordedAt time.Time `json:"recorded_at"`
}

// Was returns the unit that a version has stored.
func (v Version) Was() (u memory.Unit, err error) {
	err = json.Unmarshal([]byte(v.Payload), &u)
	return u, err
}

// Decision is what a person has decided about a unit or an entity: a line of derived/decisions.md, the truth about it.
type Decision struct {
	// Line of decisions.md, from 1.
	Line int
	// Day (YYYY-MM-DD) of the decision.
	Day string
	// Verb is one of the constants Decide....
	Verb string
	// Kind is KindFact, KindLoop, KindSummary or "entity".
	Kind string
	// Target is the UID of the unit or entity, or the hash of the key that is forgotten.
	Target string
	// Other is the UID of the entity that Target is merged into, or the UIDs, with commas between them, of the facts over which a
	// pinned fact holds; empty for other verbs.
	Other string
	// Change is what a correction sets, one JSON object; empty for other verbs.
	Change string
	// Note for people; may be empty.
	Note string
}

// Verbs of decisions.
const (
	DecidePin     = "pin"
	DecideUnpin   = "unpin"
	DecideForget  = "forget"
	DecideCorrect = "correct"
	DecideClose   = "close"
	DecideReopen  = "reopen"
	DecideMerge   = "merge"
	DecideSplit   = "split"
	// DecideUndo takes the last decision about a unit back.
	DecideUndo = "undo"
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
	// Reflection is what a model thinks of the episode; nil if it was not asked.
	Reflection *memory.Reflection
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

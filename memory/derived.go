package memory

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Kinds of what a search finds.
const (
	// KindChunk is a passage of a file.
	KindChunk = "chunk"
	// KindFact is a fact that was derived from episodes.
	KindFact = "fact"
	// KindLoop is something that is still to be done or answered.
	KindLoop = "loop"
	// KindSummary is a summary of episodes.
	KindSummary = "summary"
)

// Sensitivity says who may see a text.
type Sensitivity int

// Sensitivities, each of which includes the ones before it when it is a ceiling.
const (
	// Normal may be shown in groups and sent to models on other machines.
	Normal Sensitivity = iota
	// Private is shown only to the owner of the memory.
	Private
	// Secret never leaves the machine and is shown only if it is asked for.
	Secret
)

// String returns "normal", "private" or "secret".
func (s Sensitivity) String() string {
	switch s {
	case Private:
		return "private"
	case Secret:
		return "secret"
	}
	return "normal"
}

// MarshalText implements encoding.TextMarshaler.
func (s Sensitivity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sensitivity) UnmarshalText(name []byte) error {
	to, ok := ParseSensitivity(string(name))
	if !ok {
		return fmt.Errorf("%.20q is no sensitivity; it is normal, private or secret", name)
	}
	*s = to
	return nil
}

// UnmarshalJSON implements json.Unmarshaler. What was stored before sensitivities had names in JSON has numbers.
func (s *Sensitivity) UnmarshalJSON(data []byte) error {
	if n, err := strconv.Atoi(string(data)); err == nil {
		*s = Sensitivity(n)
		return nil
	}
	return s.UnmarshalText(bytes.Trim(data, `"`))
}

// States of a unit.
const (
	// StateValidated is a unit that holds.
	StateValidated = "validated"
	// StateSuperseded is a fact that a later one has taken the place of.
	StateSuperseded = "superseded"
	// StateConflict is a fact that contradicts another one, and neither wins by rule.
	StateConflict = "conflict"
	// StateArchived is a loop that is closed or has expired.
	StateArchived = "archived"
	// StateOrphaned is a unit without evidence. No search finds it.
	StateOrphaned = "orphaned"
)

// Speakers of a line. A line of somebody else has the name of that person.
const (
	// SpeakerNote is a person who wrote a note by hand.
	SpeakerNote = "note"
	// SpeakerUser is the owner of the memory in a conversation.
	SpeakerUser = "user"
	// SpeakerAssistant is the agent.
	SpeakerAssistant = "assistant"
	// SpeakerTool is the result of a tool, a quotation or an imported text.
	SpeakerTool = "tool"
)

// UserName is the name of the entity of type PERSON that stands for the owner of the memory.
const UserName = "USER"

// SourceFile is the text of one indexed file, as episodes are cut from it.
type SourceFile struct {
	// Path in the index, and the source, one of the constants Source....
	Path, Source string
	// Date (YYYY-MM-DD) of the file, empty if it has none.
	Date string
	// Data is the whole file as it is on the disk, front matter, marks and all.
	Data []byte
	// SHA256 of Data.
	SHA256 [32]byte
}

// Episode is a settled span of lines of a file, from which facts, loops and names are drawn.
type Episode struct {
	// ID in the index; 0 if it is not stored yet. It does not survive a rebuild; UID does.
	ID int64
	// UID is a hash of the normalised text, the date and the ordinal among equals, in hexadecimal digits.
	UID string
	// Path and Source of the file.
	Path, Source string
	// StartLine and EndLine are the first and the last line in the file, from 1.
	StartLine, EndLine int
	// TextSHA256 of the lines as they stand in the file, joined by "\n".
	TextSHA256 [32]byte
	// Date (YYYY-MM-DD) of the episode, empty if it has none.
	Date string
	// OccurredAt is the time of the episode: of its entry or message, else noon of Date, else zero.
	OccurredAt time.Time
	// Heading is the headings above it, "# Projects > ## Acme"; empty if there are none.
	Heading string
	// Speakers of its lines, each once, in the order in which they first speak.
	Speakers []string
	// Trust is the least of what its speakers are trusted with: SpeakerNote, SpeakerUser, SpeakerAssistant or SpeakerTool.
	Trust string
	// Sensitivity of the episode.
	Sensitivity Sensitivity
	// Salience in [0,1] by rule: how much the episode matters.
	Salience float64
	// LongTerm reports that the file is one of what stays true (MEMORY.md, USER.md), of which each bullet is an episode.
	LongTerm bool
}

// WithheldLine stands in place of a line that lies above a ceiling of sensitivity.
const WithheldLine = "[withheld]"

// HasLinesOf reports whether a hit has lines of an episode of its file.
func (h Hit) HasLinesOf(e Episode) bool { return e.StartLine <= h.EndLine && h.StartLine <= e.EndLine }

// EntityRef names an entity in a claim.
type EntityRef struct {
	// Type and Name as in Entity. The owner of the memory is PERSON, UserName.
	Type string `json:"type"`
	Name string `json:"name"`
	// Qualifier as in Entity; mostly empty.
	Qualifier string `json:"qualifier,omitempty"`
}

// Unit is a remembered thing that was derived from claims or episodes.
type Unit struct {
	// ID in the index; 0 if it is not stored.
	ID int64 `json:"-"`
	// UID names the unit for people and in decisions; it survives rebuilds. Hexadecimal digits.
	UID string `json:"id"`
	// Kind is KindFact, KindLoop or KindSummary.
	Kind string `json:"kind"`
	// State is one of the constants State....
	State string `json:"state"`
	// Text is the unit as one sentence, as a service tells it; empty in the index.
	Text string `json:"text,omitempty"`
	// OccurredAt is the time of the newest evidence; RecordedAt when the unit was first derived, ChangedAt when it last changed.
	OccurredAt time.Time `json:"occurred_at,omitzero"`
	RecordedAt time.Time `json:"recorded_at,omitzero"`
	ChangedAt  time.Time `json:"changed_at,omitzero"`
	// Source is "rule", "model" or "person": who has said it last.
	Source string `json:"source"`
	// Trust is the best speaker of its evidence: SpeakerNote, SpeakerUser, SpeakerAssistant or SpeakerTool.
	Trust string `json:"trust"`
	// Confidence and Salience in [0,1].
	Confidence float64 `json:"confidence"`
	Salience   float64 `json:"salience"`
	// Sensitivity is the greatest of its evidence, unless a person has decided otherwise.
	Sensitivity Sensitivity `json:"sensitivity"`
	// Pinned by a person.
	Pinned bool `json:"pinned"`
	// Version counts the changes, from 1.
	Version int `json:"version"`
	// Fact of a unit of KindFact, else nil.
	Fact *Fact `json:"fact,omitempty"`
	// Loop of a unit of KindLoop, else nil.
	Loop *Loop `json:"loop,omitempty"`
	// Summary of a unit of KindSummary, else nil.
	Summary *Summary `json:"summary,omitempty"`
	// Evidence of the unit, best first; never empty unless the state is StateOrphaned.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// unitHalfLife is the age at which a unit is half as recent.
const unitHalfLife = 30 * 24 * time.Hour

// Worth returns how much a unit is worth a place in a prompt at a time, in [0,1]: .45 confidence + .25 salience + .20 recency + .10 pin.
func (u Unit) Worth(now time.Time) float64 {
	w := 0.45*u.Confidence + 0.25*u.Salience
	if !u.OccurredAt.IsZero() {
		w += 0.20 * math.Exp2(-max(now.Sub(u.OccurredAt), 0).Hours()/unitHalfLife.Hours())
	}
	if u.Pinned {
		w += 0.10
	}
	return w
}

// Fact says something about an entity.
type Fact struct {
	// Subject that it is about.
	Subject EntityRef `json:"subject"`
	// Predicate says what about it.
	Predicate string `json:"predicate"`
	// Slot is the predicate under which opposed ones meet. Facts of one subject and slot can contradict each other.
	Slot string `json:"slot,omitempty"`
	// Key is the hash of subject, predicate and normalised object.
	Key string `json:"key"`
	// Object as it was said.
	Object string `json:"object"`
	// ObjectEntity is the entity that the object is, nil if it is none.
	ObjectEntity *EntityRef `json:"object_entity,omitempty"`
	// From and To (YYYY-MM-DD or shorter) are when it holds in the world, To excluded; empty for no known bound.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// EffectiveAt is From, else the time of its first evidence.
	EffectiveAt time.Time `json:"effective_at,omitzero"`
	// SupersededBy is the UID of the fact that has taken its place; empty if none has.
	SupersededBy string `json:"superseded_by,omitempty"`
	// Opposes are the UIDs of the facts that it is in conflict with.
	Opposes []string `json:"conflicts,omitempty"`
}

// Statuses of a loop.
const (
	LoopOpen    = "open"
	LoopClosed  = "closed"
	LoopExpired = "expired"
)

// Loop is something that is still to be done or answered.
type Loop struct {
	// Key is the hash of the normalised text.
	Key string `json:"key"`
	// Status is LoopOpen, LoopClosed or LoopExpired.
	Status string `json:"status"`
	// Text of what is open.
	Text string `json:"text"`
	// Due (YYYY-MM-DD), empty if not known.
	Due string `json:"due,omitempty"`
	// OpenedAt is the time of the first evidence; zero if not known. ExpiresAt is zero for a loop that does not expire. ClosedAt
	// is zero unless it is closed.
	OpenedAt  time.Time `json:"opened_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
}

// Scopes of summaries.
const (
	ScopeWeekly       = "weekly"       // the key is an ISO week, 2026-W47
	ScopeRolling      = "rolling"      // the key is "7d"
	ScopePerson       = "person"       // the key is the UID of the entity
	ScopeTopic        = "topic"        // the key is the UID of the entity
	ScopeRelationship = "relationship" // of user and agent; the key is an ISO week
)

// Summary of episodes.
type Summary struct {
	// Scope is one of the constants Scope....
	Scope string `json:"scope"`
	Key   string `json:"key"` // which one of its scope
	// Name of the person or topic, set by what lists units; empty for other scopes, and for one that may not be shown.
	Name string `json:"name,omitempty"`
	// From and To are the days (YYYY-MM-DD) that it is about, both inclusive; empty if it has none.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Text string `json:"text"` // of the summary
	// Events are the episodes that matter most.
	Events []KeyEvent `json:"events,omitempty"`
	// State of the relationship or notes about the person or topic; may be empty.
	Relationship string `json:"relationship,omitempty"`
	// InputSHA256 is the hash of what it was made from, in hexadecimal digits.
	InputSHA256 string `json:"input_sha256,omitempty"`
	// Stale reports that the episodes have changed since.
	Stale bool `json:"stale,omitempty"`
}

// KeyEvent is an episode that a summary cites.
type KeyEvent struct {
	// EpisodeUID of the episode.
	EpisodeUID string `json:"episode,omitempty"`
	// Why it matters, or its quoted first sentence.
	Why string `json:"why"`
}

// Evidence is where a unit is from. The lines are those of the file now.
type Evidence struct {
	// EpisodeUID of the episode.
	EpisodeUID string `json:"episode,omitempty"`
	// Path of the file.
	Path string `json:"path"`
	// StartLine and EndLine in the file, from 1. In what package resolve returns they are relative to the episode.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Quote is what stands there.
	Quote string `json:"quote"`
	// Speaker of the lines.
	Speaker string `json:"speaker"`
	// Maker as in Claim.
	Maker string `json:"maker"`
	// Confidence of the claim.
	Confidence float64 `json:"confidence"`
	// At is the time of the episode; zero if it has none.
	At time.Time `json:"at,omitzero"`
	// Reflection is what a model thinks of the episode; nil if none was asked.
	Reflection *Reflection `json:"reflection,omitempty"`
}

// Emotions are the labels of a reflection.
var Emotions = []string{"joy", "sadness", "anger", "fear", "neutral"}

// Reflection is what a model thinks of an episode. It orders what is remembered; it is evidence of nothing.
type Reflection struct {
	Text string `json:"reflection_text"` // at most 600 characters
	// Emotion is one of Emotions, and Intensity how strong it is, in [0,1].
	Emotion   string  `json:"emotion_label"`
	Intensity float64 `json:"emotion_intensity"`
	// Salience says how much the episode matters, and Confidence how sure the model is, both in [0,1].
	Salience   float64  `json:"salience_score"`
	Confidence float64  `json:"confidence"`
	Tags       []string `json:"topic_tags"` // at most 8, each once, in alphabetical order
}

// Mood is the emotion as a number in [-1,1]: joy is above zero, sadness, anger and fear are below.
func (r Reflection) Mood() float64 {
	sign := map[string]float64{"joy": 1, "sadness": -1, "anger": -1, "fear": -1}
	return sign[r.Emotion] * r.Intensity
}

// UnitQuery asks for units.
type UnitQuery struct {
	// Kinds to return; none means facts, loops and summaries.
	Kinds []string
	// UIDs to return, whole or their beginnings of at least 6 digits; none means all.
	UIDs []string
	// Entity is the UID of an entity: units about it or that mention it; empty means all.
	Entity string
	// Predicate of facts; empty means all.
	Predicate string
	// States to return; none means those that hold now: validated facts, open loops, summaries, and conflicts.
	States []string
	// AsOf asks for what held in the world at that time; zero means now.
	AsOf time.Time
	// BelievedAt asks for what was derived by that time; zero means now.
	BelievedAt time.Time
	// IncludeSuperseded also returns facts that others have taken the place of, and loops that are closed or expired.
	IncludeSuperseded bool
	// MaxSensitivity is the ceiling; units above it are not returned.
	MaxSensitivity Sensitivity
	// Filter of the evidence, of which the days are those of the episodes. Evidence that it leaves out is not returned, nor are units
	// without other evidence, and summaries that were made from any that it leaves out.
	Filter Filter
	// After is the UID behind which the list continues; empty for the start.
	After string
	// Limit is the maximum number of units, at most 1,000; 0 means 100.
	Limit int
}

// UnitList is a part of the units of a memory: conflicts first, then pinned ones, then the newest.
type UnitList struct {
	// Units; none if none is selected.
	Units []Unit `json:"units"`
	// Total is the number of all units that the query selects; Withheld how many more lie above the ceiling.
	Total    int `json:"total"`
	Withheld int `json:"withheld"`
	// Next is the UID to continue after, empty at the end.
	Next string `json:"next,omitempty"`
}

// Turn is one message of a conversation, for a search with context.
type Turn struct {
	// Speaker is SpeakerUser or SpeakerAssistant.
	Speaker string `json:"speaker"`
	// Text of the message.
	Text string `json:"text"`
}

// Citation returns "path#L3-L9", or "path#L3" for one line.
func (e Evidence) Citation() string {
	if e.EndLine <= e.StartLine {
		return fmt.Sprintf("%s#L%d", e.Path, e.StartLine)
	}
	return fmt.Sprintf("%s#L%d-L%d", e.Path, e.StartLine, e.EndLine)
}

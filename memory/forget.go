package memory

import "time"

// Forget asks for something to be forgotten, or corrected, wherever it is said. With Text it finds the places that say it, and changes
// nothing; with Places it forgets these; with Undo it takes that back; with List it tells what was forgotten.
type Forget struct {
	// Text says in words what to forget.
	Text string `json:"text,omitempty"`
	// Places of an answer are forgotten, with every other sentence of the notes in the same words.
	Places []string `json:"places,omitempty"`
	// NewText takes the place of the first of them; empty forgets it.
	NewText string `json:"new_text,omitempty"`
	// Reason is why, recorded with the text before; at most 1,000 characters.
	Reason string `json:"reason,omitempty"`
	// Undo is the id of what was forgotten.
	Undo string `json:"undo,omitempty"`
	// List asks for what was forgotten before.
	List bool `json:"list,omitempty"`
	// Source is who asks, one of the constants NoteFrom...; empty records nothing.
	Source string `json:"source,omitempty"`
}

// ForgottenPlace is a sentence that says what is to be forgotten.
type ForgottenPlace struct {
	// Place names it, for Forget.Places.
	Place string `json:"place"`
	// Path of the file and the line, from 1.
	Path string `json:"path"`
	Line int    `json:"line"`
	// Text of the sentence.
	Text string `json:"text"`
	// Kind says what becomes of it, one of the constants Place....
	Kind string `json:"kind"`
	// Weak says that it is not certain that it was meant.
	Weak bool `json:"weak,omitempty"`
}

// Kinds of places.
const (
	// PlaceNote is removed from the file.
	PlaceNote = "note"
	// PlaceOther stays in a file that Kioku does not change, such as a transcript, and is not shown any more.
	PlaceOther = "other"
	// PlaceDerived is something that was derived from notes, and goes with them.
	PlaceDerived = "derived"
)

// Forgotten says what was forgotten, or would be.
type Forgotten struct {
	// ID for Forget.Undo; empty if nothing was changed.
	ID string `json:"id,omitempty"`
	// Places that say it, best first.
	Places []ForgottenPlace `json:"places"`
	// Remaining says, a line each, where older versions of it are still kept, for people.
	Remaining []string `json:"remaining,omitempty"`
	// Until is when it can no longer be taken back.
	Until time.Time `json:"until,omitzero"`
	// Past is what was forgotten before, the latest first; only if it was asked for.
	Past []PastForgotten `json:"past,omitempty"`
}

// PastForgotten is something that was forgotten. What it said is not told.
type PastForgotten struct {
	// ID for Forget.Undo, and when it was forgotten.
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	// Sentences is how many, Paths the files that said them, as long as it can be taken back, and Reason why.
	Sentences int      `json:"sentences"`
	Paths     []string `json:"paths,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	// Until is when it can no longer be taken back; zero if it cannot.
	Until time.Time `json:"until,omitzero"`
}

// Untidy is what is proposed for MEMORY.md or USER.md: an entry that says what another one says, or the contrary, or what the notes of the
// last days say.
type Untidy struct {
	// ID names it.
	ID string `json:"id"`
	// Kind is one of the constants Untidy....
	Kind string `json:"kind"`
	// Path of the file, the line of the entry, from 1, and its text, which can go; 0 and empty for what is missing.
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
	// OtherLine is the line of what stays or comes, and Other its text. OtherPath is its file if it is another one.
	OtherPath string `json:"other_path,omitempty"`
	OtherLine int    `json:"other_line"`
	Other     string `json:"other"`
	// Source is who has written Other, one of the constants NoteFrom...; empty for a person.
	Source string `json:"source,omitempty"`
}

// Kinds of proposals.
const (
	// UntidyDuplicate says the same as the other entry.
	UntidyDuplicate = "duplicate"
	// UntidyContradiction says another value of the same thing.
	UntidyContradiction = "contradiction"
	// UntidyOutdated says another value than a note of the last days, which takes its place.
	UntidyOutdated = "outdated"
	// UntidyMissing is said by a note of the last days and comes to the end of the file.
	UntidyMissing = "missing"
)

// Tidied is what may be tidied, and what was.
type Tidied struct {
	// Entries are the proposals, a file after the other.
	Entries []Untidy `json:"entries"`
	// Revisions of what was removed, for Undo.
	Revisions []string `json:"revisions,omitempty"`
}

package memory

import "time"

// Update replaces a text in a file of what stays true.
type Update struct {
	// Path of the file, relative to the workspace: MEMORY.md (also if empty), USER.md, or a file in memory/ that is not of a day.
	Path string `json:"path,omitempty"`
	// OldText occurs once in the file. White space, also at the ends of lines, counts as one space. A blank one is an *InputError.
	OldText string `json:"old_text"`
	// NewText takes its place; empty removes the old text, and its lines if nothing is left of them.
	NewText string `json:"new_text"`
	// Reason is why, recorded with the text before; at most 1,000 characters.
	Reason string `json:"reason,omitempty"`
	// Source is who updates, one of the constants NoteFrom..., and is recorded beside the text; empty records nothing.
	Source string `json:"source,omitempty"`
	// KeepSecrets keeps the secrets in NewText. Otherwise a reference takes the place of each that
	// OldText lacks. The reason never keeps any.
	KeepSecrets bool `json:"keep_secrets,omitempty"`
}

// Updated says what an update, or the undoing of one, has changed.
type Updated struct {
	// Path of the file, relative to the workspace.
	Path string `json:"path"`
	// StartLine is the 1-based line at which the new text begins, or what follows a text that was removed.
	StartLine int `json:"start_line"`
	// Revision is the id of the update, for Undo.
	Revision string `json:"revision"`
	// Secrets are those in the new text and the reason in whose places references were written.
	Secrets []ReplacedSecret `json:"secrets,omitempty"`
}

// Revision is an update that was made.
type Revision struct {
	// ID of the update.
	ID string `json:"revision"`
	// Time of the update.
	Time time.Time `json:"time,omitzero"`
	// Path of the file.
	Path string `json:"path"`
	// Line at which the change began, from 1.
	Line int `json:"line"`
	// OldText and NewText are the text that was replaced and the text in its place.
	OldText string `json:"old_text"`
	NewText string `json:"new_text"`
	// Reason that was given; may be empty.
	Reason string `json:"reason"`
	// Source is who updated, one of the constants NoteFrom..., or empty.
	Source string `json:"source"`
	// Undoes is the id of the update that this one took back; empty for other updates.
	Undoes string `json:"undoes"`
	// Undone says that the update was taken back.
	Undone bool `json:"undone"`
}

// ReplacedSecret is a secret that was not written.
type ReplacedSecret struct {
	// Kind says what it is, such as "AWS key".
	Kind string `json:"kind"`
	// Reference is the text in its place, such as "[secret AKIA…8D1Z left out]".
	Reference string `json:"reference"`
}

// SimilarNote is a line that says nearly what a new note says.
type SimilarNote struct {
	// Path of the file.
	Path string `json:"path"`
	// Line of the file, from 1.
	Line int `json:"line"`
	// Text of the line.
	Text string `json:"text"`
}

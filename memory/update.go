package memory

import "time"

// Update replaces a text in a file of what stays true.
type Update struct {
	// Path of the file, relative to the workspace: MEMORY.md (also if empty), USER.md, or a file in memory/ that is not of a day.
	Path string
	// OldText occurs once in the file. White space, also at the ends of lines, counts as one space. A blank one is an *InputError.
	OldText string
	// NewText takes its place; empty removes the old text, and its lines if nothing is left of them.
	NewText string
	// Reason is why, recorded with the text before; at most 1,000 characters.
	Reason string
	// Source is who updates, one of the constants NoteFrom..., and is recorded beside the text; empty records nothing.
	Source string
	// KeepSecrets keeps the secrets in NewText. Otherwise a reference takes the place of each that
	// OldText lacks. The reason never keeps any.
	KeepSecrets bool
}

// Updated says what an update, or the undoing of one, has changed.
type Updated struct {
	// Path of the file, relative to the workspace.
	Path string
	// StartLine is the 1-based line at which the new text begins, or what follows a text that was removed.
	StartLine int
	// Revision is the id of the update, for Undo.
	Revision string
	// Secrets are those in the new text and the reason in whose places references were written.
	Secrets []ReplacedSecret
}

// Revision is an update that was made.
type Revision struct {
	// ID of the update.
	ID string
	// Time of the update.
	Time time.Time
	// Path of the file.
	Path string
	// Line at which the change began, from 1.
	Line int
	// OldText and NewText are the text that was replaced and the text in its place.
	OldText, NewText string
	// Reason that was given; may be empty.
	Reason string
	// Source is who updated, one of the constants NoteFrom..., or empty.
	Source string
	// Undoes is the id of the update that this one took back; empty for other updates.
	Undoes string
	// Undone says that the update was taken back.
	Undone bool
}

// ReplacedSecret is a secret that was not written.
type ReplacedSecret struct {
	// Kind says what it is, such as "AWS key".
	Kind string
	// Reference is the text in its place, such as "[secret AKIA…8D1Z left out]".
	Reference string
}

// SimilarNote is a line that says nearly what a new note says.
type SimilarNote struct {
	// Path of the file.
	Path string
	// Line of the file, from 1.
	Line int
	// Text of the line.
	Text string
}

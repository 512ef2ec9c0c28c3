package memory

import "time"

// Note is text to remember.
type Note struct {
	// Text in Markdown, at most 32 KiB. A blank text is an *InputError.
	Text string `json:"text"`
	// Target is TargetDaily (also if empty) or TargetLongTerm.
	Target string `json:"target,omitempty"`
	// Category heads the section of a daily note; empty means "note".
	Category string `json:"category,omitempty"`
	// Key makes the call idempotent: a second note with the same key and text is not written, and one with another text is
	// an ErrConflict. Empty means no key.
	Key string `json:"idempotency_key,omitempty"`
	// Source is who has written the note, one of the constants NoteFrom..., and is recorded beside the text; empty records
	// nothing.
	Source string `json:"source,omitempty"`
	// KeepSecrets keeps the secrets in the text, such as keys and passwords. Otherwise a reference takes the place of each.
	KeepSecrets bool `json:"keep_secrets,omitempty"`
	// Origin says whose words the note was made of; nil means the owner's. Together with the source it is recorded beside the text.
	Origin *Origin `json:"origin,omitempty"`
	// Session is the name of the conversation that the note comes from, at most 256 bytes; empty if none. It is recorded in the state
	// folder, so that all notes of a conversation can be taken back.
	Session string `json:"session,omitempty"`
	// At is when it was said, which only this process can say; zero means now.
	At time.Time `json:"-"`
}

// Targets of a note.
const (
	// TargetDaily is the file of the day, memory/YYYY-MM-DD.md.
	TargetDaily = "daily"
	// TargetLongTerm is MEMORY.md. A note with words of others than the owner is refused there.
	TargetLongTerm = "long_term"
	// TargetGroup is the file of the day in the folder of the channel of the origin, memory/groups/CHANNEL/YYYY-MM-DD.md.
	TargetGroup = "group"
)

// Sources of a note: who has written it.
const (
	// NoteFromUser is a person's.
	NoteFromUser = "user"
	// NoteFromAgent is a model's, in its own words.
	NoteFromAgent = "agent"
	// NoteFromTool is a model's, after it has read what a tool returned.
	NoteFromTool = "tool"
	// NoteFromFlush is a model's, before old turns of a session are compacted.
	NoteFromFlush = "flush"
)

// Appended says where a note is.
type Appended struct {
	// Path of the file, relative to the workspace.
	Path string `json:"path"`
	// StartLine is the 1-based line at which the note begins.
	StartLine int `json:"start_line"`
	// Deduplicated says that the same text or key was there before, and nothing was written.
	Deduplicated bool `json:"deduplicated"`
	// Forgotten is the id of what people have had forgotten and a sentence of the text says, which was not written; empty if none does.
	Forgotten string `json:"forgotten,omitempty"`
	// Secrets are those in the text in whose places references were written; none if there are none.
	Secrets []ReplacedSecret `json:"secrets,omitempty"`
	// Similar is the line of the same file that is nearest to a new long-term note, if it says nearly the same; nil if there is none. The
	// two may contradict each other.
	Similar *SimilarNote `json:"similar,omitempty"`
}

package flush

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// maxNotes is the maximum number of notes of a commit.
	maxNotes = 1000
	// maxNoteBytes is the size in bytes above which a note is split, below the maximum of a memory.
	maxNoteBytes = 30 << 10
	// maxCategoryChars is the length to which a category is cut.
	maxCategoryChars = 64
)

// Notes takes notes; every memory.Service does. A note with a key that was stored before is not stored again.
type Notes interface {
	// Append stores a note. A *memory.InputError and memory.ErrConflict refuse the note for good; after every other error it is
	// tried again.
	Append(ctx context.Context, note memory.Note) (memory.Appended, error)
}

// Note is a note of a commit.
type Note struct {
	// Text in Markdown. A text that is too long for one note becomes several.
	Text string `json:"text"`
	// Category heads the note; empty means "note".
	Category string `json:"category,omitempty"`
}

// Stored is what became of a note.
type Stored struct {
	// Appended is the place of the note, of its first part if it was split; zero if it was refused.
	memory.Appended
	// Refused says why the note, or a part of it, is not stored; empty if it is stored whole.
	Refused string `json:"refused,omitempty"`
}

// clean returns a note that memory takes, unless its text is not worth storing.
func (n Note) clean() Note {
	n.Text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(n.Text, "\ufffd"), "\x00", ""))
	n.Category = text.Head(text.OneLine(n.Category), maxCategoryChars)
	return n
}

// split cuts a long text at the ends of paragraphs, lines or characters.
func split(s string) []string {
	var out []string
	for len(s) > maxNoteBytes {
		head := text.HeadBytes(s, maxNoteBytes)
		for _, end := range []string{"\n\n", "\n", " "} {
			if at := strings.LastIndex(head, end); at > len(head)/2 {
				head = head[:at]
				break
			}
		}
		out, s = append(out, head), strings.TrimSpace(s[len(head):])
	}
	return append(out, s)
}

// noteKey returns the idempotency key of a text. A version that cuts notes otherwise, after a crash, makes other keys and no
// conflict.
func noteKey(lease, text string) string { return "flush-" + lease + "-" + hashOf(text)[:16] }

// appendNotes appends the notes of a commit. common is what they have in common, and its key is the lease. Notes that memory refuses do not stop the others. After any other error the same
// call continues.
func appendNotes(ctx context.Context, memories Notes, common memory.Note, notes []Note) ([]Stored, error) {
	out := make([]Stored, len(notes))
	for i, n := range notes {
		var err error
		if out[i], err = appendNote(ctx, memories, common, n.clean()); err != nil {
			return nil, fmt.Errorf("store note %d of %d: %w", i+1, len(notes), err)
		}
	}
	return out, nil
}

// appendNote appends a note, in parts if it is long.
func appendNote(ctx context.Context, memories Notes, common memory.Note, n Note) (stored Stored, err error) {
	if n.Text == "" {
		return Stored{Refused: "text: must not be blank"}, nil
	}
	for k, content := range split(n.Text) {
		note := common
		note.Text, note.Category, note.Key = content, n.Category, noteKey(common.Key, content)
		done, err := memories.Append(ctx, note)
		switch {
		case isForGood(err):
			stored.Refused = err.Error()
		case err != nil:
			return Stored{}, err
		case k == 0:
			stored.Appended = done
		default:
			stored.Secrets = append(stored.Secrets, done.Secrets...)
		}
	}
	return stored, nil
}

// isForGood reports whether an error of memory refuses a note for good, so that the session goes on without it.
func isForGood(err error) bool {
	_, refused := errors.AsType[*memory.InputError](err)
	return refused || errors.Is(err, memory.ErrConflict)
}

// checkNotes returns an *memory.InputError if there are too many notes.
func checkNotes(notes []Note) error {
	if len(notes) > maxNotes {
		return &memory.InputError{Field: "notes", Problem: fmt.Sprintf("has %d notes; at most %d", len(notes), maxNotes)}
	}
	for i, n := range notes {
		if !utf8.ValidString(n.Text) || !utf8.ValidString(n.Category) {
			return &memory.InputError{Field: fmt.Sprintf("notes[%d]", i), Problem: "must be valid UTF-8"}
		}
	}
	return nil
}

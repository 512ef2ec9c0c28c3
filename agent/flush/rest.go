package flush

import (
	"slices"
	"strings"

	"kioku/internal/text"
)

const (
	// minUnfinished is the size in tokens below which an unfinished range is not halved, but covered.
	minUnfinished = 64
	// toldParts: what a model is told of stored notes has at most 1/toldParts of the room.
	toldParts = 3
	// maxToldChars is the length to which a note is cut in it.
	maxToldChars = 300
	// toldHead begins the message that lists stored notes.
	toldHead = "(Saved already, not to be saved again:)"
)

// rest is what is left of ranges whose models did not finish.
type rest struct {
	// Keys are those of the messages. The rest ends when all are covered or gone.
	Keys []string `json:"keys"`
	// Notes are the texts that were stored of them.
	Notes []string `json:"notes,omitempty"`
	// Tokens is the maximum size of the messages of a range.
	Tokens int `json:"tokens"`
}

// keepRest ends an unfinished commit: the next range of its messages is half as long.
func (r *record) keepRest(w *writing, stored []Stored) {
	if r.Rest == nil {
		r.Rest = &rest{}
	}
	keys := w.Keys
	if w.Piece != nil {
		keys = append(slices.Clone(keys), w.Piece.Key)
	}
	for _, key := range keys {
		if !slices.Contains(r.Rest.Keys, key) {
			r.Rest.Keys = append(r.Rest.Keys, key)
		}
	}
	for i, n := range w.Notes {
		if stored[i].Path != "" {
			r.Rest.Notes = append(r.Rest.Notes, text.Shorten(text.OneLine(n.Text), maxToldChars))
		}
	}
	r.Rest.Tokens = w.Tokens / 2
	r.endRange()
}

// endRest forgets the rest if none of its messages is to be shown.
func (r *record) endRest(todo []Message) {
	if r.Rest != nil && !slices.ContainsFunc(todo, func(m Message) bool { return slices.Contains(r.Rest.Keys, m.key()) }) {
		r.Rest = nil
	}
}

// told returns the text that lists the notes of the rest, as many of the first as have room; empty if there is none. The first
// are those of the oldest messages, which the next range has.
func (r *record) told(room int, sizeOf func(string) int) string {
	if r.Rest == nil {
		return ""
	}
	list := toldHead
	for _, note := range r.Rest.Notes {
		longer := list + "\n  - " + note
		if sizeOf(longer) > room {
			break
		}
		list = longer
	}
	if !strings.Contains(list, "\n") {
		return ""
	}
	return list
}

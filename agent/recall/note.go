package recall

import (
	"strings"

	"kioku/agent"
	"kioku/agent/prompt"
)

// StripNote returns a note without what was recalled into the conversation that it is from. It returns an
// *agent.InputError, worded for the model, for a note that consists of nothing else: that is stored already.
func StripNote(note agent.Note) (agent.Note, error) {
	own := prompt.StripRecalled(note.Text)
	if own == "" && strings.TrimSpace(note.Text) != "" {
		return note, &agent.InputError{Field: "text", Problem: "was recalled from memory and is stored there already; say in words of your own what is new, or store nothing"}
	}
	note.Text = own
	return note, nil
}

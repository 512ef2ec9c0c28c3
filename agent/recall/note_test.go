package recall_test

import (
	"errors"
	"testing"

	"kioku/agent"
	"kioku/agent/prompt"
	"kioku/agent/recall"
)

// Hazard F08: what was recalled is taken out of a note, and a note of nothing else is refused.
func TestANoteIsStoredWithoutWhatWasRecalled(t *testing.T) {
	block, _ := prompt.Frame(prompt.Input{Recalled: []prompt.Memory{{Path: "a.md", StartLine: 1, Text: "old"}}})
	for text, want := range map[string]string{"new\n\n" + block: "new", " as it is\n": " as it is\n", "": "", " \n": " \n"} {
		note, err := recall.StripNote(agent.Note{Text: text, Key: "k"})
		if err != nil || note.Text != want || note.Key != "k" {
			t.Errorf("%q: %+v, %v", text, note, err)
		}
	}
	var wrong *agent.InputError
	if _, err := recall.StripNote(agent.Note{Text: block}); !errors.As(err, &wrong) || wrong.Field != "text" {
		t.Errorf("%v", err)
	}
}

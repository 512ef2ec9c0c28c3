package chat_test

import (
	"testing"

	"kioku/agent/sidecar"
	"kioku/agent/turns"
	"kioku/llm/echo"
)

// Each turn of a conversation is recorded once, with its session and the message, which the transcript contains too; a look at the prompt
// is no turn.
func TestTurnsAreRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &echo.Model{Tokens: 64_000})
	w.sidecar.Turns.Keep = true
	c := w.start("talk")
	c.Notices(t.Context())
	c.Prompt(t.Context(), "only looking")
	w.say(c, "Where is the key?", nil)
	s, err := sidecar.New(w.sidecar)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.Turns().List(t.Context(), turns.Query{})
	if err != nil || len(page.Entries) != 1 {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	if e := page.Entries[0]; e.Kind != turns.KindPrompt || e.Session != "talk" || e.Message != "Where is the key?" || e.Model == "" {
		t.Errorf("%+v", e)
	}
}

package chat_test

import (
	"testing"

	"kioku/agent/chat"
)

// Hazard F06: a scheduled turn neither stores memories nor summarises, also if the window is full. A turn of the user does.
func TestHeartbeatNeitherFlushesNorCompacts(t *testing.T) {
	t.Parallel()
	model := &learner{most: 4000, window: 4000}
	w := newWorld(t, model)
	c := w.start("s", func(o *chat.Options) { o.Heartbeat = true })
	for range 8 {
		w.seed("My item is "+word(1)+". "+long(600), "noted", 0)
	}
	var l log
	w.say(c, "heartbeat", l.each)
	if v := w.session.View(); v.Compactions > 0 || v.Flush != nil || len(w.notes.text()) > 0 || !l.has("left out of the request") || model.refused > 0 {
		t.Errorf("told %q, notes %q", l.lines, w.notes.text())
	}
	w.say(w.start("s"), "are you there?", l.each)
	if v := w.session.View(); v.Compactions != 1 || w.notes.text() == "" {
		t.Errorf("told %q, notes %q", l.lines, w.notes.text())
	}
}

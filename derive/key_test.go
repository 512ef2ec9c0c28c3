package derive_test

import (
	"testing"

	"kioku/llm"
)

// Hazard E10: an answer is used again for the very same question only: a rebuilt index asks again if the day, the heading or the speaker of a text is
// another one, or what its file is for.
func TestCachedAnswerNeedsTheSameQuestion(t *testing.T) {
	t.Parallel()
	const path, text = "memory/2026-11-20.md", "# Notes\n\n## Morning\nWell, Ana lives in Porto.\n"
	for name, c := range map[string]struct {
		path, text string
		calls      int
	}{
		"the same":       {path, text, 1},
		"another line":   {path, text + "\n## Noon\n\n", 1},
		"another day":    {"memory/2026-11-21.md", text, 2},
		"another text":   {path, "# Notes\n\n## Morning\nWell, Ana lives in Lisbon.\n", 2},
		"another title":  {path, "# Plans\n\n## Morning\nWell, Ana lives in Porto.\n", 2},
		"another author": {path, "# Notes\n\n## Morning\nWell, Ana lives in Porto. <!-- kioku text=0123456789abcdef from=agent -->\n", 2},
		"another person": {path, "# Notes\n\n## Morning\nAssistant: Well, Ana lives in Porto.\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &fakeModel{}
			w := newWorld(t, path, text).withModel(m)
			w.derive()
			w.remove(path)
			w.write(c.path, c.text)
			if _, err := w.memory.Rebuild(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			w.serve()
			w.derive()
			if m.extracts() != c.calls {
				t.Errorf("%d calls, want %d", m.extracts(), c.calls)
			}
		})
	}
}

// otherModel is a model with another name.
type otherModel struct{ *fakeModel }

// Name implements llm.Model.
func (otherModel) Name() string { return "other" }

var _ llm.Model = otherModel{}

// Hazard E10: no model is answered for by another one.
func TestCachedAnswerIsOfOneModel(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/2026-11-20.md", day("Well, Ana lives in Porto.")).withModel(m)
	w.derive()
	w.model = nil
	w.opt.Model = otherModel{m}
	w.serve()
	w.derive()
	if m.extracts() != 2 {
		t.Errorf("%d calls of two models", m.extracts())
	}
}

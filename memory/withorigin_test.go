package memory_test

import (
	"context"
	"errors"
	"testing"

	"kioku/memory"
)

// recorded is a Service that records what it is asked to write.
type recorded struct {
	memory.Service
	notes   []memory.Note
	updates []memory.Update
}

func (r *recorded) Append(_ context.Context, n memory.Note) (memory.Appended, error) {
	r.notes = append(r.notes, n)
	return memory.Appended{}, nil
}

func (r *recorded) Update(_ context.Context, u memory.Update) (memory.Updated, error) {
	r.updates = append(r.updates, u)
	return memory.Updated{}, nil
}

// Words of others never go to MEMORY.md: what others than the owner have said signs a note, and updates nothing.
func TestWithOriginUpdatesNothingForOthers(t *testing.T) {
	t.Parallel()
	mia, bob := memory.Author{ID: "mia", IsOwner: true}, memory.Author{ID: "bob", Name: "Bob"}
	for name, c := range map[string]struct {
		said memory.Said
		may  bool
	}{
		"the owner in private":        {memory.Said{Author: &mia}, true},
		"the owner in a group":        {memory.Said{Author: &mia, Channel: "discord:general", Group: true}, true},
		"somebody else in private":    {memory.Said{Author: &bob, Channel: "discord:dm:7"}, false},
		"somebody else in a group":    {memory.Said{Author: &bob, Channel: "discord:general", Group: true}, false},
		"somebody unknown in a group": {memory.Said{Channel: "discord:general", Group: true}, false},
	} {
		r := &recorded{}
		m := memory.WithOrigin(r, c.said.Origin())
		_, err := m.Update(t.Context(), memory.Update{OldText: "a", NewText: "b"})
		if input := new(memory.InputError); c.may != (err == nil) || err != nil && !errors.As(err, &input) || c.may != (len(r.updates) == 1) {
			t.Errorf("%s: %v, %d updates", name, err, len(r.updates))
		}
		if _, err := m.Append(t.Context(), memory.Note{Text: "a"}); err != nil || len(r.notes) != 1 || r.notes[0].Origin.ByOwner() != c.may {
			t.Errorf("%s: %v, %+v", name, err, r.notes)
		}
	}
}

func TestWithSessionNamesTheConversationOfNotes(t *testing.T) {
	t.Parallel()
	r := &recorded{}
	for _, n := range []struct{ session, own, want string }{{"s1", "", "s1"}, {"s1", "s2", "s2"}, {"", "", ""}} {
		if _, err := memory.WithSession(r, n.session).Append(t.Context(), memory.Note{Text: "x", Session: n.own}); err != nil {
			t.Fatal(err)
		}
		if got := r.notes[len(r.notes)-1].Session; got != n.want {
			t.Errorf("in %q a note of %q names %q; want %q", n.session, n.own, got, n.want)
		}
	}
}

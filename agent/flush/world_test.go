package flush_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kioku/agent/flush"
	"kioku/llm"
	"kioku/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the clock of the tests.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// notebook stores notes as a memory does: a key and a text once.
type notebook struct {
	notes []memory.Note
	// err is returned in place of storing; nil means none. after is the number of notes that are stored before.
	err   error
	after int
	// keysOnly stores a text again under another key.
	keysOnly bool
}

// Append implements flush.Notes.
func (n *notebook) Append(_ context.Context, note memory.Note) (memory.Appended, error) {
	if n.err != nil && len(n.notes) >= n.after {
		return memory.Appended{}, n.err
	}
	if strings.Contains(note.Text, "REFUSED") {
		return memory.Appended{}, &memory.InputError{Field: "text", Problem: "is refused"}
	}
	for i, have := range n.notes {
		if have.Key == note.Key && have.Text != note.Text {
			return memory.Appended{}, fmt.Errorf("append to day.md: %w", memory.ErrConflict)
		}
		if have.Key == note.Key || have.Text == note.Text && !n.keysOnly {
			return memory.Appended{Path: "day.md", StartLine: i + 1, Deduplicated: true}, nil
		}
	}
	n.notes = append(n.notes, note)
	return memory.Appended{Path: "day.md", StartLine: len(n.notes)}, nil
}

// texts of the notes.
func (n *notebook) texts() []string {
	var out []string
	for _, note := range n.notes {
		out = append(out, note.Text)
	}
	return out
}

// world is a ledger with its memory and its clock.
type world struct {
	t      *testing.T
	folder string
	notes  *notebook
	now    time.Time
	*flush.Ledger
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, folder: t.TempDir() + "/flush", notes: &notebook{}, now: noon}
	w.reopen()
	return w
}

// reopen continues as a process after a crash would.
func (w *world) reopen() {
	w.Ledger = flush.NewLedger(flush.Options{Folder: w.folder, Notes: w.notes, Now: func() time.Time { return w.now }})
}

// begin begins a range of the session "talk" that must succeed.
func (w *world) begin(messages ...flush.Message) flush.Range {
	w.t.Helper()
	r, err := w.Begin(w.t.Context(), flush.Request{Session: "talk", Messages: messages})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// commit commits notes, which must succeed.
func (w *world) commit(lease string, texts ...string) flush.Committed {
	w.t.Helper()
	done, err := w.Commit(w.t.Context(), lease, flush.Answer{Notes: notesOf(texts...), Reply: "NO_REPLY"})
	if err != nil {
		w.t.Fatal(err)
	}
	return done
}

func notesOf(texts ...string) []flush.Note {
	var notes []flush.Note
	for _, text := range texts {
		notes = append(notes, flush.Note{Text: text, Category: "fact"})
	}
	return notes
}

// covered says of each message whether it is covered, as "+" or "-".
func (w *world) covered(messages ...flush.Message) string {
	w.t.Helper()
	c, err := w.Coverage("talk", messages)
	if err != nil {
		w.t.Fatal(err)
	}
	out := ""
	for _, covered := range c.Covered {
		out += map[bool]string{true: "+", false: "-"}[covered]
	}
	return out
}

// said returns messages of a user and an assistant in turn, m1, m2 and so on.
func said(texts ...string) []flush.Message {
	var out []flush.Message
	for i, text := range texts {
		role := llm.RoleUser
		if i%2 == 1 {
			role = llm.RoleAssistant
		}
		out = append(out, flush.Message{ID: fmt.Sprintf("m%d", i+1), Message: llm.Message{Role: role, Text: text}})
	}
	return out
}

// shown are the texts of messages.
func shown(messages []llm.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, string(m.Role)+": "+m.Text)
	}
	return out
}

var errDisk = errors.New("no space left on device")

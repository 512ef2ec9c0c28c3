package kioku

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"kioku/internal/safefile"
	"kioku/internal/text"
	"kioku/memory"
)

// maxWriteChars is the number of characters of a note that a list of writes has.
const maxWriteChars = 200

// errNothingUndone ends an edit that changes nothing.
var errNothingUndone = errors.New("nothing to take back")

// UndoWrites takes back the notes of a conversation, or those since a time, with the updates since then: the latest update first, then
// the notes of each file in one change. A note or an update whose lines were changed since stays, and the outcome says so. The files as
// they were are kept, and Undo of a revision brings back what was removed. What is taken back already is not there any more, so a second
// call changes nothing.
//
// UndoWrites knows the notes that this Kioku has appended with this state folder. It returns a *memory.InputError if neither a
// conversation nor a time is given, and for an unknown source; otherwise the errors of Update. After an error, what was taken back
// before it stays so.
func (m *Memory) UndoWrites(ctx context.Context, u memory.UndoWrites) (memory.UndoneWrites, error) {
	if err := m.enter(); err != nil {
		return memory.UndoneWrites{}, err
	}
	defer m.leave()
	if err := checkUndoWrites(&u); err != nil {
		return memory.UndoneWrites{}, err
	}
	if m.opt.Mode == ReadOnly && !u.DryRun {
		return memory.UndoneWrites{}, memory.ErrReadOnly
	}
	undo := takingBack{m: m, u: u, texts: map[string][]byte{}}
	err := undo.updates(ctx)
	if err == nil {
		err = undo.notes(ctx)
	}
	slices.SortStableFunc(undo.done.Writes, func(a, b memory.Write) int { return b.Time.Compare(a.Time) })
	return undo.done, err
}

// checkUndoWrites fills in the sources that are taken back if none are named.
func checkUndoWrites(u *memory.UndoWrites) error {
	if u.Session == "" && u.Since.IsZero() {
		return &memory.InputError{Field: "session", Problem: "or since_time must say what is taken back"}
	}
	if len(u.Sources) == 0 {
		u.Sources = []string{memory.NoteFromAgent, memory.NoteFromTool, memory.NoteFromFlush}
	}
	for _, source := range u.Sources {
		if source == "" || checkSource(source) != nil {
			return &memory.InputError{Field: "sources", Problem: fmt.Sprintf("has %.80q; must be of %s", source, strings.Join(noteSources, ", "))}
		}
	}
	return nil
}

// takingBack is one call of UndoWrites.
type takingBack struct {
	m *Memory
	u memory.UndoWrites
	// texts are the files as a dry run leaves them.
	texts map[string][]byte
	done  memory.UndoneWrites
}

// selects reports whether a write is to be taken back.
func (x *takingBack) selects(w memory.Write) bool {
	return (x.u.Session == "" || w.Session == x.u.Session) && slices.Contains(x.u.Sources, w.Source) &&
		(x.u.Since.IsZero() || !w.Time.Before(x.u.Since)) && (x.u.Until.IsZero() || !w.Time.After(x.u.Until))
}

// updates takes updates back, the latest first.
func (x *takingBack) updates(ctx context.Context) error {
	all, err := x.m.revisions(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		w := memory.Write{Path: r.Path, Line: r.Line, Time: r.Time, Source: r.Source, Kind: memory.WroteUpdate, Text: text.Head(r.NewText, maxWriteChars)}
		if r.Undone || r.Undoes != "" || !x.selects(w) {
			continue
		}
		full, err := x.m.readRevision(r.ID)
		if err != nil {
			return err
		}
		var bad *memory.InputError
		switch err := x.update(ctx, r.ID, full); {
		case err == nil:
			w.Outcome = memory.WriteUndone
		case errors.Is(err, memory.ErrNotFound):
			w.Outcome, w.Line = memory.WriteGone, 0
		case errors.As(err, &bad):
			w.Outcome = memory.WriteEdited
		default:
			return err
		}
		x.done.Writes = append(x.done.Writes, w)
	}
	return nil
}

// update takes one update back.
func (x *takingBack) update(ctx context.Context, id string, r revision) error {
	change := func(src []byte) (textChange, error) { return x.m.undoing(id, r, src) }
	return x.edit(ctx, r.Path, revision{Undoes: id}, change)
}

// edit changes a file, in a dry run only what is known of it.
func (x *takingBack) edit(ctx context.Context, name string, r revision, change func([]byte) (textChange, error)) error {
	if !x.u.DryRun {
		done, err := x.m.edit(ctx, name, r, change)
		if err == nil {
			x.done.Revisions = append(x.done.Revisions, done.Revision)
		}
		return err
	}
	src, err := x.read(name)
	if err != nil {
		return err
	}
	c, err := change(src)
	if err == nil {
		x.texts[name] = c.apply(src)
	}
	return err
}

// read returns a file as the dry run has left it.
func (x *takingBack) read(name string) ([]byte, error) {
	if src, ok := x.texts[name]; ok {
		return src, nil
	}
	root, err := os.OpenRoot(x.m.workspace)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	src, _, err := safefile.Read(root, name, searchedFiles*x.m.opt.Index.maxFileBytes())
	if err != nil {
		return nil, errNotFound
	}
	return src, nil
}

// notes takes notes back, file by file.
func (x *takingBack) notes(ctx context.Context) error {
	all, err := x.m.readWrites()
	if err != nil {
		return err
	}
	byPath := map[string][]writtenNote{}
	var paths []string
	for _, n := range all {
		if len(byPath[n.Path]) == 0 {
			paths = append(paths, n.Path)
		}
		byPath[n.Path] = append(byPath[n.Path], n)
	}
	for _, name := range paths {
		if !slices.ContainsFunc(byPath[name], func(n writtenNote) bool { return x.selects(n.write()) }) {
			continue
		}
		if err := x.notesOf(ctx, name, byPath[name]); err != nil {
			return err
		}
	}
	return nil
}

// write returns a note as a write without an outcome.
func (n writtenNote) write() memory.Write {
	return memory.Write{Path: n.Path, Time: n.Time, Source: n.Source, Session: n.Session, Kind: memory.WroteNote}
}

// notesOf takes the notes of a file back. all are those that were ever written to it, so that none is taken for another one.
func (x *takingBack) notesOf(ctx context.Context, name string, all []writtenNote) error {
	var writes []memory.Write
	change := func(src []byte) (textChange, error) {
		var removed int
		if writes, removed = x.plan(src, all); removed == 0 {
			return textChange{}, errNothingUndone
		}
		return narrow(textChange{0, len(src), string(x.without(src, all))}, src), nil
	}
	err := x.edit(ctx, name, revision{Reason: "notes were taken back", TookNotes: true}, change)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		writes, err = nil, nil
		for _, n := range all {
			if w := n.write(); x.selects(w) {
				w.Outcome = memory.WriteGone
				writes = append(writes, w)
			}
		}
	case errors.Is(err, errNothingUndone):
		err = nil
	}
	x.done.Writes = append(x.done.Writes, writes...)
	return err
}

// plan returns what becomes of the selected notes of a text, and how many are removed.
func (x *takingBack) plan(src []byte, all []writtenNote) (writes []memory.Write, removed int) {
	lines := blockLines(string(src))
	for i, found := range findWritten(lines, all) {
		w := all[i].write()
		if !x.selects(w) {
			continue
		}
		if w.Outcome = found.outcome; found.end > 0 {
			w.Line, w.Text = found.first+1, shownWrite(lines[found.first:found.end])
		}
		if w.Outcome == memory.WriteUndone {
			removed++
		}
		writes = append(writes, w)
	}
	return writes, removed
}

// shownWrite returns the beginning of a note for people: without its heading and its marks.
func shownWrite(lines []string) string {
	if sectionHeading.MatchString(lines[0]) && len(lines) > 1 {
		lines = lines[1:]
	}
	return text.Head(text.OneLine(shownText(strings.Join(lines, "\n"))), maxWriteChars)
}

// without returns a text without the selected notes that are as they were written.
func (x *takingBack) without(src []byte, all []writtenNote) []byte {
	raw := bytes.SplitAfter(src, []byte("\n"))
	if len(raw[len(raw)-1]) == 0 {
		raw = raw[:len(raw)-1]
	}
	gone := map[int]bool{}
	for i, found := range findWritten(blockLines(string(src)), all) {
		if found.outcome == memory.WriteUndone && x.selects(all[i].write()) {
			for line := found.first; line < found.end; line++ {
				gone[line] = true
			}
		}
	}
	var out []byte
	blank := true // the line before is blank, or there is none
	skip := false // blank lines behind a note that was removed are left out
	for i, line := range raw {
		isBlank := len(bytes.TrimSpace(line)) == 0
		switch {
		case gone[i]:
			skip = blank
		case isBlank && skip:
		default:
			out, blank, skip = append(out, line...), isBlank, false
		}
	}
	if skip || len(raw) > 0 && gone[len(raw)-1] {
		out = bytes.TrimRight(out, " \t\r\n")
		if len(out) > 0 {
			out = append(out, lineEndOf(src)...)
		}
	}
	return out
}

// lineEndOf returns the line break of a text.
func lineEndOf(src []byte) string {
	if bytes.Contains(src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

package note

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

// maxWriteChars is the number of characters of a note that a list of writes has.
const maxWriteChars = 200

// errNothingUndone ends an edit that changes nothing.
var errNothingUndone = errors.New("nothing to take back")

// UndoWrites takes back the notes of a conversation, or those since a time, with the updates since then, in one change of each file. A note
// or an update whose lines were changed since stays, and the outcome says so. Undo of a revision brings back what was removed. What is taken
// back already is not there any more, so a second call changes nothing.
//
// UndoWrites knows the notes in the change log. It returns a *memory.InputError if neither a conversation nor a time is given, and for an
// unknown source; otherwise the errors of Update. After an error, what was taken back before it stays so.
func (f *Folder) UndoWrites(ctx context.Context, u memory.UndoWrites) (memory.UndoneWrites, error) {
	var done memory.UndoneWrites
	if err := checkUndoWrites(&u); err != nil {
		return done, err
	}
	all, undone, err := f.made()
	if err != nil {
		return done, err
	}
	slices.Reverse(all)
	var paths []string
	selected := map[string][]change{}
	for _, c := range all {
		if len(c.Undoes) > 0 || !selects(u, c) {
			continue
		}
		if undone[c.ID] {
			if c.isNote() {
				done.Writes = append(done.Writes, c.gone())
			}
			continue
		}
		if selected[c.Path] == nil {
			paths = append(paths, c.Path)
		}
		selected[c.Path] = append(selected[c.Path], c)
	}
	for _, name := range paths {
		writes, revision, err := f.takeBack(ctx, name, selected[name], u.DryRun)
		if err != nil {
			return done, err
		}
		slices.Reverse(writes)
		done.Writes = append(done.Writes, writes...)
		if revision != "" {
			done.Revisions = append(done.Revisions, revision)
		}
	}
	slices.SortStableFunc(done.Writes, func(a, b memory.Write) int { return b.Time.Compare(a.Time) })
	return done, nil
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

// selects reports whether a change is to be taken back.
func selects(u memory.UndoWrites, c change) bool {
	return (u.Session == "" || c.Session == u.Session) && slices.Contains(u.Sources, c.Source) &&
		(u.Since.IsZero() || !c.Time.Before(u.Since)) && (u.Until.IsZero() || !c.Time.After(u.Until))
}

// takeBack takes changes of a file back, the latest first, in one change. In a dry run it only says what would become of them.
func (f *Folder) takeBack(ctx context.Context, name string, changes []change, dryRun bool) (writes []memory.Write, revision string, err error) {
	plan := func(src []byte) (patch, change, error) {
		out, done := src, change{Reason: "notes were taken back"}
		writes = nil
		for _, c := range changes {
			p, err := c.inverse(out)
			writes = append(writes, c.write(out, err == nil))
			if err == nil {
				out, done.Undoes = p.apply(out), append(done.Undoes, c.ID)
			}
		}
		if len(done.Undoes) == 0 {
			return patch{}, done, errNothingUndone
		}
		return narrow(patch{0, len(src), string(out)}, src), done, nil
	}
	if dryRun {
		var src []byte
		if src, err = f.read(name); err == nil {
			_, _, err = plan(src)
		}
	} else {
		var done memory.Updated
		done, err = f.edit(ctx, name, plan)
		revision = done.Revision
	}
	switch {
	case errors.Is(err, errNothingUndone):
		err = nil
	case errors.Is(err, memory.ErrNotFound):
		writes, err = nil, nil
		for _, c := range changes {
			writes = append(writes, c.gone())
		}
	}
	return writes, revision, err
}

// write returns a change of a text as a write, whose outcome depends on whether it is there as it was made.
func (c change) write(src []byte, isThere bool) memory.Write {
	w := memory.Write{Path: c.Path, Time: c.Time, Source: c.Source, Session: c.Session, Kind: memory.WroteUpdate, Outcome: memory.WriteEdited}
	if isThere {
		w.Outcome = memory.WriteUndone
	}
	if !c.isNote() {
		w.Line, w.Text = c.Line, text.Head(shownText(c.After), maxWriteChars)
		return w
	}
	w.Kind = memory.WroteNote
	first, end := c.findNote(src)
	if !isThere {
		first, end = c.trace(src)
	}
	if end == 0 {
		w.Outcome = memory.WriteGone
		return w
	}
	w.Line, w.Text = first+1, shownWrite(blockLines(string(src))[first:end])
	return w
}

// gone returns a change as a write of which nothing is left.
func (c change) gone() memory.Write {
	w := c.write(nil, false)
	w.Outcome, w.Line = memory.WriteGone, 0
	return w
}

// shownWrite returns the beginning of a note for people: without its heading and its marks.
func shownWrite(lines []string) string {
	if sectionHeading.MatchString(lines[0]) && len(lines) > 1 {
		lines = lines[1:]
	}
	return text.Head(text.OneLine(shownText(strings.Join(lines, "\n"))), maxWriteChars)
}

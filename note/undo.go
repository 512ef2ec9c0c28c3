package note

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"kioku/internal/safefile"
	"kioku/memory"
)

// made returns the changes that were made, the oldest first, and the ids of those that were taken back and do not hold again.
func (f *Folder) made() ([]change, map[string]bool, error) {
	all, err := f.changes.read()
	if err != nil {
		return nil, nil, err
	}
	// A change is recorded before it is made. After a crash, the last one of a file may not have been.
	last := map[string]string{}
	for _, c := range all {
		if !c.isNote() {
			last[c.Path] = c.ID
		}
	}
	all = slices.DeleteFunc(all, func(c change) bool { return last[c.Path] == c.ID && !f.isMade(c) })
	byID, undone := map[string]change{}, map[string]bool{}
	var takeBack func(ids []string, undo bool)
	takeBack = func(ids []string, undo bool) {
		for _, id := range ids {
			if c, ok := byID[id]; ok {
				undone[id] = undo
				takeBack(c.Undoes, !undo)
			}
		}
	}
	for _, c := range all {
		takeBack(c.Undoes, true)
		byID[c.ID] = c
	}
	return all, undone, nil
}

// isMade reports whether a file is as a change leaves it, rather than as it was before.
func (f *Folder) isMade(c change) bool {
	src, err := f.read(c.Path)
	return err == nil && (bytes.Contains(src, []byte(c.Lead+c.After+c.Tail)) || !bytes.Contains(src, []byte(c.Lead+c.Before+c.Tail)))
}

// read returns the text of a file.
func (f *Folder) read(name string) ([]byte, error) {
	root, err := os.OpenRoot(f.opt.Path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	src, _, err := safefile.Read(root, name, searchedFiles*f.opt.MaxFileBytes)
	if err != nil {
		return nil, memory.ErrNoFile
	}
	return src, nil
}

// Undo takes an update back, the latest that was not taken back if the id is empty, and is an update itself. If the file was changed
// since, only the lines of the update become what they were. Undo returns a *memory.InputError, and changes nothing, for an unknown
// id, for an update that was taken back already, and if these lines were changed too; otherwise the errors of Update.
func (f *Folder) Undo(ctx context.Context, id string) (memory.Updated, error) {
	c, err := f.undoable(ctx, id)
	if err != nil {
		return memory.Updated{}, err
	}
	done, err := f.edit(ctx, c.Path, func(src []byte) (patch, change, error) {
		p, err := c.inverse(src)
		return p, change{Undoes: []string{c.ID}}, err
	})
	done.Revision = c.ID
	return done, err
}

// undoable returns the update with an id, or the latest one. It returns a *memory.InputError for one that was taken back.
func (f *Folder) undoable(ctx context.Context, id string) (change, error) {
	bad := func(problem string) (change, error) {
		return change{}, &memory.InputError{Field: "revision", Problem: problem}
	}
	listed, err := f.Revisions(ctx)
	if err != nil {
		return change{}, err
	}
	at := slices.IndexFunc(listed, func(r memory.Revision) bool {
		return r.ID == id || id == "" && !r.Undone && r.Undoes == ""
	})
	switch {
	case at < 0 && id == "":
		return bad("there is no update to take back")
	case at < 0:
		return bad(fmt.Sprintf("there is no revision %.80q; kioku undo --list lists them", id))
	case listed[at].Undone:
		return bad(fmt.Sprintf("%s was taken back already; kioku undo --list lists the updates", id))
	}
	all, err := f.changes.read()
	if err != nil {
		return change{}, err
	}
	return all[slices.IndexFunc(all, func(c change) bool { return c.ID == listed[at].ID })], nil
}

// inverse returns the patch that takes a change back in a text. It returns a *memory.InputError if its lines were changed since.
func (c change) inverse(src []byte) (patch, error) {
	if c.isNote() {
		if from, to := c.findNote(src); from >= 0 {
			return withoutLines(src, from, to), nil
		}
	} else if at := c.find(src); at >= 0 {
		return patch{at + len(c.Lead), at + len(c.Lead) + len(c.After), c.Before}, nil
	}
	said := ""
	if old := shownText(c.Before); old != "" {
		said = "; the text before was:\n" + old
	}
	return patch{}, &memory.InputError{Field: "revision", Problem: fmt.Sprintf("the lines of %s that it has changed were changed since%s", c.Path, said)}
}

// find returns the offset of the lines that a change has left, -1 if a text has them not once. Of several, those at the line of the
// change are meant.
func (c change) find(src []byte) int {
	want := []byte(c.Lead + c.After + c.Tail)
	first := c.Line - strings.Count(c.Lead, "\n")
	var found []int
	for from := 0; from <= len(src); {
		at := bytes.Index(src[from:], want)
		if at < 0 {
			break
		}
		at += from
		from = at + 1
		if !isWholeLines(src, at, at+len(want)) {
			continue
		}
		if 1+countLineBreaks(src[:at]) == first {
			return at
		}
		found = append(found, at)
	}
	if len(found) != 1 {
		return -1
	}
	return found[0]
}

// isWholeLines reports whether a part of a text begins and ends where lines do.
func isWholeLines(src []byte, from, to int) bool {
	begins := from == 0 || src[from-1] == '\n'
	return begins && (to == len(src) || to > 0 && src[to-1] == '\n')
}

// findNote returns the lines of a note in a text that has it as it was written, from 0, end exclusive; -1 if it is not there. Of several,
// those at the line of the change are meant, else the last ones.
func (c change) findNote(src []byte) (from, to int) {
	lines, want := blockLines(string(src)), blockLines(c.After)
	from = -1
	for i := range lines {
		if i+len(want) <= len(lines) && slices.Equal(lines[i:i+len(want)], want) {
			if from = i; i+1 == c.Line {
				break
			}
		}
	}
	return from, from + len(want)
}

// blockLines returns the lines of a text without their line breaks and the blanks before these.
func blockLines(block string) []string {
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return lines
}

// withoutLines returns the patch that removes lines, from 0, end exclusive, without leaving two blank lines, or one at the end.
func withoutLines(src []byte, first, end int) patch {
	p := patch{from: offsetOf(src, first), to: offsetOf(src, end)}
	if lineBefore := bytes.TrimRight(src[:p.from], "\r\n"); p.from == 0 || countLineBreaks(src[len(lineBefore):p.from]) > 1 {
		for p.to < len(src) && len(bytes.TrimSpace(src[p.to:endOfLine(src, p.to)])) == 0 {
			p.to = endOfLine(src, p.to)
		}
	}
	if p.to == len(src) {
		p.from = len(bytes.TrimRight(src[:p.from], " \t\r\n"))
		if p.from > 0 {
			p.from = endOfLine(src, p.from)
		}
	}
	return p
}

// trace returns the lines of a note that is not as it was written any more: by its marker, or by its first line unless another note of
// the log is there; end is 0 if nothing is left of it.
func (c change) trace(src []byte, all []change) (first, end int) {
	lines, want := blockLines(string(src)), blockLines(c.After)
	marker := ""
	last := want[len(want)-1]
	if m := markerPattern.FindStringSubmatchIndex(last); m != nil && (m[4] >= 0 || m[8] >= 0) {
		marker = strings.TrimSpace(last[m[0]:m[1]])
	}
	for i, line := range lines {
		if line == want[0] && !slices.ContainsFunc(all, func(o change) bool { return o.Path == c.Path && o.isNote() && o.begins(lines[i:]) }) {
			return i, min(i+len(want), len(lines))
		}
	}
	for i, line := range lines {
		if marker != "" && strings.Contains(line, marker) {
			return i, i + 1
		}
	}
	return 0, 0
}

// begins reports whether lines begin with those of a note.
func (c change) begins(lines []string) bool {
	want := blockLines(c.After)
	return len(want) <= len(lines) && slices.Equal(lines[:len(want)], want)
}

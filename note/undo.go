package note

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"kioku/internal/files"
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
	src, _, err := files.Read(root, name, searchedFiles*f.opt.MaxFileBytes)
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
		if id, _ := f.Forgotten().SaysAny(c.Before); id != "" {
			return patch{}, change{}, &memory.InputError{Field: "revision", Problem: "would bring back what was forgotten; kioku forget --undo " + id + " takes that back first"}
		}
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
		if first, end := c.findNote(src); first >= 0 {
			return withoutLines(src, first, end), nil
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

// find returns the offset of the lines that a change has left: those at the line of the change, else the only ones; -1 if a text does not have
// them, or several times.
func (c change) find(src []byte) int {
	want := []byte(c.Lead + c.After + c.Tail)
	at := offsetOf(src, c.Line-1-strings.Count(c.Lead, "\n"))
	if !bytes.HasPrefix(src[at:], want) {
		if at = bytes.Index(src, want); at != bytes.LastIndex(src, want) {
			return -1
		}
	}
	if at < 0 || !isWholeLines(src, at, at+len(want)) {
		return -1
	}
	return at
}

// isWholeLines reports whether a part of a text begins and ends where lines do.
func isWholeLines(src []byte, from, to int) bool {
	begins := from == 0 || src[from-1] == '\n'
	return begins && (to == len(src) || to > 0 && src[to-1] == '\n')
}

// findNote returns the lines of a note in a text that has it as it was written, from 0, end exclusive; -1 if it is not there. Of several,
// those at the line of the change are meant, else the last ones.
func (c change) findNote(src []byte) (first, end int) {
	lines, want := blockLines(string(src)), blockLines(c.After)
	first = -1
	for i := 0; i+len(want) <= len(lines) && first != c.Line-1; i++ {
		if slices.Equal(lines[i:i+len(want)], want) {
			first = i
		}
	}
	return first, first + len(want)
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

// trace returns the lines of a note that is not as it was written any more, by its marker if that has a fingerprint, else by its first line; end
// is 0 if nothing is left of it.
func (c change) trace(src []byte) (first, end int) {
	lines, want := blockLines(string(src)), blockLines(c.After)
	last := want[len(want)-1]
	if m := markerPattern.FindStringSubmatchIndex(last); m != nil && (m[4] >= 0 || m[8] >= 0) {
		end = 1 + slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, strings.TrimSpace(last[m[0]:m[1]])) })
		prefix, _, _ := strings.Cut(c.After, " ")
		return max(0, blockLine(strings.Join(lines[:end], "\n"), prefix)-1), end
	}
	if first = slices.Index(lines, want[0]); first < 0 {
		return 0, 0
	}
	return first, min(first+len(want), len(lines))
}

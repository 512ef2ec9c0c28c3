package note

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// changesFile has a line for each change, and changesBefore is the file before it.
	changesFile, changesBefore = "changes.jsonl", "changes.1.jsonl"
	// maxChangesBytes is the size above which the file is begun anew.
	maxChangesBytes = 8 << 20
)

// change is what a note, an update or the undoing of some has done to a file: Lead, Before and Tail stood there and became Lead, After and
// Tail.
type change struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	Path string    `json:"path,omitempty"`
	// Line is that of After, from 1.
	Line int `json:"line,omitempty"`
	// Source and Session are those of the note or the update.
	Source  string `json:"source,omitempty"`
	Session string `json:"session,omitempty"`
	// Before is empty for a note.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Lead and Tail are the rest of the lines that were changed and a line above and below, so that After is found when others have changed
	// the file. A note has none: it is whole lines.
	Lead string `json:"lead,omitempty"`
	Tail string `json:"tail,omitempty"`
	// Reason of an update.
	Reason string `json:"reason,omitempty"`
	// Forgets is the id of what was forgotten by the change; empty for others.
	Forgets string `json:"forgets,omitempty"`
	// Undoes are the ids of the changes that this one took back.
	Undoes []string `json:"undoes,omitempty"`
	// Void says that the change with this id was not made.
	Void bool `json:"void,omitempty"`
}

// isNote reports whether a change has added a note. What has a reason is an update, which may add lines too.
func (c change) isNote() bool { return c.Before == "" && len(c.Undoes) == 0 && c.Reason == "" }

// has reports whether a text of the change has one of the texts that were said.
func (c change) has(said []string) bool {
	return len(said) == 0 || slices.ContainsFunc(said, func(s string) bool {
		return strings.Contains(c.Lead+c.Before+c.Tail, s) || strings.Contains(c.Lead+c.After+c.Tail, s)
	})
}

// changeLog is the record of all changes, which undo reads. It contains the texts of notes.
type changeLog struct{ dir string }

// open locks the file that changes are added to. The caller closes the folder and unlocks the file.
func (l changeLog) open(ctx context.Context) (root *os.Root, f *os.File, err error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, nil, err
	}
	if root, err = os.OpenRoot(l.dir); err != nil {
		return nil, nil, err
	}
	for {
		if f, err = openWithLock(ctx, root, changesFile, 0o600); err != nil {
			return nil, nil, errors.Join(err, root.Close())
		}
		info, err := f.Stat()
		if err != nil || info.Size() <= maxChangesBytes {
			return root, f, err
		}
		if err := errors.Join(root.Rename(changesFile, changesBefore), files.Unlock(f)); err != nil {
			return nil, nil, errors.Join(err, root.Close())
		}
	}
}

// add adds a change. One that has replaced a text is on the disk when add returns.
func (l changeLog) add(ctx context.Context, c change) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	root, f, err := l.open(ctx)
	if err != nil {
		return fmt.Errorf("record a change: %w", err)
	}
	defer root.Close()
	line = append(line, '\n')
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...) // a crash has cut off the line before
		}
	}
	if c.isNote() {
		_, err = f.Write(line) // the note is on the disk, and counts without its record
	} else {
		err = files.Append(f, line)
	}
	return errors.Join(err, files.Unlock(f))
}

// read returns the changes, the oldest first. It leaves out those that were not made, and lines that cannot be read.
func (l changeLog) read() ([]change, error) {
	var all []change
	void := map[string]bool{}
	for _, name := range []string{changesBefore, changesFile} {
		data, err := os.ReadFile(filepath.Join(l.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the changes of notes: %w", err)
		}
		for line := range bytes.Lines(data) {
			var c change
			if json.Unmarshal(line, &c) != nil {
				continue
			}
			if void[c.ID] = c.Void; c.Path != "" {
				all = append(all, c)
			}
		}
	}
	return slices.DeleteFunc(all, func(c change) bool { return void[c.ID] }), nil
}

// purge removes changes and returns their number.
func (l changeLog) purge(ctx context.Context, drop func(change) bool) (removed int, err error) {
	if _, err := os.Stat(filepath.Join(l.dir, changesFile)); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	root, f, err := l.open(ctx)
	if err != nil {
		return 0, fmt.Errorf("purge the changes of notes: %w", err)
	}
	defer root.Close()
	defer func() { err = errors.Join(err, files.Unlock(f)) }()
	for _, name := range []string{changesBefore, changesFile} {
		data, err := root.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		var left []byte
		before := removed
		for line := range bytes.Lines(data) {
			var c change
			if json.Unmarshal(line, &c) != nil || c.Path != "" && drop(c) {
				removed++
			} else {
				left = append(left, line...)
			}
		}
		if removed == before {
			continue
		}
		if err := files.Write(root, name, left, 0o600); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// Purge removes the changes of a file from the log, or of the files below a folder; all for the empty path. They cannot be taken back
// then. It returns their number.
func (f *Folder) Purge(ctx context.Context, below string) (removed int, err error) {
	return f.changes.purge(ctx, func(c change) bool {
		return below == "" || c.Path == below || strings.HasPrefix(c.Path, below+"/")
	})
}

// DropChanges removes the changes of files from the log whose texts have one of those in said, but for what Forget has changed.
func (f *Folder) DropChanges(ctx context.Context, paths, said []string) error {
	_, err := f.changes.purge(ctx, func(c change) bool { return c.Forgets == "" && slices.Contains(paths, c.Path) && c.has(said) })
	return err
}

// shownText returns a text without markers.
func shownText(s string) string { return strings.TrimSpace(string(text.StripMarks([]byte(s)))) }

// Revisions returns the updates that were made, the latest first; none if there were none.
func (f *Folder) Revisions(ctx context.Context) ([]memory.Revision, error) {
	all, undone, err := f.made()
	if err != nil {
		return nil, err
	}
	notes, forgotten := map[string]bool{}, map[string]bool{}
	var out []memory.Revision
	for _, c := range all {
		forgets := c.Forgets != "" || len(c.Undoes) == 1 && forgotten[c.Undoes[0]]
		forgotten[c.ID] = forgets
		if notes[c.ID] = c.isNote(); c.isNote() || forgets { // what was forgotten is not listed
			continue
		}
		r := memory.Revision{ID: c.ID, Time: c.Time, Path: c.Path, Line: c.Line, OldText: shownText(c.Before), NewText: shownText(c.After),
			Reason: c.Reason, Source: c.Source, Undone: undone[c.ID]}
		if len(c.Undoes) == 1 && !notes[c.Undoes[0]] {
			r.Undoes = c.Undoes[0]
		}
		out = append(out, r)
	}
	slices.Reverse(out)
	return out, ctx.Err()
}

package kioku

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"kioku/internal/atomicfile"
	"kioku/internal/kept"
	"kioku/internal/safefile"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	userFile = "USER.md"
	// maxReasonChars is the maximum number of characters of the reason of an update.
	maxReasonChars = 1000
)

// Update replaces a text in a file of what stays true and fsyncs it: MEMORY.md, USER.md or a file in memory/. Files of days are
// records and are not updated. A copy of the file as it was is kept in the state folder, with the reason, and Undo takes the update
// back. The marker of the note records the source from then on.
//
// Update returns a *memory.InputError, and changes nothing, if the old text does not occur exactly once, or for another file than
// these; memory.ErrNotFound for a missing file; otherwise the errors of Append. It waits for other writers as Append does; what other
// programs append meanwhile is not lost.
func (m *Memory) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
	if err := m.enter(); err != nil {
		return memory.Updated{}, err
	}
	defer m.leave()
	u, err := m.checkUpdate(u)
	if err != nil {
		return memory.Updated{}, err
	}
	r := m.redaction(u.KeepSecrets)
	u.NewText = r.redact(u.NewText, u.OldText)
	u.Reason = r.redactAll(u.Reason)
	done, err := m.edit(ctx, u.Path, revision{Reason: u.Reason, Source: u.Source}, func(src []byte) (textChange, error) {
		within := u
		within.NewText = r.redactBehind(leadOf(src, u.OldText), u.NewText, u.OldText)
		return changeOf(src, within)
	})
	if err == nil {
		done.Secrets = r.tell()
	}
	return done, err
}

// checkUpdate returns an update with its defaults filled in, or a *memory.InputError.
func (m *Memory) checkUpdate(u memory.Update) (memory.Update, error) {
	if u.Path == "" {
		u.Path = longTermFile
	}
	bad := func(field, problem string) (memory.Update, error) {
		return u, &memory.InputError{Field: field, Problem: problem}
	}
	if err := checkPath(u.Path); err != nil {
		return u, err
	}
	readings, _ := memory.Readings(u.Path)
	if r, ok := m.fileOf(readings); ok {
		u.Path = r.Path
	}
	recalled := strings.TrimSpace(u.NewText) != ""
	u.OldText = strings.TrimSpace(removeMarkers(u.OldText))
	u.NewText = strings.TrimSpace(removeMarkers(strings.ReplaceAll(memory.StripRecalled(u.NewText), "\r\n", "\n")))
	u.Reason = text.OneLine(u.Reason)
	switch {
	case u.OldText == "":
		return bad("old_text", "must not be blank; memory_append adds a note")
	case len(u.OldText) > maxNoteBytes:
		return bad("old_text", fmt.Sprintf("is %d bytes long; the most is %d", len(u.OldText), maxNoteBytes))
	case len(u.NewText) > maxNoteBytes:
		return bad("new_text", fmt.Sprintf("is %d bytes long; the most is %d", len(u.NewText), maxNoteBytes))
	case !utf8.ValidString(u.NewText) || strings.ContainsRune(u.NewText, 0):
		return bad("new_text", "must be valid UTF-8 without NUL")
	case recalled && u.NewText == "":
		return bad("new_text", "was recalled from memory and is stored there already; write only what is new")
	case u.OldText == u.NewText:
		return bad("new_text", "is the same as old_text; nothing was changed")
	case utf8.RuneCountInString(u.Reason) > maxReasonChars:
		return bad("reason", fmt.Sprintf("must have at most %d characters", maxReasonChars))
	}
	if err := m.checkUpdated(u.Path); err != nil {
		return u, err
	}
	return u, checkSource(u.Source)
}

// checkUpdated returns an error for a file that is not updated.
func (m *Memory) checkUpdated(name string) error {
	root, _, ok := m.indexer.Owns(name)
	long := name == longTermFile || name == userFile || strings.HasPrefix(name, "memory/")
	day, _, _ := text.FindDay(path.Base(name))
	switch {
	case long && day != "":
		return &memory.InputError{Field: "path", Problem: fmt.Sprintf("%s is the record of a day, which is not changed; append a note that says what is true", name)}
	case !long || ok && root != m.workspace:
		return &memory.InputError{Field: "path", Problem: fmt.Sprintf("only %s, %s and files in memory/ that are not of a day are updated, not %s", longTermFile, userFile, name)}
	case !ok:
		return errNotFound
	}
	return nil
}

// edit changes a file of what stays true. change returns the change of a text that is made. A revision is kept of it.
func (m *Memory) edit(ctx context.Context, name string, r revision, change func([]byte) (textChange, error)) (memory.Updated, error) {
	if m.opt.Mode == ReadOnly {
		return memory.Updated{}, memory.ErrReadOnly
	}
	select {
	case m.appending[targetOf(name)] <- struct{}{}:
		defer func() { <-m.appending[targetOf(name)] }()
	case <-ctx.Done():
		return memory.Updated{}, fmt.Errorf("wait for other notes: %w", ctx.Err())
	}
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return memory.Updated{}, fmt.Errorf("%w: %w; nothing was changed", memory.ErrUnavailable, err)
	}
	defer root.Close()
	for range maxReopened {
		done, err := m.editOnce(ctx, root, name, r, change)
		if errors.Is(err, atomicfile.ErrChanged) {
			continue
		}
		if err == nil && m.opt.Mode == Own {
			m.syncInBackground(ctx)
		}
		return done, err
	}
	return memory.Updated{}, fmt.Errorf("update %s: %w: it changes again and again; try again later", name, memory.ErrUnavailable)
}

// editOnce is edit, but returns atomicfile.ErrChanged if the file changes meanwhile.
func (m *Memory) editOnce(ctx context.Context, root *os.Root, name string, r revision, change func([]byte) (textChange, error)) (memory.Updated, error) {
	limit := m.opt.Index.maxFileBytes()
	file, err := openExisting(ctx, root, name, limit)
	if err != nil {
		return memory.Updated{}, err
	}
	defer closeNotes([]*noteFile{file})
	if file.closed != "" {
		return memory.Updated{}, &memory.InputError{Field: "path", Problem: name + " is " + file.closed}
	}
	c, err := change(file.text)
	if err != nil {
		return memory.Updated{}, err
	}
	want := c.apply(file.text)
	if int64(len(want)) > limit {
		return memory.Updated{}, &memory.InputError{Field: "new_text", Problem: fmt.Sprintf("%s would be %s, and is not indexed then", name, safefile.TooLarge(limit))}
	}
	if err := ctx.Err(); err != nil {
		return memory.Updated{}, err
	}
	r.describe(name, file.text, want, c)
	id, err := m.keepRevision(name, file.text, r)
	if err != nil {
		return memory.Updated{}, unchanged(name, err)
	}
	err = atomicfile.Replacement{File: file.f, Have: file.text, Want: want, Shared: true}.Replace(root, name)
	if err != nil {
		m.forgetRevision(id, r)
		return memory.Updated{}, unchanged(name, err)
	}
	m.confirmRevision(id)
	return memory.Updated{Path: name, StartLine: r.Line, Revision: id}, nil
}

// openExisting opens and locks a file that must exist.
func openExisting(ctx context.Context, root *os.Root, name string, limit int64) (*noteFile, error) {
	f, _, err := safefile.OpenRegular(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("update %s: %w: %w", name, memory.ErrUnavailable, err)
	}
	f.Close()
	return openNotes(ctx, root, name, limit)
}

// unchanged returns the error of a file that could not be changed.
func unchanged(name string, err error) error {
	if errors.Is(err, atomicfile.ErrInUse) {
		err = fmt.Errorf("%w: it has a second name or another owner, who has to change it", memory.ErrNotWritable)
	}
	return fmt.Errorf("update: %w", unwritten(name, err))
}

// copyOf returns a function that opens a text as the file to copy.
func copyOf(src []byte) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
}

// kept returns the folder of the copies.
func (m *Memory) kept() kept.Folder {
	return kept.Folder{Path: kept.Of(m.opt.StateDir, m.opt.Agent), Now: m.opt.Now}
}

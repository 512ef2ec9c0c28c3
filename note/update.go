package note

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

// maxReasonChars is the maximum number of characters of the reason of an update.
const maxReasonChars = 1000

// Update replaces a text in a file of what stays true and fsyncs it: MEMORY.md, USER.md or a file in memory/. Files of days are
// records and are not updated. The change log has what stood there, with the reason, and Undo takes the update back. The marker of the note
// records the source from then on.
//
// Update returns a *memory.InputError, and changes nothing, if the old text does not occur exactly once, or for another file than
// these; memory.ErrNotFound for a missing file; otherwise the errors of Append. It waits for other writers as Append does; what other
// programs append meanwhile is not lost.
func (f *Folder) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
	u, err := f.checkUpdate(u)
	if err != nil {
		return memory.Updated{}, err
	}
	if err := f.mayHold(ctx, u.NewText, u.Source); err != nil {
		return memory.Updated{}, err
	}
	r := redaction{keep: u.KeepSecrets}
	u.NewText = r.redact(u.NewText, u.OldText)
	u.Reason = r.redactAll(u.Reason)
	done, err := f.edit(ctx, u.Path, func(src []byte) (patch, change, error) {
		within := u
		within.NewText = r.redactBehind(leadOf(src, u.OldText), u.NewText, u.OldText)
		p, err := changeOf(src, within)
		return p, change{Reason: u.Reason, Source: u.Source}, err
	})
	if err == nil {
		done.Secrets = r.replaced()
	}
	return done, err
}

// checkUpdate returns an update with its defaults filled in, or a *memory.InputError.
func (f *Folder) checkUpdate(u memory.Update) (memory.Update, error) {
	if u.Path == "" {
		u.Path = longTermFile
	}
	bad := func(field, problem string) (memory.Update, error) {
		return u, &memory.InputError{Field: field, Problem: problem}
	}
	u.OldText = strings.TrimSpace(removeMarkers(u.OldText))
	switch {
	case u.OldText == "":
		return bad("old_text", "must not be blank; memory_append adds a note")
	case len(u.OldText) > maxNoteBytes:
		return bad("old_text", fmt.Sprintf("is %d bytes long; the most is %d", len(u.OldText), maxNoteBytes))
	}
	var err error
	if u.NewText, u.Reason, err = checkNewText(u.NewText, u.Reason); err != nil {
		return u, err
	}
	if u.OldText == u.NewText {
		return bad("new_text", "is the same as old_text; nothing was changed")
	}
	if err := f.checkUpdated(u.Path); err != nil {
		return u, err
	}
	return u, checkSource(u.Source)
}

// checkNewText returns the text that takes the place of another one and the reason as they are stored, or a *memory.InputError.
func checkNewText(said, why string) (newText, reason string, err error) {
	newText = strings.TrimSpace(removeMarkers(strings.ReplaceAll(memory.StripRecalled(said), "\r\n", "\n")))
	reason = text.OneLine(why)
	field, problem := "new_text", ""
	switch {
	case len(newText) > maxNoteBytes:
		problem = fmt.Sprintf("is %d bytes long; the most is %d", len(newText), maxNoteBytes)
	case !utf8.ValidString(newText) || strings.ContainsRune(newText, 0):
		problem = "must be valid UTF-8 without NUL"
	case newText == "" && strings.TrimSpace(said) != "":
		problem = "was recalled from memory and is stored there already; write only what is new"
	case utf8.RuneCountInString(reason) > maxReasonChars:
		field, problem = "reason", fmt.Sprintf("must have at most %d characters", maxReasonChars)
	default:
		return newText, reason, nil
	}
	return "", "", &memory.InputError{Field: field, Problem: problem}
}

// checkUpdated returns an error for a file that is not updated.
func (f *Folder) checkUpdated(name string) error {
	root, ok := f.opt.Owns(name)
	long := name == longTermFile || name == userFile || strings.HasPrefix(name, "memory/")
	day, _, _ := text.FindDay(path.Base(name))
	switch {
	case long && day != "":
		return &memory.InputError{Field: "path", Problem: fmt.Sprintf("%s is the record of a day, which is not changed; append a note that says what is true", name)}
	case !long || ok && root != f.opt.Path:
		return &memory.InputError{Field: "path", Problem: fmt.Sprintf("only %s, %s and files in memory/ that are not of a day are updated, not %s", longTermFile, userFile, name)}
	case !ok:
		return memory.ErrNoFile
	}
	return nil
}

// edit changes a file of what stays true, and records that before. plan returns the patch of a text, and why and for whom it is made.
func (f *Folder) edit(ctx context.Context, name string, plan func(src []byte) (patch, change, error)) (memory.Updated, error) {
	done, err := f.takeTurn(ctx, memory.TargetLongTerm)
	if err != nil {
		return memory.Updated{}, err
	}
	defer done()
	root, err := os.OpenRoot(f.opt.Path)
	if err != nil {
		return memory.Updated{}, fmt.Errorf("%w: %w; nothing was changed", memory.ErrUnavailable, err)
	}
	defer root.Close()
	for range maxReopened {
		done, err := f.editOnce(ctx, root, name, plan)
		if !errors.Is(err, files.ErrChanged) {
			return done, err
		}
	}
	return memory.Updated{}, fmt.Errorf("update %s: %w: it changes again and again; try again later", name, memory.ErrUnavailable)
}

// editOnce is edit, but returns files.ErrChanged if the file changes meanwhile.
func (f *Folder) editOnce(ctx context.Context, root *os.Root, name string, plan func(src []byte) (patch, change, error)) (memory.Updated, error) {
	file, err := openExisting(ctx, root, name, f.opt.MaxFileBytes)
	if err != nil {
		return memory.Updated{}, err
	}
	defer closeNotes([]*noteFile{file})
	if file.closed != "" {
		return memory.Updated{}, &memory.InputError{Field: "path", Problem: name + " is " + file.closed}
	}
	p, c, err := plan(file.text)
	if err != nil {
		return memory.Updated{}, err
	}
	want := p.apply(file.text)
	if int64(len(want)) > f.opt.MaxFileBytes {
		return memory.Updated{}, &memory.InputError{Field: "new_text", Problem: fmt.Sprintf("%s would be %s, and is not indexed then", name, files.TooLarge(f.opt.MaxFileBytes))}
	}
	if err := ctx.Err(); err != nil {
		return memory.Updated{}, err
	}
	c.ID, c.Time, c.Path, c.Line = f.NewID(), f.opt.Now().UTC(), name, 1+countLineBreaks(file.text[:p.from])
	c.Before, c.After = string(file.text[p.from:p.to]), p.added
	c.Lead, c.Tail = p.around(file.text)
	if err := f.changes.add(ctx, c); err != nil {
		return memory.Updated{}, unchanged(name, err)
	}
	err = files.Replacement{File: file.f, Have: file.text, Want: want, Shared: true}.Replace(root, name)
	if err != nil {
		f.voidChange(ctx, c)
		return memory.Updated{}, unchanged(name, err)
	}
	return memory.Updated{Path: name, StartLine: c.Line, Revision: c.ID}, nil
}

// voidChange records that a change was not made, unless it was made all the same.
func (f *Folder) voidChange(ctx context.Context, c change) {
	if f.isMade(c) {
		return
	}
	if err := f.changes.add(context.WithoutCancel(ctx), change{ID: c.ID, Void: true}); err != nil {
		f.opt.Log.Warn("an update that failed stays in the list of revisions", "revision", c.ID, "err", err)
	}
}

// openExisting opens and locks a file that must exist.
func openExisting(ctx context.Context, root *os.Root, name string, limit int64) (*noteFile, error) {
	f, _, err := files.OpenRegular(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, memory.ErrNoFile
	}
	if err != nil {
		return nil, fmt.Errorf("update %s: %w: %w", name, memory.ErrUnavailable, err)
	}
	f.Close()
	return openNotes(ctx, root, name, limit)
}

// unchanged returns the error of a file that could not be changed.
func unchanged(name string, err error) error {
	if errors.Is(err, files.ErrInUse) {
		err = fmt.Errorf("%w: it has a second name or another owner, who has to change it", memory.ErrNotWritable)
	}
	return fmt.Errorf("update: %w", unwritten(name, err))
}

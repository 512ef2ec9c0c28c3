package decision

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"kioku/derive/unit"
	"kioku/internal/files"
	"kioku/memory"
)

// Path is where the decisions are in a workspace.
const Path = "derived/decisions.md"

// maxBytes is the maximum size of the file.
const maxBytes = 4 << 20

// header begins a new file.
const header = `---
kioku: derived
---
# Decisions about derived memory

Kioku appends a line here when somebody pins, forgets, corrects or settles something, and never changes a line.
A later line outranks an earlier one. Delete a line to take a decision back.

`

// File is what a file of decisions says.
type File struct {
	// Decisions in the order of the file, without those that were undone.
	Decisions []unit.Decision
	// Bad are the items of lists in it that are no decisions. They are left as they are.
	Bad []Bad
	// SHA256 of the file, zero if there is none.
	SHA256 [32]byte
}

// Bad is a line that is no decision.
type Bad struct {
	// Line from 1.
	Line int
	// Reason continues the number of the line: "has the verb ...".
	Reason string
}

// String returns "line 7: the reason".
func (b Bad) String() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// Parse returns what a file says. Lines that are no items of a list are text for people.
func Parse(data []byte) File {
	file := File{SHA256: sha256.Sum256(data)}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\r\n \t")
		if !attempt(line) {
			continue
		}
		d, err := parseLine(line)
		if err != nil {
			file.Bad = append(file.Bad, Bad{number, err.Error()})
			continue
		}
		d.Line = number
		if d.Verb != unit.DecideUndo {
			file.Decisions = append(file.Decisions, d)
		} else if !file.undo(d) {
			file.Bad = append(file.Bad, Bad{number, "undoes nothing: there is no decision about this unit before it"})
		}
	}
	return file
}

// undo takes the last decision about the target of an undo back. It returns false if there is none.
func (f *File) undo(d unit.Decision) bool {
	for i, before := range slices.Backward(f.Decisions) {
		if before.Kind == d.Kind && before.Target == d.Target {
			f.Decisions = slices.Delete(f.Decisions, i, i+1)
			return true
		}
	}
	return false
}

// Read returns what the decisions of a workspace say; nothing and no error if there is no file. Symbolic links are not followed,
// and a file of more than 4 MiB is not read: then it returns an error that says so.
func Read(root *os.Root) (File, error) {
	data, _, err := files.Read(root, Path, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, unread(err)
	}
	return Parse(data), nil
}

// unread says what a person can do about a file that cannot be used.
func unread(err error) error {
	skip, ok := errors.AsType[*files.SkipError](err)
	switch {
	case !ok:
		return fmt.Errorf("read %s: %w", Path, err)
	case skip.Reason == files.TooLarge(maxBytes):
		return fmt.Errorf("read %s: %w; delete lines that no longer matter", Path, err)
	}
	return fmt.Errorf("read %s: %w; put a plain file, or nothing, in its place", Path, err)
}

// Append adds a decision at the end of the decisions of a workspace and fsyncs them; it creates the file, and its folder. It waits
// until ctx ends for others who append. It returns the line, a *memory.InputError for a decision that no line can say,
// memory.ErrNotWritable and memory.ErrNoSpace. After an error the file says what it said before, but it may have the beginning of
// a line.
func Append(ctx context.Context, root *os.Root, d unit.Decision) (line string, err error) {
	if line, err = Format(d); err != nil {
		return "", err
	}
	folder, err := openFolder(root)
	if err != nil {
		return "", unwritten(err)
	}
	defer folder.Close()
	if info, err := folder.Lstat(path.Base(Path)); err == nil {
		if reason := files.Refusal(info); reason != "" {
			return "", unwritten(&files.SkipError{Reason: reason})
		}
	}
	f, err := files.OpenLocked(ctx, folder, path.Base(Path), 0o644)
	if err != nil {
		return "", unwritten(err)
	}
	err = appendLine(folder, f, line)
	_ = files.Unlock(f) // what was written is on the disk already
	return line, unwritten(err)
}

// openFolder opens the folder of the decisions, which it creates if there is none.
func openFolder(root *os.Root) (*os.Root, error) {
	dir := path.Dir(Path)
	folder, err := files.OpenFolder(root, dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return folder, err
	}
	if err := root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := files.SyncFolder(root, "."); err != nil {
		return nil, err
	}
	return files.OpenFolder(root, dir)
}

// appendLine adds a line to the open file, and the header before it if the file is empty.
func appendLine(folder *os.Root, f *os.File, line string) error {
	have, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return err
	}
	add := line + "\n"
	if len(have) > 0 && have[len(have)-1] != '\n' {
		add = "\n" + add
	}
	if len(bytes.TrimSpace(have)) == 0 {
		add = header + line + "\n"
	}
	if bytes.Contains(have, []byte("\r\n")) {
		add = strings.ReplaceAll(add, "\n", "\r\n")
	}
	if len(have)+len(add) > maxBytes {
		return &files.SkipError{Reason: files.TooLarge(maxBytes)}
	}
	if err := files.Append(f, []byte(add)); err != nil {
		return err
	}
	if len(have) > 0 {
		return nil
	}
	return files.SyncFolder(folder, ".")
}

// unwritten says what a person can do about a decision that could not be written.
func unwritten(err error) error {
	skip, refused := errors.AsType[*files.SkipError](err)
	switch {
	case err == nil:
		return nil
	case refused && skip.Reason == files.TooLarge(maxBytes):
		return fmt.Errorf("write %s: %w; delete lines that no longer matter", Path, err)
	case refused:
		return fmt.Errorf("write %s: %w; put a plain file, or nothing, in its place", Path, err)
	case errors.Is(err, files.ErrUnstable):
		return fmt.Errorf("%w: write %s: %w", memory.ErrUnavailable, Path, err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: write %s: %w", memory.ErrNotWritable, Path, err)
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: write %s: %w", memory.ErrNoSpace, Path, err)
	}
	return fmt.Errorf("write %s: %w", Path, err)
}

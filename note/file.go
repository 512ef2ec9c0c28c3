package note

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

// maxReopened is the maximum number of times that a file is opened again because it was replaced while Append waited for
// its lock. A program that does nothing but replace it wins some hundred times in a row.
const maxReopened = 10_000

// maxInserted is the number of times that Append tries to put a note into the middle of a file that others change all the time, before it
// puts it at the end.
const maxInserted = 100

// searchedFiles is how many times MaxFileBytes of a file are searched for a note. Other programs can make a file too large to
// be indexed, but the keys in it still hold.
const searchedFiles = 4

// noteFile is a file of notes that is open and locked.
type noteFile struct {
	name string
	// f is nil for a file that is only read.
	f *os.File
	// text is what the file contains, or the beginning of it if it is much too large.
	text []byte
	// closed says why the file takes no notes and no changes; empty if it takes them.
	closed string
}

// notesFolder is the folder of the daily files of the owner.
const notesFolder = "memory"

// dayFile returns the path of the file of a day in a folder. A day with more text than one file may have goes on in part 2, 3, ...
func dayFile(folder string, day time.Time, part int) string {
	name := day.Format(time.DateOnly)
	if part > 1 {
		name = fmt.Sprintf("%s-%d", name, part)
	}
	return path.Join(folder, name+".md")
}

// openDay opens the files of a day in a folder, and creates the first one. The lock of the first keeps out whoever else appends to the day.
func openDay(ctx context.Context, root *os.Root, folder string, day time.Time, limit int64) ([]*noteFile, error) {
	var files []*noteFile
	for part := 1; ; part++ {
		name := dayFile(folder, day, part)
		if _, err := root.Lstat(name); part > 1 && errors.Is(err, fs.ErrNotExist) {
			return files, nil
		}
		file, err := openNotes(ctx, root, name, limit)
		if err != nil {
			closeNotes(files)
			return nil, err
		}
		files = append(files, file)
	}
}

// openNotes opens or creates a file of notes, and its folder, waits for the kernel's lock on it until ctx ends, and reads it.
func openNotes(ctx context.Context, root *os.Root, name string, limit int64) (*noteFile, error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return nil, unwritten(name, err)
	}
	f, err := openWithLock(ctx, root, name, 0o644)
	if err != nil {
		return nil, unwritten(name, err)
	}
	src, err := io.ReadAll(io.LimitReader(f, searchedFiles*limit))
	if err != nil {
		return nil, unwritten(name, errors.Join(err, f.Close()))
	}
	return &noteFile{name: name, f: f, text: src, closed: closedBy(src, limit)}, nil
}

// closedBy says why a file with this text takes no notes: it would not be indexed, or would not be read as it is now.
func closedBy(src []byte, limit int64) string {
	if int64(len(src)) > limit {
		return files.TooLarge(limit) + ", and is not indexed"
	}
	decoded, encoding, err := text.Decode(src)
	switch {
	case err != nil:
		return err.Error()
	case encoding != "":
		return "in " + encoding + "; save it as UTF-8 first"
	case bytes.Count(decoded, []byte("\n")) != bytes.Count(src, []byte("\n")):
		return "a file whose lines end with CR; save it with other line ends first"
	}
	return ""
}

// withLineEnds returns a text with the line ends of the file.
func (file *noteFile) withLineEnds(text string) string {
	if bytes.Contains(file.text, []byte("\r\n")) {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// closeNotes closes files and releases their locks.
func closeNotes(all []*noteFile) {
	for _, file := range all {
		_ = files.Unlock(file.f) // what was written is on the disk already
	}
}

// openWithLock opens or creates a regular file and waits for the kernel's lock on it.
func openWithLock(ctx context.Context, root *os.Root, name string, perm os.FileMode) (*os.File, error) {
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file; move it away", memory.ErrUnavailable)
	}
	f, err := files.OpenLocked(ctx, root, name, perm)
	if errors.Is(err, files.ErrUnstable) {
		err = fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	return f, err
}

// AddLines appends lines to a file of a folder, which it makes if there is none, unless the file says already what they say, as says tells of
// a text. If it would not say so with the lines either, AddLines writes nothing, and the error has the last line. Other processes that do the
// same wait for each other.
func AddLines(ctx context.Context, folder, name, lines string, says func(text []byte) (bool, error)) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	f, err := openWithLock(ctx, root, name, 0o644)
	if err != nil {
		return unwritten(name, err)
	}
	defer files.Unlock(f)
	text, err := io.ReadAll(f)
	if err != nil {
		return unwritten(name, err)
	}
	said, err := says(text)
	if said && err == nil {
		return nil
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		lines = "\n" + lines
	}
	if err == nil {
		said, err = says(append(text, lines...))
	}
	if err != nil || !said {
		all := strings.Split(strings.TrimSpace(lines), "\n")
		return errors.Join(fmt.Errorf("%s: add the line %s to it yourself", name, all[len(all)-1]), err)
	}
	if err := files.Append(f, []byte(lines)); err != nil {
		return unwritten(name, err)
	}
	return files.SyncFolder(root, ".")
}

// deduplicated returns that a line of the file has the note, once the note is on the disk: a write whose fsync failed may have
// left it.
func (file *noteFile) deduplicated(line int) (memory.Appended, error) {
	if file.f != nil {
		if err := file.f.Sync(); err != nil {
			return memory.Appended{}, unwritten(file.name, err)
		}
	}
	return memory.Appended{Path: file.name, StartLine: line, Deduplicated: true}, nil
}

// write appends data, which is to be found at the end of the file on the disk when write returns. Nothing is written once ctx
// has ended. It returns the number of the line that data begins in.
func (file *noteFile) write(ctx context.Context, root *os.Root, data []byte) (line int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := files.Append(file.f, data); err != nil {
		return 0, err
	}
	if len(file.text) == 0 {
		err = cmp.Or(files.SyncFolder(root, path.Dir(file.name)), files.SyncFolder(root, "."))
	}
	if err != nil {
		return 0, err
	}
	return file.lineOf(len(data))
}

// lineOf returns the line in which the n bytes begin that were just written. Others may have appended since the file was read.
func (file *noteFile) lineOf(n int) (int, error) {
	end, err := file.f.Seek(0, io.SeekCurrent)
	before := file.text
	if start := end - int64(n); err == nil && start != int64(len(before)) {
		before = make([]byte, start)
		_, err = file.f.ReadAt(before, 0)
	}
	return 1 + countLineBreaks(before), err
}

// readDay reads the files of a day in a folder, without those that are much too large. It takes no locks.
func readDay(root *os.Root, folder string, day time.Time, limit int64) []*noteFile {
	var all []*noteFile
	for part := 1; ; part++ {
		name := dayFile(folder, day, part)
		if _, err := root.Lstat(name); part > 1 && err != nil {
			return all
		}
		if src, _, err := files.Read(root, name, searchedFiles*limit); err == nil {
			all = append(all, &noteFile{name: name, text: src})
		}
	}
}

// unwritten returns the error of a note that could not be written. It wraps the error of package memory that fits, if any.
func unwritten(name string, err error) error {
	var kind error
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		kind = memory.ErrNotWritable
	case isFull(err):
		kind = memory.ErrNoSpace
	case isOutOfRoom(err), errors.Is(err, syscall.EIO):
		kind = memory.ErrUnavailable
	}
	if kind == nil || errors.Is(err, kind) {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	return fmt.Errorf("append to %s: %w: %w", name, kind, err)
}

// isFull reports whether a write failed because the disk, a quota or the size of a file is used up.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// isOutOfRoom reports whether a write failed for want of a resource that may come back: room on the disk, or file descriptors.
func isOutOfRoom(err error) bool {
	return isFull(err) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

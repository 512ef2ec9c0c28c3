package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"kioku/internal/files"
)

// Bad is a line of a transcript that was skipped.
type Bad struct {
	// Line is the number of the line, from 1.
	Line int
	// Err says what is wrong with the line.
	Err error
}

// String returns "line 3: ...".
func (b Bad) String() string { return fmt.Sprintf("line %d: %v", b.Line, b.Err) }

// Report describes the damage that was found in a transcript.
type Report struct {
	// Bad are lines that were skipped. They stay in the file.
	Bad []Bad
	// Torn is the length in bytes of an unfinished last line, 0 if there is none. No Append of this line succeeded.
	Torn int
	// TornFile is the name of the file, beside the transcript, to which Open has moved the unfinished line; empty if there
	// is none.
	TornFile string
}

// Line is an entry and its place in the file.
type Line struct {
	Entry
	// Number of the line, from 1.
	Number int
	// Bytes is the length of the line with its end, which the last line may not have yet.
	Bytes int
}

// Read calls each for all entries of a transcript in order. A line that is no entry, or for which each returns an error, is
// skipped and reported as bad. A last line without an end counts as an entry if it is whole, and otherwise as torn. Read
// returns the errors of r.
func Read(r io.Reader, each func(Line) error) (Report, error) {
	var report Report
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return report, err
		}
		ended := err == nil
		if len(bytes.TrimSpace(line)) > 0 {
			e, bad := parse(line)
			if bad == nil {
				bad = each(Line{Entry: e, Number: number, Bytes: len(bytes.TrimSuffix(line, []byte("\n"))) + 1})
			}
			switch {
			case bad != nil && ended:
				report.Bad = append(report.Bad, Bad{number, bad})
			case bad != nil:
				report.Torn = len(line)
			}
		}
		if !ended {
			return report, nil
		}
	}
}

// openLocked opens or creates a regular file and takes the kernel's lock on it, which ends with the process.
func openLocked(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; move it away", name)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err = files.TryLock(f); errors.Is(err, files.ErrHeld) {
		err = fmt.Errorf("%w; end the program that has it open, or take another session", ErrInUse)
	}
	if err == nil && info == nil {
		err = files.SyncFolder(root, ".")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// mend makes a file end with a whole line: it moves an unfinished line of torn bytes to another file, and completes an entry
// without a line end. It returns the name of the other file, empty if torn is 0, and the size of the file.
func mend(root *os.Root, id string, f *os.File, torn int) (moved string, size int64, err error) {
	if size, err = f.Seek(0, io.SeekEnd); err != nil || size == 0 {
		return "", size, err
	}
	if torn > 0 {
		size -= int64(torn)
		if err := saveTorn(root, id+tornSuffix, io.NewSectionReader(f, size, int64(torn))); err != nil {
			return "", size, fmt.Errorf("move an unfinished line: %w", err)
		}
		return id + tornSuffix, size, errors.Join(f.Truncate(size), f.Sync())
	}
	end := make([]byte, 1)
	if _, err := f.ReadAt(end, size-1); err != nil || end[0] == '\n' {
		return "", size, err
	}
	if _, err := f.WriteString("\n"); err != nil {
		return "", size, err
	}
	return "", size + 1, f.Sync()
}

// saveTorn appends an unfinished line to a file, with an end, and waits for the disk.
func saveTorn(root *os.Root, name string, from io.Reader) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil {
		_, err = f.WriteString("\n")
	}
	return errors.Join(err, f.Sync(), f.Close(), files.SyncFolder(root, "."))
}

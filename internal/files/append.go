package files

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// ErrTorn reports that a part of what was to be appended may be left in the file.
var ErrTorn = errors.New("a part of it may be left in the file")

// errFollowed: what was written is no longer the end of the file.
var errFollowed = errors.New("somebody else has written behind it")

const (
	// leaseTries is how often Append asks for sole use of a file, and leasePause how long it waits in between.
	leaseTries = 5
	leasePause = 2 * time.Millisecond
)

// Append adds data at the end of f, which is open for reading and appending, and flushes it to the disk. After an error
// the file is as it was, unless the error wraps ErrTorn. A crash may leave a part of data.
//
// Others may append to the same file at any time, also without a lock. After an error Append cuts off what it has written
// only if that is the end of the file and if the system grants sole use of the file meanwhile (a lease, on Linux), so
// that it never cuts off what somebody else wrote.
func Append(f *os.File, data []byte) error {
	n, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil || n == 0 {
		return err
	}
	if undo := CutBack(f, data[:n]); undo != nil {
		return errors.Join(err, undo, ErrTorn)
	}
	return err
}

// CutBack removes what was just written to f. It returns an error and changes nothing if something follows it, or may follow it
// because others have the file open.
func CutBack(f *os.File, written []byte) error {
	end, err := f.Seek(0, io.SeekCurrent) // a write at the end of a file leaves the offset behind what it wrote
	if err != nil {
		return err
	}
	release, err := soleUse(f)
	if err != nil {
		return err
	}
	defer release()
	start := end - int64(len(written))
	info, err := f.Stat()
	if err != nil {
		return err
	}
	found := make([]byte, len(written))
	if _, err := f.ReadAt(found, start); err != nil {
		return err
	}
	if info.Size() != end || !bytes.Equal(found, written) {
		return errFollowed
	}
	return f.Truncate(start)
}

// soleUse returns once nobody else has f open. Whoever opens it then waits until release is called. It returns an error if
// others keep f open, or if the system cannot tell.
func soleUse(f *os.File) (release func(), err error) {
	for try := 1; ; try++ {
		if release, err = lease(f); err == nil || try == leaseTries {
			return release, err
		}
		time.Sleep(leasePause)
	}
}

package files

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"kioku/internal/text"
)

// readTries bounds the attempts to read a file that changes while it is read.
const readTries = 3

// Text is the text of a file.
type Text struct {
	// Data is the text as [text.Decode] returns it.
	Data []byte
	// SHA256 is the hash of the bytes of the file.
	SHA256 [sha256.Size]byte
	// Encoding is that of the file if it is not UTF-8; empty if it is.
	Encoding string
	// Info is the information from just before the file was read.
	Info fs.FileInfo
}

// ReadText reads a file as Read does, and decodes it; JSON lines are UTF-8 by definition. For one that cannot be decoded it returns a *SkipError, and all but the text.
func ReadText(root *os.Root, rel string, limit int64) (Text, error) {
	data, info, err := Read(root, rel, limit)
	if err != nil {
		return Text{}, err
	}
	t := Text{Info: info, SHA256: sha256.Sum256(data)}
	if path.Ext(rel) == ".jsonl" {
		if t.Data = data; text.IsBinary(data) {
			return t, &SkipError{text.ErrBinary.Error()}
		}
		return t, nil
	}
	if t.Data, t.Encoding, err = text.Decode(data); err != nil {
		err = &SkipError{err.Error()}
	}
	return t, err
}

// Read returns the bytes of the file rel of root and its information from just before they were read. A file that changes
// meanwhile is read again, a few times. In addition to the errors of [OpenRegular] it returns a *SkipError for a file of
// more than limit bytes.
func Read(root *os.Root, rel string, limit int64) ([]byte, fs.FileInfo, error) {
	for try := 1; ; try++ {
		data, info, unchanged, err := readOnce(root, rel, limit)
		if err != nil || unchanged || try == readTries {
			return data, info, err
		}
	}
}

func readOnce(root *os.Root, rel string, limit int64) (data []byte, before fs.FileInfo, unchanged bool, err error) {
	f, before, err := OpenRegular(root, rel)
	if err != nil {
		return nil, nil, false, err
	}
	defer f.Close()
	if before.Size() > limit {
		return nil, nil, false, &SkipError{TooLarge(limit)}
	}
	buf := bytes.NewBuffer(make([]byte, 0, before.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, nil, false, err
	}
	data = buf.Bytes()
	if int64(len(data)) > limit {
		return nil, nil, false, &SkipError{TooLarge(limit)}
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, false, err
	}
	return data, before, Unchanged(before, after), nil
}

// Unchanged reports whether a and b describe the same file with the same size, mode and time.
func Unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}

// TooLarge is the reason to skip a file of more than limit bytes.
func TooLarge(limit int64) string {
	switch {
	case limit%(1<<20) == 0:
		return fmt.Sprintf("larger than %d MiB", limit>>20)
	case limit%(1<<10) == 0:
		return fmt.Sprintf("larger than %d KiB", limit>>10)
	}
	return fmt.Sprintf("larger than %d bytes", limit)
}

// Reason says in a few words why a file could not be read.
func Reason(err error) string {
	skip, ok := errors.AsType[*SkipError](err)
	switch {
	case ok:
		return skip.Reason
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}

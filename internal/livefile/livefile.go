// Package livefile reads small text files that people edit while the program runs. A file is read through os.Root as the
// memory's own files are, and then kept until its information on the disk changes.
package livefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kioku/indexer"
)

// settle is how old a change must be for a file to be kept: a second change within the clock's step cannot be seen.
const settle = 100 * time.Millisecond

// Text is what a file holds: valid UTF-8 without a byte order mark, lines ending with \n.
type Text struct {
	Text string
	// Version is another number whenever Text is another text.
	Version uint64
}

// Cache keeps the files that it has read. Its methods may be called concurrently.
type Cache struct {
	limit int64

	mu      sync.Mutex
	entries map[string]entry
	version uint64
}

// entry is a file as it was read. info is nil where it has to be read again.
type entry struct {
	info fs.FileInfo
	text Text
}

// New returns an empty cache for files of at most limit bytes.
func New(limit int64) *Cache {
	return &Cache{limit: limit, entries: map[string]entry{}}
}

// Read returns the file rel of the folder dir. A file that has not changed costs one look at its information. The error is
// fs.ErrNotExist for a missing file and an *indexer.SkipError, with the reason, for a symbolic link anywhere in rel, for a
// file with a second name, for what is no regular file, is too large or holds a NUL byte.
func (c *Cache) Read(dir, rel string) (Text, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := filepath.Join(dir, rel)
	info, err := os.Lstat(path)
	if err != nil {
		delete(c.entries, path)
		return Text{}, err
	}
	known, ok := c.entries[path]
	if ok && known.info != nil && same(known.info, info) {
		return known.text, nil
	}
	data, info, err := read(dir, rel, c.limit)
	if err != nil {
		delete(c.entries, path)
		return Text{}, err
	}
	text := clean(data)
	if !ok || text != known.text.Text {
		c.version++
		known.text = Text{Text: text, Version: c.version}
	}
	known.info = info
	c.entries[path] = known
	return known.text, nil
}

// same reports whether nothing tells that a file has changed.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}

// read returns the bytes of a file. The information is nil where the file may have changed since.
func read(dir, rel string, limit int64) ([]byte, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, before, err := indexer.OpenRegular(root, filepath.ToSlash(rel))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, err
	}
	switch {
	case int64(len(data)) > limit:
		return nil, nil, &indexer.SkipError{Reason: fmt.Sprintf("larger than %d bytes", limit)}
	case bytes.IndexByte(data, 0) >= 0:
		return nil, nil, &indexer.SkipError{Reason: "binary (NUL byte)"}
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !same(before, after) || time.Since(after.ModTime()) < settle {
		return data, nil, nil
	}
	return data, before, nil
}

// clean makes text of bytes.
func clean(data []byte) string {
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return text
}

// Reason says in a few words why a file could not be read.
func Reason(err error) string {
	skip, ok := errors.AsType[*indexer.SkipError](err)
	switch {
	case ok:
		return skip.Reason
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	return err.Error()
}

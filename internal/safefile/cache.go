package safefile

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// settleTime is how old a change must be for a file to be cached: two changes within one step of the file system's clock
// look like one.
const settleTime = 100 * time.Millisecond

// Cache reads small text files that people edit while the program runs, and keeps them until their information on the
// disk changes. Its methods may be called concurrently.
type Cache struct {
	limit int64

	mu      sync.Mutex
	entries map[string]entry
}

// entry is a file as it was read. info is nil if it has to be read again.
type entry struct {
	info fs.FileInfo
	text string
}

// NewCache returns an empty cache for files of at most limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, entries: map[string]entry{}}
}

// Read returns the text of the file rel of the folder dir: valid UTF-8 without a byte order mark, with lines that end with
// \n. For a file that has not changed it only looks at the information. It returns the errors of the package's [Read], and a
// *SkipError for a NUL byte anywhere in the file.
func (c *Cache) Read(dir, rel string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := filepath.Join(dir, rel)
	info, err := os.Lstat(path)
	if err != nil {
		delete(c.entries, path)
		return "", err
	}
	known := c.entries[path]
	if known.info != nil && Unchanged(known.info, info) {
		return known.text, nil
	}
	text, info, err := c.readText(dir, rel)
	if err != nil {
		delete(c.entries, path)
		return "", err
	}
	c.entries[path] = entry{info, text}
	return text, nil
}

// readText returns the text of a file. The information is nil if the file may have changed since.
func (c *Cache) readText(dir, rel string) (string, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	started := time.Now()
	data, info, err := Read(root, filepath.ToSlash(rel), c.limit)
	if err != nil {
		return "", nil, err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", nil, &SkipError{ReasonBinary}
	}
	if started.Sub(info.ModTime()) < settleTime {
		info = nil
	}
	return plainText(data), info, nil
}

// plainText makes valid text with plain line ends of bytes.
func plainText(data []byte) string {
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return text
}

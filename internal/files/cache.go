package files

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kioku/internal/text"
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
	read, info, err := c.readText(dir, rel)
	if err != nil {
		delete(c.entries, path)
		return "", err
	}
	c.entries[path] = entry{info, read}
	return read, nil
}

// readText returns the text of a file. The information is nil if the file may have changed since.
func (c *Cache) readText(dir, rel string) (string, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	started := time.Now()
	src, err := ReadText(root, filepath.ToSlash(rel), c.limit)
	if err != nil {
		return "", nil, err
	}
	if bytes.IndexByte(src.Data, 0) >= 0 {
		return "", nil, &SkipError{text.ErrBinary.Error()}
	}
	if started.Sub(src.Info.ModTime()) < settleTime {
		src.Info = nil
	}
	return lineEnds.Replace(strings.ToValidUTF8(string(src.Data), "\ufffd")), src.Info, nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

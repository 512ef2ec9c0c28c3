package kioku

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"kioku/chunker"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/note"
)

const (
	// maxOriginFiles is the number of files above which the cache of origins is emptied, and maxOriginBytes the size of their lines.
	maxOriginFiles = 1000
	maxOriginBytes = 16 << 20
	// stringBytes is the size of a string without its bytes.
	stringBytes = 16
)

// fileOrigins are the origins of the notes of a file as it was when it was read.
type fileOrigins struct {
	// place of the file on the disk.
	place string
	info  fs.FileInfo
	notes []note.Origin
	// lines of the file without markers; nil if there are no notes.
	lines []string
}

// originCache contains the origins of files that had hits. The index does not have them, because it contains nothing of markers.
type originCache struct {
	mu    sync.Mutex
	files map[string]fileOrigins // by path in the index; guarded by mu
	// bytes is the size of all files. Guarded by mu.
	bytes int64
	// transcripts are the offsets of transcripts that had hits. Guarded by mu.
	transcripts map[string]lineOffsets
}

// addOrigins fills in the origins of hits.
func (m *Memory) addOrigins(hits []memory.Hit) {
	for i := range hits {
		h := &hits[i]
		if h.Source == memory.SourceSessions {
			h.Origin = m.sessionOrigin(h)
		} else {
			h.Origin = m.fileOrigin(h)
		}
	}
}

// unknownOrigin is the origin of a hit whose file cannot be read any more. It may have been anybody's.
var unknownOrigin = &memory.Origin{Authors: []memory.Author{{}}}

// fileOrigin returns the origin of a hit in a Markdown file.
func (m *Memory) fileOrigin(h *memory.Hit) *memory.Origin {
	f, known := m.origins.known(h.Path)
	if !known {
		dir, rel, ok := m.indexer.Owns(h.Path)
		if !ok {
			return nil // only the settings leave it out now
		}
		var err error
		if f, err = m.origins.read(h.Path, m.indexer.Limit(h.Path), dir, rel); err != nil {
			return unknownOrigin
		}
	}
	switch {
	case len(f.notes) == 0:
		return nil
	case !f.shows(h):
		// The file has changed and is not indexed again yet: the lines may be those of any note.
		return note.JoinOrigins(f.notes, 1, len(f.lines))
	}
	return note.JoinOrigins(f.notes, h.SnippetStart, h.SnippetEnd)
}

// known returns the origins of a file that has not changed since it was read.
func (c *originCache) known(path string) (fileOrigins, bool) {
	c.mu.Lock()
	f, ok := c.files[path]
	c.mu.Unlock()
	if !ok {
		return fileOrigins{}, false
	}
	info, err := os.Lstat(f.place)
	return f, err == nil && files.Unchanged(f.info, info)
}

// read reads the origins of a file. Searches that read at the same time do not wait for each other.
func (c *originCache) read(path string, limit int64, dir, rel string) (fileOrigins, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fileOrigins{}, err
	}
	defer root.Close()
	src, err := files.ReadText(root, rel, limit)
	if err != nil {
		return fileOrigins{}, err
	}
	f := fileOrigins{place: filepath.Join(dir, filepath.FromSlash(rel)), info: src.Info}
	if f.notes = note.Origins(src.Data); len(f.notes) > 0 {
		f.lines = strings.Split(chunker.Normalize(text.StripMarks(src.Data)), "\n")
	}
	c.keep(path, f)
	return f, nil
}

// keep caches the origins of a file, unless its lines are larger than the cache may be.
func (c *originCache) keep(path string, f fileOrigins) {
	size := f.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes -= c.files[path].size()
	delete(c.files, path)
	if c.files == nil || len(c.files) >= maxOriginFiles || c.bytes+size > maxOriginBytes {
		c.files, c.bytes = make(map[string]fileOrigins), 0
	}
	if size <= maxOriginBytes {
		c.files[path] = f
		c.bytes += size
	}
}

// size returns the memory that the lines of a file occupy.
func (f fileOrigins) size() (n int64) {
	for _, line := range f.lines {
		n += int64(len(line) + stringBytes)
	}
	return n
}

// shows reports whether the lines of a hit are still those of the file.
func (f fileOrigins) shows(h *memory.Hit) bool {
	if h.SnippetStart < 1 || h.SnippetEnd > len(f.lines) {
		return false
	}
	lines := strings.Split(h.Snippet, "\n")
	if len(lines) != h.SnippetEnd-h.SnippetStart+1 {
		return false
	}
	for i, line := range lines {
		if !strings.Contains(f.lines[h.SnippetStart-1+i], strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}

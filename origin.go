package kioku

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kioku/chunker"
	"kioku/internal/marks"
	"kioku/internal/safefile"
	"kioku/memory"
)

const (
	// maxOriginFiles is the number of files above which the cache of origins is emptied, and maxOriginBytes the size of their lines.
	maxOriginFiles = 1000
	maxOriginBytes = 16 << 20
	// stringBytes is the size of a string without its bytes.
	stringBytes = 16
)

// noteOrigin is the origin of the lines of a note, from the first to the last one, from 1.
type noteOrigin struct {
	from, to int
	origin   *memory.Origin
}

// fileOrigins are the origins of the notes of a file as it was when it was read.
type fileOrigins struct {
	// place of the file on the disk.
	place string
	info  fs.FileInfo
	notes []noteOrigin
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
		return join(f.notes, 1, len(f.lines))
	}
	return join(f.notes, h.SnippetStart, h.SnippetEnd)
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
	return f, err == nil && safefile.Unchanged(f.info, info)
}

// read reads the origins of a file. Searches that read at the same time do not wait for each other.
func (c *originCache) read(path string, limit int64, dir, rel string) (fileOrigins, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fileOrigins{}, err
	}
	defer root.Close()
	src, err := safefile.ReadText(root, rel, limit)
	if err != nil {
		return fileOrigins{}, err
	}
	f := fileOrigins{place: filepath.Join(dir, filepath.FromSlash(rel)), info: src.Info}
	if f.notes = noteOrigins(src.Data); len(f.notes) > 0 {
		f.lines = strings.Split(chunker.Normalize(marks.Strip(src.Data)), "\n")
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

// join returns the origins of all notes with lines between two together, nil if there are none.
func join(notes []noteOrigin, from, to int) *memory.Origin {
	var all *memory.Origin
	for _, n := range notes {
		switch {
		case n.to < from || n.from > to:
		case all == nil:
			all = &memory.Origin{Channel: n.origin.Channel, Authors: slices.Clone(n.origin.Authors)}
		default:
			if n.origin.Channel != all.Channel {
				all.Channel = "" // several
			}
			for _, a := range n.origin.Authors {
				all.Add(a)
			}
		}
	}
	return all
}

// originAt returns the origin of a line of a file, nil if it has none.
func originAt(src []byte, line int) *memory.Origin { return join(noteOrigins(src), line, line) }

// lineMarker matches a marker at the end of a line; for its groups see marks.Pattern.
var lineMarker = regexp.MustCompile(marks.Pattern + `[ \t]*\r?$`)

// noteOrigins returns the notes of a file that have an origin, in the order of their lines. What markers say holds for the lines
// between the two markers of a note. If a person has removed the first, the note begins with the heading or bullet above the second;
// if a crash has cut the second off, it ends before the next marker.
func noteOrigins(src []byte) []noteOrigin {
	if !bytes.Contains(src, []byte(authorMark)) {
		return nil
	}
	var notes []noteOrigin
	var open *noteOrigin // the note that has begun
	begun, above := "", 1
	lines := strings.Split(string(src), "\n")
	for i, line := range lines {
		number := i + 1
		marker := lineMarker.FindStringSubmatch(line)
		if marker == nil {
			if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "- ") {
				above = number
			}
			continue
		}
		origin := originOf(marker[0])
		switch {
		case open != nil && marker[3]+marker[4] == begun:
			open.to = number
			notes, open, origin = append(notes, *open), nil, nil
		case open != nil:
			open.to = number - 1
			notes, open = append(notes, *open), nil
		}
		switch {
		case marker[1] != "" && origin != nil:
			open, begun = &noteOrigin{from: number, origin: origin}, marker[1]
		case origin != nil:
			notes = append(notes, noteOrigin{min(above, number), number, origin})
		}
		above = number + 1
	}
	if open != nil {
		open.to = len(lines)
		notes = append(notes, *open)
	}
	return notes
}

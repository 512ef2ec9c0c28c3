package kioku

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"kioku/chunker"
	"kioku/internal/marks"
	"kioku/internal/safefile"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// defaultGetLines is the number of lines that Get returns by default.
	defaultGetLines = 120
	// maxGetChars bounds the text of one excerpt.
	maxGetChars = 12_000
	// maxPathBytes bounds the path of a request; Linux allows no longer ones.
	maxPathBytes = 4096
)

// Get returns lines of a file that the index may contain, without Kioku's markers; of a transcript it returns what was said. The path may
// be any citation that [memory.Readings] knows, whose lines count if the request names none, or the name of a note as in a link. It may be
// composed in another way than that of the file, if there is only one such file; the excerpt has the path of the file. Numbers out of
// range are clamped; beyond the end of the file the text is empty. A line longer than 12,000 characters is cut. Get returns a
// *memory.InputError for a path that could never name a memory file, and memory.ErrNotFound for one that is missing or lies outside
// of the memory.
func (m *Memory) Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error) {
	if err := m.enter(); err != nil {
		return memory.Excerpt{}, err
	}
	defer m.leave()
	if err := checkPath(req.Path); err != nil {
		return memory.Excerpt{}, err
	}
	cited, err := m.cited(ctx, req.Path)
	if err != nil {
		return memory.Excerpt{}, err
	}
	req.Path = cited.Path
	if req.From == 0 {
		req.From, req.Lines = cited.From, cmp.Or(req.Lines, cited.Lines)
	}
	text, err := m.readFile(req.Path)
	if err != nil {
		return memory.Excerpt{}, err
	}
	return excerpt(req, text), ctx.Err()
}

// checkPath refuses what no memory file can be called.
func checkPath(path string) error {
	problem := ""
	switch {
	case path == "":
		problem = "must name a memory file, as a search result does"
	case len(path) > maxPathBytes:
		problem = "is too long"
	case !utf8.ValidString(path) || strings.ContainsFunc(path, isControl):
		problem = "must not hold control characters or invalid UTF-8"
	case strings.HasSuffix(path, "/"):
		problem = "names a folder; name a file in it"
	default:
		return nil
	}
	return &memory.InputError{Field: "path", Problem: problem}
}

// isControl reports whether r is a control character.
func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// readFile returns the text of a memory file. For every failure it returns only memory.ErrNotFound, so that nobody can probe
// for files outside of the memory.
func (m *Memory) readFile(path string) (string, error) {
	dir, rel, ok := m.indexer.Owns(path)
	if !ok {
		return "", errNotFound
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		m.log.Debug("get: open root", "root", dir, "err", err)
		return "", errNotFound
	}
	defer root.Close()
	read, err := safefile.ReadText(root, rel, m.indexer.Limit(path))
	if read.Info != nil && err != nil { // what it contains is no text
		return "", fmt.Errorf("%w that can be shown: %w", memory.ErrNotFound, err)
	}
	if err != nil {
		m.log.Debug("get: read", "path", path, "err", err)
		return "", errNotFound
	}
	src := read.Data
	if m.indexer.IsTranscript(path) {
		src = m.indexer.Render(path, src)
	}
	return chunker.Normalize(marks.Strip(src)), nil
}

// errNotFound says what to do, and the same for every reason.
var errNotFound = fmt.Errorf("%w; use a path as a search result gives it", memory.ErrNotFound)

// excerpt cuts the lines asked for out of a text.
func excerpt(req memory.GetRequest, text string) memory.Excerpt {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	ex := memory.Excerpt{Path: req.Path, From: max(req.From, 1), TotalLines: len(lines)}
	if ex.From > len(lines) {
		return ex
	}
	lines = lines[ex.From-1:]
	lines = lines[:min(cmp.Or(max(req.Lines, 0), defaultGetLines), len(lines))]
	var cut bool
	ex.Text, ex.Lines, cut = takeLines(lines)
	ex.Truncated = cut || ex.Lines < len(lines)
	if next := ex.From + ex.Lines; next <= ex.TotalLines {
		ex.NextFrom = next
	}
	return ex
}

// takeLines joins whole lines up to maxGetChars and returns how many it took; a first line that is longer is cut.
func takeLines(lines []string) (taken string, n int, cut bool) {
	var b strings.Builder
	chars := 0
	for i, line := range lines {
		chars += utf8.RuneCountInString(line)
		if chars > maxGetChars {
			if i == 0 {
				return text.Head(line, maxGetChars), 1, true
			}
			return b.String(), i, false
		}
		b.WriteString(line)
	}
	return b.String(), len(lines), false
}

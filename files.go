package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"kioku/chunker"
	"kioku/indexer"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search"
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
		return "", memory.ErrNoFile
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		m.log.Debug("get: open root", "root", dir, "err", err)
		return "", memory.ErrNoFile
	}
	defer root.Close()
	read, err := files.ReadText(root, rel, m.indexer.Limit(path))
	if read.Info != nil && err != nil { // what it contains is no text
		return "", fmt.Errorf("%w that can be shown: %w", memory.ErrNotFound, err)
	}
	if err != nil {
		m.log.Debug("get: read", "path", path, "err", err)
		return "", memory.ErrNoFile
	}
	src := read.Data
	if m.indexer.IsTranscript(path) {
		src = m.indexer.Render(path, src)
	}
	return chunker.Normalize(text.StripMarks(src)), nil
}

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

// cited returns the lines that a citation names, with the path of the file: that of the first reading that is a file, else of the note
// that a reading names as a link does. It returns a *memory.InputError for a name that several notes have, and for what can name no lines.
func (m *Memory) cited(ctx context.Context, citation string) (memory.GetRequest, error) {
	readings, notLines := memory.Readings(citation)
	if r, ok := m.fileOf(readings); ok {
		return r, nil
	}
	if notLines != nil {
		return memory.GetRequest{}, notLines
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.GetRequest{}, err
	}
	for _, r := range readings {
		if slices.Contains(strings.Split(r.Path, "/"), "..") {
			continue // a link may go up, but a name does not
		}
		links, err := m.store.Links(ctx, r.Path)
		if !errors.Is(err, memory.ErrNotFound) {
			r.Path = links.Path
			return r, err
		}
	}
	return memory.GetRequest{}, memory.ErrNoFile
}

// fileOf returns the first of some readings that is a file.
func (m *Memory) fileOf(readings []memory.GetRequest) (r memory.GetRequest, ok bool) {
	for _, r := range readings {
		if r.Path, ok = m.sameName(r.Path); ok {
			return r, true
		}
	}
	return memory.GetRequest{}, false
}

// citedFile returns the path of the file that a citation names and its first line, 0 if it names none; the citation itself if there is no
// such file.
func (m *Memory) citedFile(ctx context.Context, citation string) (path string, line int) {
	if r, err := m.cited(ctx, citation); err == nil {
		return r.Path, r.From
	}
	return citation, 0
}

// sameName returns the path in the index of the file that a path means, and whether there is one. That is the path itself if there is
// such a file. Otherwise it is the only file whose path is the same but for the composition of its characters: macOS, and archives from
// there, may write "é" as "e" and an accent, which looks the same and is another name on Linux. The path may be an absolute one.
func (m *Memory) sameName(p string) (string, bool) {
	for _, folder := range []string{m.workspace, m.opt.Workspace} {
		if rel, err := filepath.Rel(folder, p); err == nil && filepath.IsAbs(p) && filepath.IsLocal(rel) {
			p = filepath.ToSlash(rel)
		}
	}
	dir, rel, ok := m.indexer.Owns(p)
	if !ok {
		return p, false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return p, false
	}
	defer root.Close()
	found, ok := files.SameName(root, rel)
	if !ok {
		return p, false
	}
	return strings.TrimSuffix(p, rel) + found, true
}

const (
	// maxFiles is the maximum number of files of a list, and defaultFiles the number if none is asked for.
	maxFiles     = 10_000
	defaultFiles = 1000
)

// Files lists the files of the index in the order of their paths. If the index is empty, it syncs first, for at most 2 s. It
// returns a *memory.InputError for a malformed glob or filter, and for a limit that is out of its range.
func (m *Memory) Files(ctx context.Context, q memory.FileQuery) (memory.FileList, error) {
	if err := m.enter(); err != nil {
		return memory.FileList{}, err
	}
	defer m.leave()
	if q.Limit < 0 || q.Limit > maxFiles {
		return memory.FileList{}, &memory.InputError{Field: "limit", Problem: fmt.Sprintf("is %d, not within 0 and %d", q.Limit, maxFiles)}
	}
	q.Limit = cmp.Or(q.Limit, defaultFiles)
	selects, err := globMatcher(q.Glob)
	if err != nil {
		return memory.FileList{}, err
	}
	if q.Filter, err = search.ReadFilter(q.Filter); err != nil {
		return memory.FileList{}, err
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.FileList{}, err
	}
	return m.store.List(ctx, q, selects)
}

// globMatcher returns a function that reports whether a glob selects a path.
func globMatcher(glob string) (func(path string) bool, error) {
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
	switch {
	case glob == "":
		return func(string) bool { return true }, nil
	case indexer.CheckGlob(glob) != nil:
		return nil, &memory.InputError{Field: "glob", Problem: indexer.CheckGlob(glob).Error()}
	case !strings.Contains(glob, "/"):
		glob = "**/" + glob
	}
	return func(path string) bool {
		return doublestar.MatchUnvalidated(glob, path) || doublestar.MatchUnvalidated(glob+"/**", path)
	}, nil
}

// Links returns the links of a file to others and of others to it. The file is given by its path or, as in a link, by the end
// of its path, its title or an alias. It returns memory.ErrNotFound if the index has no such file, and a *memory.InputError that
// lists the files if a name fits several alike.
func (m *Memory) Links(ctx context.Context, file string) (memory.Links, error) {
	if err := m.enter(); err != nil {
		return memory.Links{}, err
	}
	defer m.leave()
	if err := checkPath(file); err != nil {
		return memory.Links{}, err
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.Links{}, err
	}
	cited, _ := m.citedFile(ctx, file)
	links, err := m.store.Links(ctx, cited)
	if err != nil {
		return memory.Links{}, fmt.Errorf("links of %s: %w", file, err)
	}
	return links, nil
}

// Chunks returns the chunks of a file, given by its path. It returns memory.ErrNotFound if the index has no such file.
func (m *Memory) Chunks(ctx context.Context, file string) (memory.Chunks, error) {
	if err := m.enter(); err != nil {
		return memory.Chunks{}, err
	}
	defer m.leave()
	if err := checkPath(file); err != nil {
		return memory.Chunks{}, err
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.Chunks{}, err
	}
	cited, _ := m.citedFile(ctx, file)
	chunks, err := m.store.Chunks(ctx, cited)
	if err != nil {
		return memory.Chunks{}, fmt.Errorf("chunks of %s: %w", file, err)
	}
	return chunks, nil
}

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
	"time"

	"kioku/atlas"
	derived "kioku/derive/store"
	"kioku/indexer"
	"kioku/internal/files"
	"kioku/memory"
	"kioku/search"
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
	if err := memory.CheckPath(req.Path); err != nil {
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
	text, err := m.indexer.Show(req.Path)
	if err != nil {
		return memory.Excerpt{}, err
	}
	return req.Excerpt(string(m.notes.Forgotten().Mask([]byte(text)))), ctx.Err()
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

// fileNamed returns the path of the file that a citation names, and whether there is one.
func (m *Memory) fileNamed(citation string) (string, bool) {
	readings, _ := memory.Readings(citation)
	r, ok := m.fileOf(readings)
	return r.Path, ok
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
	selects, err := indexer.Matcher(q.Glob)
	if err != nil {
		return memory.FileList{}, err
	}
	if q.Filter, err = search.ReadFilter(q.Filter); err != nil {
		return memory.FileList{}, err
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.FileList{}, err
	}
	list, err := m.store.List(ctx, q, selects)
	m.hide(len(list.Files), func(i int) *string { return &list.Files[i].Title })
	return list, err
}

// Links returns the links of a file to others and of others to it. The file is given by its path or, as in a link, by the end
// of its path, its title or an alias. It returns memory.ErrNotFound if the index has no such file, and a *memory.InputError that
// lists the files if a name fits several alike.
func (m *Memory) Links(ctx context.Context, file string) (memory.Links, error) {
	if err := m.enter(); err != nil {
		return memory.Links{}, err
	}
	defer m.leave()
	if err := memory.CheckPath(file); err != nil {
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
	m.hideLinks(&links)
	return links, nil
}

// Chunks returns the chunks of a file, given by its path. It returns memory.ErrNotFound if the index has no such file.
func (m *Memory) Chunks(ctx context.Context, file string) (memory.Chunks, error) {
	if err := m.enter(); err != nil {
		return memory.Chunks{}, err
	}
	defer m.leave()
	if err := memory.CheckPath(file); err != nil {
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
	m.hide(len(chunks.Chunks), func(i int) *string { return &chunks.Chunks[i].Heading })
	return chunks, nil
}

// ReadSource returns a file as episodes are cut from it: its whole content on the disk, if that is what the index contains. It
// returns memory.ErrNotFound for a file that the index does not have, or that cannot be read, and memory.ErrConflict for one that has
// changed since it was indexed: the next sync indexes it.
func (m *Memory) ReadSource(ctx context.Context, path string) (memory.SourceFile, error) {
	if err := m.enter(); err != nil {
		return memory.SourceFile{}, err
	}
	defer m.leave()
	indexed, err := m.store.SourceFile(ctx, path)
	unindexed := m.indexer.IsUnindexed(path)
	if unindexed {
		indexed = memory.SourceFile{Path: path, Source: memory.SourceSessions}
	}
	if err == nil && indexed.Source == "" {
		err = memory.ErrNoFile
	}
	if err != nil {
		return memory.SourceFile{}, err
	}
	src, err := m.indexer.Read(path)
	switch {
	case err != nil:
		return memory.SourceFile{}, memory.ErrNoFile
	case !unindexed && src.SHA256 != indexed.SHA256:
		return memory.SourceFile{}, fmt.Errorf("read %s: %w: it has changed since it was indexed", path, memory.ErrConflict)
	}
	indexed.Data, indexed.SHA256 = src.Data, src.SHA256
	if gone := m.notes.Forgotten(); memory.IsTranscript(indexed.Source) {
		indexed.Data = gone.MaskJSONL(src.Data)
	} else {
		indexed.Data = gone.Mask(src.Data)
	}
	return indexed, ctx.Err()
}

// Derived returns what is derived from the notes. It must not be used after Close.
func (m *Memory) Derived() *derived.Store { return m.derived }

// Unindexed returns the transcripts that are not indexed and that something may be derived from.
func (m *Memory) Unindexed() ([]memory.File, error) {
	list, err := m.indexer.Unindexed()
	if err != nil {
		return nil, fmt.Errorf("list transcripts: %w", err)
	}
	return list, nil
}

// Map returns the map of the memory as far as there is one, and has a newer one made in the background if the index has changed,
// unless the last one is younger than ten times what it took. It does not wait for it. Points that are in the last map stay about
// where they are. It returns a *memory.InputError for a number of points that is out of its range.
func (m *Memory) Map(ctx context.Context, q memory.MapQuery) (memory.Map, error) {
	if err := m.enter(); err != nil {
		return memory.Map{}, err
	}
	defer m.leave()
	if q.MaxPoints < 0 || q.MaxPoints > atlas.MaxPoints {
		return memory.Map{}, &memory.InputError{Field: "max_points", Problem: fmt.Sprintf("is %d, not within 0 and %d", q.MaxPoints, atlas.MaxPoints)}
	}
	stats, err := m.freshen(ctx)
	if err != nil {
		return memory.Map{}, err
	}
	out := m.atlas.Map(ctx, q, atlas.State{Index: stats.IndexID, Generation: stats.Generation})
	out.TotalChunks = stats.Chunks
	if !m.notes.Forgotten().Empty() {
		out.Points, out.Files = slices.Clone(out.Points), slices.Clone(out.Files) // of the atlas
		m.hide(len(out.Points), func(i int) *string { return &out.Points[i].Heading })
		m.hide(len(out.Files), func(i int) *string { return &out.Files[i].Title })
	}
	return out, nil
}

// Activity returns what the memory has of each day from since to until, days like 2026-03-01, which may be empty. It returns a
// *memory.InputError for one that is no day.
func (m *Memory) Activity(ctx context.Context, since, until string) (memory.Activity, error) {
	if err := m.enter(); err != nil {
		return memory.Activity{}, err
	}
	defer m.leave()
	for field, day := range map[string]string{"since": since, "until": until} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return memory.Activity{}, &memory.InputError{Field: field, Problem: fmt.Sprintf("is %.20q, not a day such as 2026-03-01", day)}
		}
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.Activity{}, err
	}
	return m.store.Activity(ctx, since, until, m.opt.Location)
}

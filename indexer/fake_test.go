package indexer_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"kioku/chunker"
	"kioku/indexer"
)

// What the root package passes.
var (
	_ indexer.Splitter = (*chunker.Chunker)(nil)
	_ indexer.Store    = (*memIndex)(nil)
)

// paragraphs is a splitter that makes each non-blank line a chunk.
type paragraphs struct {
	mu   sync.Mutex
	runs int
	// during is called while a file is split; nil does nothing.
	during func(src []byte)
}

func (p *paragraphs) Split(_ chunker.Kind, src []byte) chunker.Document {
	p.mu.Lock()
	p.runs++
	during := p.during
	p.mu.Unlock()
	if during != nil {
		during(src)
	}
	var doc chunker.Document
	for i, line := range bytes.Split(src, []byte("\n")) {
		if text := strings.ToValidUTF8(string(bytes.TrimSpace(line)), "\ufffd"); text != "" {
			doc.Chunks = append(doc.Chunks, chunker.Chunk{StartLine: i + 1, EndLine: i + 1, Text: text})
		}
	}
	return doc
}

// memIndex is an index in memory.
type memIndex struct {
	// blind is set if the index does not know the stamps of files.
	blind bool
	mu    sync.Mutex
	files map[string]indexer.File
	// known are the texts with a vector.
	known map[indexer.Hash]bool
	stale string
	// commits contains the paths of each ReplaceFile; removals have a minus.
	commits  [][]string
	rebuilds int
	// listed counts the calls of Files for all files.
	listed int
	fail   error
	// writing is called at the start of each ReplaceFile; nil for nothing.
	writing func()
}

func newMemIndex() *memIndex {
	return &memIndex{files: map[string]indexer.File{}, known: map[indexer.Hash]bool{}}
}

func (m *memIndex) Files(ctx context.Context, under ...string) (map[string]indexer.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(under) == 0 {
		m.listed++
	}
	out := map[string]indexer.Stored{}
	for p, f := range m.files {
		if len(under) > 0 && !slices.ContainsFunc(under, func(name string) bool { return p == name || strings.HasPrefix(p, name+"/") }) {
			continue
		}
		if m.blind {
			f.Stamp = 0
		}
		out[p] = indexer.Stored{Source: f.Source, SHA256: f.SHA256, ModTime: f.ModTime, Stamp: f.Stamp, Size: f.Size, Date: f.Date, Skipped: f.Skipped}
	}
	return out, ctx.Err()
}

func (m *memIndex) ReplaceFile(ctx context.Context, files ...indexer.File) (int, error) {
	if m.writing != nil {
		m.writing()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return 0, err
	}
	var names []string
	known := 0
	for _, f := range files {
		if f.Gone {
			delete(m.files, f.Path)
			names = append(names, "-"+f.Path)
			continue
		}
		names = append(names, f.Path)
		m.files[f.Path] = f
		known += m.embeddedOf(f)
	}
	m.commits = append(m.commits, names)
	return known, nil
}

// embeddedOf counts the chunks of a file that have a vector.
func (m *memIndex) embeddedOf(f indexer.File) int {
	n := 0
	for _, c := range f.Chunks {
		if m.known[c.Hash] {
			n++
		}
	}
	return n
}

func (m *memIndex) Stale(context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stale, nil
}

func (m *memIndex) SetCut(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stale = ""
	m.rebuilds++
	return m.fail
}

// learn gives all chunks a vector.
func (m *memIndex) learn() {
	for _, f := range m.files {
		for _, c := range f.Chunks {
			m.known[c.Hash] = true
		}
	}
}

// text returns all chunks of a file, joined by bars, and whether the index has the file.
func (m *memIndex) text(path string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.files[path]
	var parts []string
	for _, c := range f.Chunks {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "|"), ok
}

// list returns the paths that are indexed, and those skipped with their reasons.
func (m *memIndex) list() (paths []string, skipped map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	skipped = map[string]string{}
	for p, f := range m.files {
		if f.Skipped != "" {
			skipped[p] = f.Skipped
		} else {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths, skipped
}

// lists returns the number of calls of Files for all files.
func (m *memIndex) lists() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed
}

// writes counts how often a path was written.
func (m *memIndex) writes(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, c := range m.commits {
		for _, p := range c {
			if p == path {
				n++
			}
		}
	}
	return n
}

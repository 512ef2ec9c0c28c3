package indexer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
)

// What the root package will pass.
var (
	_ indexer.Splitter = (*chunker.Chunker)(nil)
	_ indexer.Embedder = (*embed.Client)(nil)
)

// paragraphs is a splitter that makes each non-blank line a chunk.
type paragraphs struct {
	mu   sync.Mutex
	runs int
	// during is called while a file is cut, nil for nothing.
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

// cacheKey names a vector in the cache.
type cacheKey struct {
	space embed.Space
	hash  indexer.Hash
}

// memIndex is an index in memory.
type memIndex struct {
	mu      sync.Mutex
	files   map[string]indexer.File
	vectors map[cacheKey][]float32
	stale   string
	// commits holds the paths of each ReplaceFile, removals with a minus.
	commits  [][]string
	rebuilds int
	// listed counts how often all files were asked for.
	listed int
	fail   error
	// writing is called at the start of each ReplaceFile, nil for nothing.
	writing func()
}

func newMemIndex() *memIndex {
	return &memIndex{files: map[string]indexer.File{}, vectors: map[cacheKey][]float32{}}
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
		s := indexer.Stored{Source: f.Source, SHA256: f.SHA256, ModTime: f.ModTime, Size: f.Size, Skipped: f.Skipped, Chunks: len(f.Chunks)}
		for _, c := range f.Chunks {
			if c.Vector == nil {
				s.Unembedded++
			}
		}
		out[p] = s
	}
	return out, ctx.Err()
}

func (m *memIndex) CachedVectors(_ context.Context, space embed.Space, hashes []indexer.Hash) (map[indexer.Hash][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[indexer.Hash][]float32{}
	for _, h := range hashes {
		if v, ok := m.vectors[cacheKey{space, h}]; ok {
			out[h] = v
		}
	}
	return out, nil
}

func (m *memIndex) ReplaceFile(ctx context.Context, space embed.Space, files ...indexer.File) error {
	if m.writing != nil {
		m.writing()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		if f.Gone {
			delete(m.files, f.Path)
			names = append(names, "-"+f.Path)
			continue
		}
		names = append(names, f.Path)
		m.put(space, f)
	}
	m.commits = append(m.commits, names)
	return nil
}

func (m *memIndex) put(space embed.Space, f indexer.File) {
	for i, c := range f.Chunks {
		if c.Vector != nil {
			m.vectors[cacheKey{space, c.Hash}] = c.Vector
		}
		if m.stale != "" {
			f.Chunks[i].Vector = nil
		}
	}
	m.files[f.Path] = f
}

func (m *memIndex) Stale(context.Context, embed.Space) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stale, nil
}

func (m *memIndex) CacheVectors(ctx context.Context, space embed.Space, vs map[indexer.Hash][]float32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for h, v := range vs {
		m.vectors[cacheKey{space, h}] = v
	}
	return nil
}

func (m *memIndex) ReplaceAll(_ context.Context, space embed.Space, files iter.Seq2[indexer.File, error]) error {
	fresh := map[string]indexer.File{}
	for f, err := range files {
		if err != nil {
			return err
		}
		fresh[f.Path] = f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.files, m.stale = fresh, ""
	m.rebuilds++
	return nil
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

// lists counts how often all files were asked for.
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

func (m *memIndex) unembedded() int {
	files, _ := m.Files(context.Background())
	n := 0
	for _, f := range files {
		n += f.Unembedded
	}
	return n
}

// provider is an embedder in memory.
type provider struct {
	mu    sync.Mutex
	model string
	texts int
	calls int
	// downAfter is how many more texts are embedded before it fails; negative for never.
	downAfter int
	retryAt   time.Time
	// poison is a part of texts that are refused.
	poison string
	// during is called in each call, nil for nothing.
	during func()
}

var errDown = errors.New("provider is down")

func newProvider() *provider { return &provider{downAfter: -1, model: "m"} }

func (p *provider) Enabled() bool { return true }

func (p *provider) Space() embed.Space {
	p.mu.Lock()
	defer p.mu.Unlock()
	return embed.Space{Provider: "fake", Model: p.model, Dims: 2}
}

func (p *provider) Health() embed.Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.downAfter != 0 {
		return embed.Health{Healthy: true}
	}
	return embed.Health{Err: errDown, RetryAt: p.retryAt}
}

func (p *provider) Documents(ctx context.Context, texts []string) ([]embed.Embedding, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.during != nil {
		p.during()
	}
	out := make([]embed.Embedding, len(texts))
	for i, t := range texts {
		switch {
		case p.downAfter == 0:
			return out, errDown
		case p.poison != "" && strings.Contains(t, p.poison):
			out[i].Err = fmt.Errorf("refused: %q", t)
			continue
		}
		p.downAfter--
		p.texts++
		out[i].Vector = []float32{1, float32(len(t))}
	}
	return out, ctx.Err()
}

func (p *provider) set(downAfter int, retryAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.downAfter, p.retryAt = downAfter, retryAt
}

func (p *provider) embedded() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts
}

package indexer_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
)

// What the root package passes.
var (
	_ indexer.Splitter    = (*chunker.Chunker)(nil)
	_ indexer.Embedder    = (*embed.Client)(nil)
	_ indexer.VectorStore = (*memIndex)(nil)
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

// cacheKey names a vector in the cache.
type cacheKey struct {
	space embed.Space
	hash  indexer.Hash
}

// memIndex is an index in memory.
type memIndex struct {
	// blind is set if the index does not know the stamps of files.
	blind bool
	mu    sync.Mutex
	files map[string]indexer.File
	// space is the space of the vectors of the chunks; vectors contains all vectors that were ever stored.
	space   embed.Space
	vectors map[cacheKey][]float32
	// put contains what PutVectors got last.
	put   map[cacheKey]indexer.Vectors
	stale string
	// commits contains the paths of each ReplaceFile; removals have a minus.
	commits  [][]string
	rebuilds int
	// listed counts the calls of Files for all files.
	listed int
	fail   error
	// writing is called at the start of each ReplaceFile, storing at the start of each PutVectors, and reading at the end of
	// each Backlog; nil for nothing.
	writing, storing, reading func()
	// forgets makes PutVectors store nothing; limit is the last limit of a Backlog.
	forgets bool
	limit   int
	// notAdopted is what Adopt returns; nil if it adopts.
	notAdopted error
}

func newMemIndex() *memIndex {
	return &memIndex{files: map[string]indexer.File{}, vectors: map[cacheKey][]float32{}, put: map[cacheKey]indexer.Vectors{}}
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
		out[p] = indexer.Stored{Source: f.Source, SHA256: f.SHA256, ModTime: f.ModTime, Stamp: f.Stamp, Size: f.Size, Date: f.Date, Skipped: f.Skipped, OutOfScope: f.OutOfScope}
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
		if f.Left || f.Back {
			was := m.files[f.Path]
			was.OutOfScope = f.Left
			f = was
		}
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
		if m.vectors[cacheKey{m.space, c.Hash}] != nil {
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

func (m *memIndex) ReplaceAll(_ context.Context, files iter.Seq2[indexer.File, error]) (int, error) {
	fresh := map[string]indexer.File{}
	for f, err := range files {
		if err != nil {
			return 0, err
		}
		fresh[f.Path] = f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return 0, m.fail
	}
	known := 0
	for _, f := range fresh {
		known += m.embeddedOf(f)
	}
	m.files, m.stale = fresh, ""
	m.rebuilds++
	return known, nil
}

// AttachKnown has nothing to do: vectors of texts that are stored are found by their hashes.
func (m *memIndex) AttachKnown(ctx context.Context, space embed.Space) (int, error) {
	return 0, ctx.Err()
}

func (m *memIndex) Backlog(ctx context.Context, space embed.Space, limit int) ([]indexer.Text, int, error) {
	m.mu.Lock()
	if m.reading != nil {
		defer m.reading()
	}
	defer m.mu.Unlock()
	m.limit = limit
	var texts []indexer.Text
	chunks, seen := 0, map[indexer.Hash]bool{}
	byTime := slices.SortedFunc(maps.Values(m.files), func(a, b indexer.File) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(a.Path, b.Path))
	})
	for _, f := range byTime {
		for _, c := range f.Chunks {
			if m.vectors[cacheKey{space, c.Hash}] != nil {
				continue
			}
			if chunks++; !seen[c.Hash] && len(texts) < limit {
				seen[c.Hash] = true
				texts = append(texts, indexer.Text{Hash: c.Hash, Text: c.Text, Body: c.Text})
			}
		}
	}
	return texts, chunks, ctx.Err()
}

func (m *memIndex) PutVectors(ctx context.Context, space embed.Space, vectors map[indexer.Hash]indexer.Vectors) error {
	if m.storing != nil {
		m.storing()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return err
	}
	if m.forgets {
		return nil
	}
	if m.space.IsZero() {
		m.space = space
	}
	for h, v := range vectors {
		m.vectors[cacheKey{space, h}] = v.Vector
		m.put[cacheKey{space, h}] = v
	}
	return nil
}

func (m *memIndex) Adopt(_ context.Context, space embed.Space) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notAdopted != nil {
		return false, m.notAdopted
	}
	was := m.space
	m.space = space
	return was != space, nil
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

// unembedded counts the chunks without a vector of a space.
func (m *memIndex) unembedded(space embed.Space) int {
	_, n, _ := m.Backlog(context.Background(), space, 0)
	return n
}

// provider is an embedder in memory.
type provider struct {
	mu    sync.Mutex
	model string
	texts int
	calls int
	// largest is the largest number of texts in one call.
	largest int
	// downAfter is how many more texts are embedded before it fails; negative for never.
	downAfter int
	retryAt   time.Time
	// poison is a part of the texts that are refused; empty refuses none.
	poison string
	// refuses reports whether a text is refused; nil refuses none.
	refuses func(text string) bool
	// during is called in each call; nil does nothing.
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
	p.largest = max(p.largest, len(texts))
	if p.during != nil {
		p.during()
	}
	out := make([]embed.Embedding, len(texts))
	for i, t := range texts {
		switch {
		case p.downAfter == 0:
			return out, errDown
		case p.poison != "" && strings.Contains(t, p.poison), p.refuses != nil && p.refuses(t):
			out[i].Err = fmt.Errorf("refused: %q", t)
			continue
		}
		p.downAfter--
		p.texts++
		out[i].Vector = []float32{1, float32(len(t))}
	}
	return out, ctx.Err()
}

func (p *provider) Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error {
	return stream(ctx, p.Documents, texts, done)
}

// stream embeds texts in groups of 64 different ones, as embed.Client does.
func stream(ctx context.Context, documents func(context.Context, []string) ([]embed.Embedding, error), texts iter.Seq[string],
	done func([]embed.Outcome)) error {
	next, stop := iter.Pull(texts)
	defer stop()
	read, known := 0, map[string]embed.Embedding{}
	for {
		var group []string
		var outcomes []embed.Outcome
		numbers := map[string][]int{}
		for len(group) < 64 {
			text, ok := next()
			if !ok {
				break
			}
			if e, ok := known[text]; ok {
				outcomes = append(outcomes, embed.Outcome{Number: read, Embedding: e})
			} else if numbers[text] = append(numbers[text], read); len(numbers[text]) == 1 {
				group = append(group, text)
			}
			read++
		}
		if len(group)+len(outcomes) == 0 {
			return nil
		}
		var err error
		if len(group) > 0 {
			var out []embed.Embedding
			out, err = documents(ctx, group)
			for i, e := range out {
				if e.Vector == nil && e.Err == nil {
					continue
				}
				known[group[i]] = e
				for _, n := range numbers[group[i]] {
					outcomes = append(outcomes, embed.Outcome{Number: n, Embedding: e})
				}
			}
		}
		if done(outcomes); err != nil {
			return err
		}
	}
}

func (p *provider) set(downAfter int, retryAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.downAfter, p.retryAt = downAfter, retryAt
}

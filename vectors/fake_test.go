package vectors_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
	"kioku/vectors"
)

var (
	_ vectors.Embedder = (*embed.Client)(nil)
	_ vectors.Index    = (*memIndex)(nil)
)

// openCache opens a cache in a folder.
func openCache(t testing.TB, dir string, entries int) *vectors.Cache {
	t.Helper()
	c, err := vectors.Open(t.Context(), filepath.Join(dir, "embeddings.sqlite"), vectors.Options{Entries: entries, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// memFile is a file of an index in memory.
type memFile struct {
	path    string
	modTime int64
	chunks  []string
}

// memIndex is an index in memory.
type memIndex struct {
	mu       sync.Mutex
	cache    *vectors.Cache
	files    []memFile
	space    embed.Space
	embedded map[vectors.Hash]vectors.Embedded // guarded by mu; those of space
	adopted  int
	// fail is the error of Embed, and notAdopted that of Adopt; nil for none. With forgets, Embed keeps nothing.
	fail, notAdopted error
	forgets          bool
	// reading is called after each Backlog from the beginning, once; nil does nothing.
	reading func()
}

func newMemIndex(cache *vectors.Cache, files ...memFile) *memIndex {
	return &memIndex{cache: cache, files: files, embedded: map[vectors.Hash]vectors.Embedded{}}
}

// write replaces a file, which is the newest then.
func (m *memIndex) write(path string, chunks ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	newest := int64(0)
	for _, f := range m.files {
		newest = max(newest, f.modTime)
	}
	m.files = slices.DeleteFunc(m.files, func(f memFile) bool { return f.path == path })
	m.files = append(m.files, memFile{path, newest + 1, chunks})
}

// Backlog implements vectors.Index.
func (m *memIndex) Backlog(ctx context.Context, space embed.Space, after vectors.Place, limit int) ([]vectors.Text, int, error) {
	m.mu.Lock()
	reading := m.reading
	if after == (vectors.Place{}) {
		m.reading = nil
		if reading != nil {
			defer reading()
		}
	}
	defer m.mu.Unlock()
	files := slices.SortedFunc(slices.Values(m.files), func(a, b memFile) int { return cmp.Compare(b.modTime, a.modTime) })
	isOther := len(m.embedded) > 0 && !m.space.Matches(space)
	var texts []vectors.Text
	lacking := 0
	for _, f := range files {
		for i, c := range f.chunks {
			hash := sha256.Sum256([]byte(c))
			if _, ok := m.embedded[hash]; ok && !isOther {
				continue
			}
			lacking++
			at := vectors.Place{ModTime: f.modTime, File: 1, Chunk: int64(i + 1)}
			follows := after == (vectors.Place{}) || at.ModTime < after.ModTime || at.ModTime == after.ModTime && at.Chunk > after.Chunk
			if follows && len(texts) < limit {
				texts = append(texts, vectors.Text{Hash: hash, Text: c, Body: c, At: at})
			}
		}
	}
	return texts, lacking, ctx.Err()
}

// Embed implements vectors.Index.
func (m *memIndex) Embed(ctx context.Context, space embed.Space, texts []vectors.Text) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return 0, err
	}
	if len(m.embedded) > 0 && m.space != space || m.forgets {
		return 0, nil
	}
	known, err := m.cache.Complete(ctx, space, texts)
	m.space = space
	maps.Copy(m.embedded, known)
	return len(known), err
}

// Adopt implements vectors.Index.
func (m *memIndex) Adopt(ctx context.Context, space embed.Space) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notAdopted != nil || len(m.embedded) == 0 || m.space == space {
		return m.notAdopted
	}
	var texts []vectors.Text
	for _, f := range m.files {
		for _, c := range f.chunks {
			texts = append(texts, vectors.Text{Hash: sha256.Sum256([]byte(c)), Body: c})
		}
	}
	known, err := m.cache.Complete(ctx, space, texts)
	m.space, m.embedded = space, known
	m.adopted++
	return err
}

// lacking counts the chunks without a vector of a space.
func (m *memIndex) lacking(space embed.Space) int {
	_, n, _ := m.Backlog(context.Background(), space, vectors.Place{ModTime: 1 << 60}, 0)
	return n
}

// many returns n texts.
func many(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i)
	}
	return texts
}

// provider is an embedder in memory.
type provider struct {
	mu    sync.Mutex
	model string
	dims  int
	// sent counts how often each text was embedded.
	sent  map[string]int
	texts int
	calls int
	// largest is the largest number of texts in one call.
	largest int
	// downAfter is how many more texts are embedded before it fails; negative for never.
	downAfter int
	retryAt   time.Time
	// refuses reports whether a text is refused; nil refuses none.
	refuses func(text string) bool
	// during is called in each call; nil does nothing.
	during func()
	// each is how long a call takes.
	each time.Duration
}

var errDown = errors.New("provider is down")

func newProvider() *provider {
	return &provider{downAfter: -1, model: "m", dims: 2, sent: map[string]int{}}
}

func (p *provider) Enabled() bool { return true }

func (p *provider) Space() embed.Space {
	p.mu.Lock()
	defer p.mu.Unlock()
	return embed.Space{Provider: "fake", Model: p.model, Dims: p.dims}
}

func (p *provider) Health() embed.Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.downAfter != 0 {
		return embed.Health{Healthy: true}
	}
	return embed.Health{Err: errDown, RetryAt: p.retryAt}
}

func (p *provider) set(downAfter int, retryAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.downAfter, p.retryAt = downAfter, retryAt
}

// documents embeds texts.
func (p *provider) documents(ctx context.Context, texts []string) ([]embed.Embedding, error) {
	if p.each > 0 {
		select {
		case <-time.After(p.each):
		case <-ctx.Done():
			return make([]embed.Embedding, len(texts)), ctx.Err()
		}
	}
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
		case p.refuses != nil && p.refuses(t):
			out[i].Err = fmt.Errorf("refused: %q", t)
			continue
		}
		p.downAfter--
		p.texts++
		p.sent[t]++
		out[i].Vector = make([]float32, p.dims)
		out[i].Vector[0], out[i].Vector[p.dims-1] = 1, float32(len(t))
	}
	return out, ctx.Err()
}

// Stream embeds texts in groups of 64.
func (p *provider) Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error {
	return stream(ctx, p.documents, texts, done)
}

// stream embeds texts in groups of 64, as embed.Client does.
func stream(ctx context.Context, documents func(context.Context, []string) ([]embed.Embedding, error), texts iter.Seq[string], done func([]embed.Outcome)) error {
	next, stop := iter.Pull(texts)
	defer stop()
	for read := 0; ; {
		var group []string
		for len(group) < 64 {
			text, ok := next()
			if !ok {
				break
			}
			group = append(group, text)
		}
		if len(group) == 0 {
			return nil
		}
		out, err := documents(ctx, group)
		var outcomes []embed.Outcome
		for i, e := range out {
			if e.Vector != nil || e.Err != nil {
				outcomes = append(outcomes, embed.Outcome{Number: read + i, Embedding: e})
			}
		}
		read += len(group)
		if done(outcomes); err != nil {
			return err
		}
	}
}

// fixture is a Fill of an index in memory with a fake provider.
type fixture struct {
	*testing.T
	cache *vectors.Cache
	index *memIndex
	prov  *provider
	fill  *vectors.Fill
	clock time.Duration // ahead of the real time
}

func setup(t *testing.T, files ...memFile) *fixture {
	t.Helper()
	f := &fixture{T: t, cache: openCache(t, t.TempDir(), 1000), prov: newProvider()}
	f.index = newMemIndex(f.cache, files...)
	f.fill = vectors.NewFill(f.cache, f.index, f.prov, f.now, nil)
	return f
}

func (f *fixture) now() time.Time { return time.Now().Add(f.clock) }

// run runs the loop once.
func (f *fixture) run() vectors.Report {
	f.Helper()
	rep, err := f.fill.Run(f.Context(), nil)
	if err != nil {
		f.Fatal(err)
	}
	return rep
}

// lacking counts the chunks without a vector.
func (f *fixture) lacking() int { return f.index.lacking(f.prov.Space()) }

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// inBubble runs a test on fake time, with a watch.
func inBubble(t *testing.T, setUp func(f *fixture), body func(f *fixture)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, cache: openCache(t, dir, 1000), prov: newProvider()}
		defer f.cache.Close()
		f.index = newMemIndex(f.cache)
		f.fill = vectors.NewFill(f.cache, f.index, f.prov, nil, nil)
		setUp(f)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); f.fill.Watch(ctx) }()
		synctest.Wait()
		body(f)
		cancel()
		<-ended
	})
}

// lines returns a chunk of n lines that are windows of their own.
func lines(name string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s line %d%s", name, i, strings.Repeat(" and more", 30))
	}
	return strings.Join(list, "\n")
}

// logTo returns a logger of text.
func logTo(b *strings.Builder) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/store/slab"
	"kioku/vectors"
)

// testSpace is the vector space of the store tests.
var testSpace = embed.Space{Provider: "test", Model: "m", Dims: 4}

// openTestStore opens a store in a folder.
func openTestStore(t testing.TB, dir string) *Store {
	t.Helper()
	opt := testOptions()
	opt.Cache = openTestCache(t, dir)
	s, err := Open(t.Context(), Path(dir, "main"), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// openTestCache opens the cache of embeddings beside an index in a folder.
func openTestCache(t testing.TB, dir string) *vectors.Cache {
	t.Helper()
	c, err := vectors.Open(t.Context(), vectors.Path(dir, "main"), vectors.Options{Entries: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// moved closes a store and opens its index for a workspace.
func moved(t testing.TB, s *Store, workspace string) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	opt := testOptions()
	opt.Workspace, opt.Cache = workspace, s.opt.Cache
	next, err := Open(t.Context(), s.path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { next.Close() })
	return next
}

// recordSync records a complete sync.
func recordSync(t testing.TB, s *Store) error {
	t.Helper()
	if _, err := s.Files(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.RecordSync(t.Context(), s.opt.Now())
}

// testOptions returns the options of the store tests.
func testOptions() Options {
	return Options{Workspace: "/notes", Chunking: "test", Vectors: slab.NewBudget(slab.DefaultBudget),
		Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

// unit returns a random unit vector of n dimensions.
func unit(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// testVector is what a provider returns for a chunk of one line.
type testVector struct {
	text           string
	Vector, Window []float32
}

// note is a file with the vectors that a provider returns for its chunks.
type note struct {
	indexer.File
	vectors map[indexer.Hash]testVector
}

// vector returns the vector of a chunk, nil if it has none.
func (n note) vector(i int) []float32 { return n.vectors[n.Chunks[i].Hash].Vector }

// testFile returns a file of one-line chunks, each with a vector if r is not nil.
func testFile(path string, r *rand.Rand, lines ...string) note {
	f := note{File: indexer.File{Path: path, Source: memory.SourceMemory, SHA256: sha256.Sum256([]byte(path)),
		ModTime: time.Unix(1, 2), Size: 3, Date: indexer.DateOf(path)}, vectors: map[indexer.Hash]testVector{}}
	for i, line := range lines {
		c := indexer.Chunk{Chunk: chunker.Chunk{StartLine: i + 1, EndLine: i + 1, Text: line, Tokens: 1},
			Hash: sha256.Sum256([]byte(line))}
		if r != nil {
			f.vectors[c.Hash] = testVectors(r, testSpace.Dims, line)
		}
		f.Chunks = append(f.Chunks, c)
	}
	return f
}

// testVectors returns a random vector with the window of a line.
func testVectors(r *rand.Rand, dims int, line string) testVector {
	return testVector{line, unit(r, dims), unit(r, dims)}
}

// gone returns a deleted file.
func gone(path string) note { return note{File: indexer.File{Path: path, Gone: true}} }

// write writes files like a sync, and their vectors like a backfill.
func write(ctx context.Context, s *Store, space embed.Space, notes ...note) error {
	var files []indexer.File
	for _, n := range notes {
		files = append(files, n.File)
	}
	if _, err := s.ReplaceFile(ctx, files...); err != nil {
		return err
	}
	return putVectors(ctx, s, space, vectorsOf(notes))
}

// writeAll writes files and removes all others, as a rebuild does, and then stores the vectors of the files.
func writeAll(ctx context.Context, s *Store, space embed.Space, notes ...note) error {
	files, err := rebuilt(ctx, s, notes)
	if err == nil {
		_, err = s.ReplaceFile(ctx, files...)
	}
	if err == nil {
		err = s.SetCut(ctx)
	}
	if err != nil {
		return err
	}
	return putVectors(ctx, s, space, vectorsOf(notes))
}

// rebuilt returns the files of notes, and all others of the index as gone.
func rebuilt(ctx context.Context, s *Store, notes []note) (files []indexer.File, err error) {
	before, err := s.Files(ctx)
	gone := maps.Clone(before)
	for _, n := range notes {
		files = append(files, n.File)
		delete(gone, n.Path)
	}
	for path := range gone {
		files = append(files, indexer.File{Path: path, Gone: true})
	}
	return files, err
}

// putVectors stores what a provider returns, and has the chunks embedded, as a backfill does.
func putVectors(ctx context.Context, s *Store, space embed.Space, given map[indexer.Hash]testVector) error {
	if len(given) == 0 {
		return nil
	}
	parts := map[vectors.Key][]float32{}
	var texts []vectors.Text
	for hash, v := range given {
		layout := vectors.LayoutOf(v.text)
		parts[vectors.Key{Kind: vectors.Document, Hash: hash}] = v.Vector
		for _, w := range layout {
			parts[vectors.Key{Kind: vectors.Window, Hash: w.Hash}] = v.Window
		}
		texts = append(texts, vectors.Text{Hash: hash, Text: v.text, Body: v.text})
	}
	if err := s.opt.Cache.Put(ctx, space, parts); err != nil {
		return err
	}
	_, err := s.Embed(ctx, space, texts)
	return err
}

// vectorsOf joins the vectors of files.
func vectorsOf(notes []note) map[indexer.Hash]testVector {
	all := map[indexer.Hash]testVector{}
	for _, n := range notes {
		maps.Copy(all, n.vectors)
	}
	return all
}

// attachKnown embeds the chunks whose vectors are in the cache, as a backfill does.
func attachKnown(ctx context.Context, s *Store) error {
	texts, _, err := s.Backlog(ctx, testSpace, vectors.Place{}, 10_000)
	if err != nil || len(texts) == 0 {
		return err
	}
	_, err = s.Embed(ctx, testSpace, texts)
	return err
}

// cachedDocuments returns the number of documents of the tests' space in the cache.
func cachedDocuments(t testing.TB, s *Store) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+strings.Replace(s.path, ".sqlite", ".embeddings.sqlite", 1)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM embedding_cache e JOIN spaces s ON s.id = e.space WHERE e.kind = 'document' AND s.model = ?", testSpace.Model).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// backlog returns the texts without a vector of a space.
func backlog(t testing.TB, s *Store, space embed.Space) []string {
	t.Helper()
	texts, _, err := s.Backlog(t.Context(), space, vectors.Place{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, text := range texts {
		list = append(list, text.Text)
	}
	return list
}

// numbered returns n different lines.
func numbered(prefix string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s line%d", prefix, i)
	}
	return lines
}

// replace writes files or fails the test.
func replace(t *testing.T, s *Store, files ...note) {
	t.Helper()
	if err := write(t.Context(), s, testSpace, files...); err != nil {
		t.Fatal(err)
	}
}

// checkConsistent fails the test unless the tables are consistent and the file is intact. It returns the totals.
func checkConsistent(t *testing.T, s *Store) meta {
	t.Helper()
	m, err := readMeta(t.Context(), s.current().db.writer)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := consistent(t.Context(), s.current().db.readers, m); err != nil || !ok {
		t.Errorf("the index is not consistent: %+v, %v", m, err)
	}
	var integrity string
	if err := s.current().db.writer.QueryRow("PRAGMA integrity_check").Scan(&integrity); err != nil || integrity != "ok" {
		t.Errorf("integrity_check: %q, %v", integrity, err)
	}
	return m
}

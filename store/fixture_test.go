package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/store/vector"
)

// testSpace is the vector space of the store tests.
var testSpace = embed.Space{Provider: "test", Model: "m", Dims: 4}

// openTestStore opens a store in a folder.
func openTestStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Path(dir, "main"), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// moved closes a store and opens its index for a workspace.
func moved(t testing.TB, s *Store, workspace string) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	opt := testOptions()
	opt.Workspace = workspace
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
	return Options{Workspace: "/notes", Chunking: "test", CacheEntries: 50, Vectors: vector.NewBudget(vector.DefaultBudget),
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

// note is a file with the vectors that a provider returns for its chunks.
type note struct {
	indexer.File
	vectors map[indexer.Hash]indexer.Vectors
}

// vector returns the vector of a chunk, nil if it has none.
func (n note) vector(i int) []float32 { return n.vectors[n.Chunks[i].Hash].Vector }

// testFile returns a file of one-line chunks, each with a vector if r is not nil.
func testFile(path string, r *rand.Rand, lines ...string) note {
	f := note{File: indexer.File{Path: path, Source: memory.SourceMemory, SHA256: sha256.Sum256([]byte(path)),
		ModTime: time.Unix(1, 2), Size: 3, Date: indexer.DateOf(path)}, vectors: map[indexer.Hash]indexer.Vectors{}}
	for i, line := range lines {
		c := indexer.Chunk{Chunk: chunker.Chunk{StartLine: i + 1, EndLine: i + 1, Text: line, Tokens: 1},
			Hash: sha256.Sum256([]byte(line))}
		if r != nil {
			f.vectors[c.Hash] = testVectors(r, testSpace.Dims)
		}
		f.Chunks = append(f.Chunks, c)
	}
	return f
}

// testVectors returns a random vector with the windows of the first line.
func testVectors(r *rand.Rand, dims int) indexer.Vectors {
	return indexer.Vectors{Vector: unit(r, dims), Windows: []embed.Window{embed.QuantizeWindow(0, 0, unit(r, dims))}}
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
	return s.PutVectors(ctx, space, vectorsOf(notes))
}

// writeAll replaces the whole index by files, and then stores their vectors.
func writeAll(ctx context.Context, s *Store, space embed.Space, notes ...note) error {
	all := func(yield func(indexer.File, error) bool) {
		for _, n := range notes {
			if !yield(n.File, nil) {
				return
			}
		}
	}
	if _, err := s.ReplaceAll(ctx, all); err != nil {
		return err
	}
	return s.PutVectors(ctx, space, vectorsOf(notes))
}

// vectorsOf joins the vectors of files.
func vectorsOf(notes []note) map[indexer.Hash]indexer.Vectors {
	all := map[indexer.Hash]indexer.Vectors{}
	for _, n := range notes {
		maps.Copy(all, n.vectors)
	}
	return all
}

// knownVectors returns the undamaged vectors of texts in the index and in the cache.
func knownVectors(t testing.TB, s *Store, sp embed.Space, hashes []indexer.Hash) map[indexer.Hash]indexer.Vectors {
	t.Helper()
	known := vectorsByHash{}
	list, err := hexList(hashes)
	if err == nil {
		_, err = collectVectors(t.Context(), s.current().db.readers, known, sp.Dims, selectCached, list, sp.Provider, sp.Model, sp.Dims, sp.Endpoint)
	}
	if err != nil {
		t.Fatal(err)
	}
	if m, err := readMeta(t.Context(), s.current().db.readers); err != nil || m.space != sp || m.embedded == 0 {
		return decoded(t, known, sp.Dims)
	}
	if _, err := collectVectors(t.Context(), s.current().db.readers, known, sp.Dims, selectIndexed, list); err != nil {
		t.Fatal(err)
	}
	return decoded(t, known, sp.Dims)
}

// decoded returns stored vectors in the form of a provider's.
func decoded(t testing.TB, stored vectorsByHash, dims int) map[indexer.Hash]indexer.Vectors {
	t.Helper()
	vectors := map[indexer.Hash]indexer.Vectors{}
	for hash, s := range stored {
		v := indexer.Vectors{Vector: decodeVector(s.vector)}
		if s.windows != nil {
			var err error
			if v.Windows, err = embed.DecodeWindows(s.windows, dims); err != nil {
				t.Fatal(err)
			}
		}
		vectors[hash] = v
	}
	return vectors
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

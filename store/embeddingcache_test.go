package store

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"kioku/indexer"
)

func TestEmbeddingCacheSurvivesRemovalAndRebuild(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	replace(t, s, f)
	replace(t, s, gone("memory/a.md"))
	if err := writeAll(t.Context(), s, testSpace); err != nil {
		t.Fatal(err)
	}
	hashes := []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash, sha256.Sum256([]byte("unknown"))}
	if got := knownVectors(t, s, testSpace, hashes); !cmp.Equal(got, f.vectors) {
		t.Error(cmp.Diff(f.vectors, got))
	}
	if known, err := s.ReplaceFile(t.Context(), f.File); err != nil || known != 2 {
		t.Errorf("%d vectors are known, %v", known, err)
	}
	s = moved(t, s, "/other")
	if known, err := s.ReplaceFile(t.Context(), f.File); err != nil || known != 0 {
		t.Errorf("an index without a space takes %d vectors, %v", known, err)
	}
	other, unknownDims := testSpace, testSpace
	other.Model, unknownDims.Dims = "other", 0
	if n, err := s.AttachKnown(t.Context(), other); err != nil || n != 0 {
		t.Errorf("another model gets these vectors: %d, %v", n, err)
	}
	if n, err := s.AttachKnown(t.Context(), unknownDims); err != nil || n != 2 {
		t.Errorf("a space of unknown dimension does not stand for the cache's own: %d, %v", n, err)
	}
	if m := checkConsistent(t, s); m.embedded != 2 || m.space != testSpace {
		t.Errorf("%+v", m)
	}
}

// Hazard A20: a vector with a flipped bit in the cache or in the index counts as unknown.
func TestKnownVectorsLeaveOutDamagedOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where, damage string
		cached        bool
	}{
		{"in the cache", "UPDATE embedding_cache SET vector = zeroblob(16) WHERE sha256 = ?", true},
		{"in the index", "UPDATE chunks_vec SET embedding = x'0000803f000000000000000000000000' WHERE rowid IN (SELECT id FROM chunks WHERE sha256 = ?)", false},
	} {
		t.Run(c.where, func(t *testing.T) {
			s := openTestStore(t, t.TempDir())
			f := testFile("memory/a.md", newRand(), "one", "two")
			replace(t, s, f)
			if c.cached {
				replace(t, s, gone(f.Path))
			}
			if _, err := s.current().db.writer.Exec(c.damage, f.Chunks[0].Hash[:]); err != nil {
				t.Fatal(err)
			}
			f.SHA256[0]++
			if _, err := s.ReplaceFile(t.Context(), f.File); err != nil {
				t.Fatal(err)
			}
			texts, _, err := s.Backlog(t.Context(), testSpace, 10)
			if err != nil || len(texts) != 1 || texts[0].Text != "one" {
				t.Errorf("to be embedded again: %v, %v", texts, err)
			}
			checkConsistent(t, s)
		})
	}
}

// pool contains texts with their vectors. Files draw from it, so that texts are deleted, come back, and are in several files.
type pool struct {
	texts   []string
	vectors map[indexer.Hash]indexer.Vectors
}

func newPool(n int) pool {
	p := pool{texts: numbered("pool", n), vectors: map[indexer.Hash]indexer.Vectors{}}
	r := newRand()
	for _, text := range p.texts {
		p.vectors[sha256.Sum256([]byte(text))] = testVectors(r, testSpace.Dims)
	}
	return p
}

// draw returns a file of texts from the pool, some without a vector. It adds the vectors to known.
func (p pool) draw(rt *rapid.T, path string, known map[indexer.Hash]indexer.Vectors) note {
	f := testFile(path, nil, rapid.SliceOfN(rapid.SampledFrom(p.texts), 0, 6).Draw(rt, path)...)
	for i := range f.Chunks {
		c := &f.Chunks[i]
		if rapid.IntRange(0, 4).Draw(rt, "bare") > 0 {
			f.vectors[c.Hash] = p.vectors[c.Hash]
			known[c.Hash] = p.vectors[c.Hash]
		}
	}
	return f
}

func TestEmbeddingCacheLosesAndDuplicatesNoVector(t *testing.T) {
	t.Parallel()
	p := newPool(12)
	var all []indexer.Hash
	for h := range p.vectors {
		all = append(all, h)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := openTestStore(t, t.TempDir())
		defer func() { s.Close() }()
		known := map[indexer.Hash]indexer.Vectors{}
		paths := rapid.SampledFrom([]string{"memory/a.md", "memory/b.md", "memory/c.md"})
		rt.Repeat(map[string]func(*rapid.T){
			"replace": func(rt *rapid.T) {
				path := paths.Draw(rt, "path")
				replace(t, s, p.draw(rt, path, known), gone("memory/z.md"))
			},
			"remove": func(rt *rapid.T) { replace(t, s, gone(paths.Draw(rt, "path"))) },
			"rebuild": func(rt *rapid.T) {
				f := p.draw(rt, "memory/a.md", known)
				if err := writeAll(t.Context(), s, testSpace, f); err != nil {
					rt.Fatal(err)
				}
			},
			"empty": func(rt *rapid.T) {
				s = moved(t, s, rapid.SampledFrom([]string{"/x", "/y"}).Draw(rt, "folder"))
				if err := s.salvage(t.Context()); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				if got := knownVectors(t, s, testSpace, all); !cmp.Equal(got, known, cmpopts.EquateEmpty()) {
					rt.Fatal(cmp.Diff(known, got))
				}
				var twice int
				err := s.current().db.writer.QueryRow(`SELECT count(*) FROM embedding_cache e JOIN chunks c ON c.sha256 = e.sha256
					WHERE c.checksum IS NOT NULL`).Scan(&twice)
				if m := checkConsistent(t, s); err != nil || twice > 0 || t.Failed() {
					rt.Fatalf("%d vectors are kept twice, %v, %+v", twice, err, m)
				}
			},
		})
	})
}

func TestEmbeddingCacheIsBounded(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	live := testFile("memory/live.md", r, numbered("live", 40)...)
	replace(t, s, live)
	if err := recordSync(t, s); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		replace(t, s, testFile("memory/b.md", r, numbered(fmt.Sprint("round", i), 20)...))
	}
	n, err := s.current().countCached(t.Context())
	if err != nil || n > 40+20+s.opt.CacheEntries {
		t.Errorf("the cache holds %d rows, %v", n, err)
	}
	var hashes []indexer.Hash
	for _, c := range live.Chunks {
		hashes = append(hashes, c.Hash)
	}
	if got := knownVectors(t, s, testSpace, hashes); len(got) != 40 {
		t.Errorf("%d of 40 indexed texts still have their vectors", len(got))
	}
}

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

func TestTheCacheSurvivesRemovalAndRebuild(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	replace(t, s, f)
	replace(t, s, indexer.File{Path: "memory/a.md", Gone: true})
	none := func(func(indexer.File, error) bool) {}
	if err := s.ReplaceAll(t.Context(), testSpace, none); err != nil {
		t.Fatal(err)
	}
	hashes := []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash, sha256.Sum256([]byte("unknown"))}
	unknownDims := testSpace
	unknownDims.Dims = 0
	got, err := s.CachedVectors(t.Context(), testSpace, hashes)
	want := map[indexer.Hash][]float32{hashes[0]: f.Chunks[0].Vector, hashes[1]: f.Chunks[1].Vector}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, cmp.Diff(want, got))
	}
	replace(t, s, f)
	if got, err := s.CachedVectors(t.Context(), unknownDims, hashes); err != nil || len(got) != 2 {
		t.Errorf("a space of unknown dimension does not stand for the index's own: %d, %v", len(got), err)
	}
	other := testSpace
	other.Model = "other"
	if got, err := s.CachedVectors(t.Context(), other, hashes); err != nil || len(got) != 0 {
		t.Errorf("another model gets these vectors: %d, %v", len(got), err)
	}
}

// Hazard A20: a flipped bit in the cache or in the index is noticed, and the vector counts as unknown.
func TestADamagedVectorCountsAsUnknown(t *testing.T) {
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
				replace(t, s, indexer.File{Path: f.Path, Gone: true})
			}
			if _, err := s.db.writer.Exec(c.damage, f.Chunks[0].Hash[:]); err != nil {
				t.Fatal(err)
			}
			got, err := s.CachedVectors(t.Context(), testSpace, []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash})
			if err != nil || len(got) != 1 || got[f.Chunks[1].Hash] == nil {
				t.Errorf("got %d vectors, %v", len(got), err)
			}
		})
	}
}

// pool is texts with their vectors; a change draws from it, so that texts go, come back, and stand in several files.
type pool struct {
	texts   []string
	vectors map[indexer.Hash][]float32
}

func newPool(n int) pool {
	p := pool{texts: numbered("pool", n), vectors: map[indexer.Hash][]float32{}}
	r := newRand()
	for _, text := range p.texts {
		p.vectors[sha256.Sum256([]byte(text))] = unit(r, testSpace.Dims)
	}
	return p
}

// draw makes a file of texts of the pool, some without a vector. It notes the texts that have one.
func (p pool) draw(rt *rapid.T, path string, known map[indexer.Hash][]float32) indexer.File {
	f := testFile(path, nil, rapid.SliceOfN(rapid.SampledFrom(p.texts), 0, 6).Draw(rt, path)...)
	for i := range f.Chunks {
		c := &f.Chunks[i]
		if rapid.IntRange(0, 4).Draw(rt, "bare") > 0 {
			c.Vector = p.vectors[c.Hash]
			known[c.Hash] = c.Vector
		}
	}
	return f
}

func TestNoVectorIsLostAndNoneIsKeptTwice(t *testing.T) {
	p := newPool(12)
	var all []indexer.Hash
	for h := range p.vectors {
		all = append(all, h)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := openTestStore(t, t.TempDir())
		defer s.db.close()
		known := map[indexer.Hash][]float32{}
		paths := rapid.SampledFrom([]string{"memory/a.md", "memory/b.md", "memory/c.md"})
		rt.Repeat(map[string]func(*rapid.T){
			"replace": func(rt *rapid.T) {
				path := paths.Draw(rt, "path")
				replace(t, s, p.draw(rt, path, known), indexer.File{Path: "memory/z.md", Gone: true})
			},
			"remove": func(rt *rapid.T) { replace(t, s, indexer.File{Path: paths.Draw(rt, "path"), Gone: true}) },
			"rebuild": func(rt *rapid.T) {
				f := p.draw(rt, "memory/a.md", known)
				if err := s.ReplaceAll(t.Context(), testSpace, func(yield func(indexer.File, error) bool) { yield(f, nil) }); err != nil {
					rt.Fatal(err)
				}
			},
			"empty": func(rt *rapid.T) {
				if err := s.adopt(t.Context(), rapid.SampledFrom([]string{"/x", "/y"}).Draw(rt, "folder")); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				got, err := s.CachedVectors(t.Context(), testSpace, all)
				if err != nil || !cmp.Equal(got, known, cmpopts.EquateEmpty()) {
					rt.Fatal(err, cmp.Diff(known, got))
				}
				var twice int
				err = s.db.writer.QueryRow(`SELECT count(*) FROM embedding_cache e JOIN chunks c ON c.sha256 = e.sha256
					WHERE c.checksum IS NOT NULL`).Scan(&twice)
				if m := checkSound(t, s); err != nil || twice > 0 || t.Failed() {
					rt.Fatalf("%d vectors are kept twice, %v, %+v", twice, err, m)
				}
			},
		})
	})
}

func TestTheCacheIsBoundedAndKeepsWhatIsIndexed(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	live := testFile("memory/live.md", r, numbered("live", 40)...)
	replace(t, s, live)
	if err := s.RecordSync(t.Context(), s.now()); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		replace(t, s, testFile("memory/b.md", r, numbered(fmt.Sprint("round", i), 20)...))
	}
	n, err := s.cached(t.Context())
	if err != nil || n > 40+20+s.cacheEntries {
		t.Errorf("the cache holds %d rows, %v", n, err)
	}
	var hashes []indexer.Hash
	for _, c := range live.Chunks {
		hashes = append(hashes, c.Hash)
	}
	if got, err := s.CachedVectors(t.Context(), testSpace, hashes); err != nil || len(got) != 40 {
		t.Errorf("%d of 40 indexed texts are still cached, %v", len(got), err)
	}
}

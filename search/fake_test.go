package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"kioku/embed"
	"kioku/memory"
	"kioku/search/analysis"
)

var errBroken = errors.New("disk on fire")

var testSpace = embed.Space{Provider: "openai", Model: "test", Dims: 3}

// fakeStore is a store in memory. Its Match ranks by how many of the terms occur.
type fakeStore struct {
	chunks []Chunk
	terms  []map[string]bool
	index  Index
	df     map[string]int
	// matchErr, nearErr and datedErr are what Match, Nearest and Dated return.
	matchErr, nearErr, datedErr error
	// matched and nearest record the limits of the last calls.
	matched, nearest atomic.Int64
	open             atomic.Bool
}

// newFakeStore numbers the chunks from 1.
func newFakeStore(chunks ...Chunk) *fakeStore {
	s := &fakeStore{df: make(map[string]int)}
	total := 0
	paths := make(map[string]bool)
	for i, c := range chunks {
		c.ID = int64(i + 1)
		if c.Source == "" {
			c.Source = "memory"
		}
		if c.StartLine == 0 {
			c.StartLine, c.EndLine = 1, 1
		}
		if c.Vector != nil {
			s.index.Embedded++
			s.index.Space = testSpace
		}
		set := make(map[string]bool)
		terms := analysis.ChunkTerms(analysis.Chunk{First: !paths[c.Path], Language: c.Language, Names: c.Names, Folders: c.Folders, Headings: c.Headings, Date: c.Date, Text: c.Text})
		for _, t := range terms {
			total++
			if !set[t] {
				s.df[t]++
			}
			set[t] = true
		}
		paths[c.Path] = true
		s.chunks, s.terms = append(s.chunks, c), append(s.terms, set)
	}
	s.index.Files, s.index.Chunks = len(chunks), len(chunks)
	s.index.AvgTerms = float64(total) / float64(max(1, len(chunks)))
	return s
}

func (s *fakeStore) View(_ context.Context, _ bool, f func(Reader) error) error {
	s.open.Store(true)
	defer s.open.Store(false)
	return f(s)
}

func (s *fakeStore) Index() Index { return s.index }

func (s *fakeStore) DocFreq(_ context.Context, terms []string) (map[string]int, error) {
	df := make(map[string]int)
	for _, t := range terms {
		if n := s.df[t]; n > 0 {
			df[t] = n
		}
	}
	return df, nil
}

func (s *fakeStore) Longer(_ context.Context, term string, end bool, _ int) (map[string]int, error) {
	longer := make(map[string]int)
	for t, n := range s.df {
		if end && strings.HasSuffix(t, term) || !end && strings.HasPrefix(t, term) {
			longer[t] = n
		}
	}
	return longer, nil
}

func (s *fakeStore) Dated(_ context.Context, first, last string) (bool, error) {
	for _, c := range s.chunks {
		if c.Date != "" && first <= c.Date && c.Date <= last {
			return true, nil
		}
	}
	return false, s.datedErr
}

func (s *fakeStore) Lacking(_ context.Context, field string) (int, error) {
	n := 0
	for _, c := range s.chunks {
		if field != "date" || c.Date == "" {
			n++
		}
	}
	return n, nil
}

func (s *fakeStore) Match(_ context.Context, t Terms, f memory.Filter, limit int) ([]int64, error) {
	s.matched.Store(int64(limit))
	counts := make(map[int64]int)
	var ids []int64
	for i, c := range s.chunks {
		for _, t := range t.All() {
			if s.terms[i][t] && passes(f, &c) {
				counts[c.ID]++
			}
		}
		if counts[c.ID] > 0 || len(t.All()) == 0 && passes(f, &c) {
			ids = append(ids, c.ID)
		}
	}
	slices.SortStableFunc(ids, func(a, b int64) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(s.chunks[b-1].Date, s.chunks[a-1].Date))
	})
	return ids[:min(limit, len(ids))], s.matchErr
}

func (s *fakeStore) Nearest(_ context.Context, v []float32, f memory.Filter, k int) ([]Neighbor, Spread, error) {
	s.nearest.Store(int64(k))
	var near []Neighbor
	for _, c := range s.chunks {
		if cos, ok := cosine(v, c.Vector); ok && passes(f, &c) {
			near = append(near, Neighbor{c.ID, cos})
		}
	}
	slices.SortStableFunc(near, func(a, b Neighbor) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return near[:min(k, len(near))], s.spread(v), s.nearErr
}

// spread returns that of the cosines of all chunks with a vector.
func (s *fakeStore) spread(v []float32) Spread {
	var n, sum, squares float64
	for _, c := range s.chunks {
		if cos, ok := cosine(v, c.Vector); ok {
			n, sum, squares = n+1, sum+cos, squares+cos*cos
		}
	}
	if n == 0 {
		return Spread{}
	}
	mean := sum / n
	return Spread{Mean: mean, Deviation: math.Sqrt(max(squares/n-mean*mean, 0))}
}

func (s *fakeStore) Origins(context.Context, []int64) (map[int64][]memory.LineOrigin, error) {
	return nil, nil
}

func (s *fakeStore) Verify(context.Context, []int64) error { return nil }

func (s *fakeStore) Chunks(_ context.Context, ids []int64, vectors bool) ([]Chunk, error) {
	var chunks []Chunk
	// Backwards, as no order is promised.
	for _, id := range slices.Backward(ids) {
		c := s.chunks[id-1]
		if !vectors {
			c.Vector, c.Windows = nil, nil
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// fakeEmbedder returns one vector, or what query does.
type fakeEmbedder struct {
	vector []float32
	space  embed.Space
	off    bool
	class  embed.Class
	query  func(ctx context.Context) ([]float32, error)
}

func (e *fakeEmbedder) Enabled() bool { return !e.off }

func (e *fakeEmbedder) Class() embed.Class { return e.class }

func (e *fakeEmbedder) Space() embed.Space {
	if e.space.IsZero() {
		return testSpace
	}
	return e.space
}

func (e *fakeEmbedder) Query(ctx context.Context, _ string) ([]float32, error) {
	if e.query != nil {
		return e.query(ctx)
	}
	return e.vector, nil
}

// countingReader counts how often the vocabulary is asked, and fails at the call failAt.
type countingReader struct {
	*fakeStore
	asked, failAt int
}

func (r *countingReader) DocFreq(ctx context.Context, terms []string) (map[string]int, error) {
	if r.asked++; r.asked == r.failAt {
		return nil, errBroken
	}
	return r.fakeStore.DocFreq(ctx, terms)
}

// passes reports whether a filter lets a chunk through, conditions on fields aside.
func passes(f memory.Filter, c *Chunk) bool {
	return strings.HasPrefix(c.Path, f.PathPrefix) && (len(f.Sources) == 0 || slices.Contains(f.Sources, c.Source)) &&
		(f.Since+f.Until == "" || c.Date != "" && c.Date >= f.Since && (f.Until == "" || c.Date <= f.Until))
}

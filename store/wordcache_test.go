package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"kioku/memory"
	"kioku/search"
	"kioku/store/vector"
)

// loadWords has the words of an index loaded.
func loadWords(t testing.TB, s *Store) {
	t.Helper()
	x := s.current()
	x.words.used.Store(true)
	x.loadWordCache()
	x.words.loads.Wait()
}

// viewWords calls f with a view and reports whether the words of the view are cached.
func viewWords(t testing.TB, s *Store, f func(v *view) error) (cached bool) {
	t.Helper()
	err := s.View(t.Context(), false, func(rd search.Reader) error {
		v := rd.(*view)
		cached = v.words != nil
		return f(v)
	})
	if err != nil {
		t.Fatal(err)
	}
	return cached
}

// sameWords compares the cached words with FTS5 in one view: the frequencies of the terms, and the best chunks.
func sameWords(t testing.TB, v *view, terms search.Terms, f memory.Filter, limit int) error {
	disk := *v
	disk.words = nil
	gotFreq, err := v.DocFreq(t.Context(), terms.All())
	if err != nil {
		return err
	}
	wantFreq, err := disk.DocFreq(t.Context(), terms.All())
	if err != nil {
		return err
	}
	if diff := cmp.Diff(wantFreq, gotFreq); diff != "" {
		return fmt.Errorf("frequencies (-disk +memory):\n%s", diff)
	}
	if err := sameLonger(t, v, &disk, terms.All()); err != nil {
		return err
	}
	got, err := v.Match(t.Context(), terms, f, limit)
	if err != nil {
		return err
	}
	want, err := disk.Match(t.Context(), terms, f, limit)
	if err != nil {
		return err
	}
	return sameOrder(t, &disk, terms, got, want)
}

// sameLonger compares the words that begin or end with the halves of each term.
func sameLonger(t testing.TB, cached, disk *view, terms []string) error {
	for _, term := range terms {
		for end, half := range map[bool]string{false: term[:(len(term)+1)/2], true: term[len(term)/2:]} {
			got, err := cached.Longer(t.Context(), half, end, 3)
			if err != nil {
				return err
			}
			want, err := disk.Longer(t.Context(), half, end, 3)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("words with %q (-disk +memory):\n%s", half, diff)
			}
		}
	}
	return nil
}

// sameOrder compares two lists of the best chunks. Chunks whose scores differ only by rounding may be in another order.
func sameOrder(t testing.TB, v *view, terms search.Terms, got, want []int64) error {
	if slices.Equal(got, want) {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("%v: %d chunks in memory, %d on disk", terms, len(got), len(want))
	}
	scores := make(map[int64]float64)
	for _, expr := range []string{termsExpr(terms), AnyExpr(terms.All())} {
		rows, err := v.wordsTx.QueryContext(t.Context(), "SELECT rowid, bm25(chunks_fts) FROM chunks_fts WHERE chunks_fts MATCH ?", expr)
		if err != nil {
			return err
		}
		clear(scores)
		for rows.Next() {
			var id int64
			var score float64
			if err := rows.Scan(&id, &score); err != nil {
				return err
			}
			scores[id] = score
		}
		rows.Close()
		if equalScores(scores, got, want) {
			return nil
		}
	}
	return fmt.Errorf("%v: %v in memory, %v on disk", terms, got, want)
}

// equalScores reports whether the chunks at each place of two lists have the same score but for rounding.
func equalScores(scores map[int64]float64, got, want []int64) bool {
	for i := range got {
		a, ok := scores[got[i]]
		b, also := scores[want[i]]
		if !ok || !also || math.Abs(a-b) > 1e-9 {
			return false
		}
	}
	return true
}

// randomText returns lines of few words, so that many chunks contain the same.
func randomText(r *rand.Rand) []string {
	lines := make([]string, 1+r.IntN(12))
	for i := range lines {
		words := make([]string, 1+r.IntN(20))
		for k := range words {
			n := int(math.Exp(r.Float64()*5.3)) - 1 // up to 200, the small ones far more often
			words[k] = fmt.Sprintf("w%d", n)
		}
		lines[i] = strings.Join(words, " ")
	}
	return lines
}

// randomTerms returns terms that texts contain, and some that none does.
func randomTerms(r *rand.Rand) search.Terms {
	var t search.Terms
	for n := range 1 + r.IntN(8) {
		term := fmt.Sprintf("w%d", int(math.Exp(r.Float64()*5.4))-1)
		if slices.Contains(t.All(), term) {
			continue
		}
		if n > 1 && r.IntN(3) == 0 {
			t.Also = append(t.Also, term)
		} else {
			t.Any = append(t.Any, term)
		}
	}
	return t
}

// scopeModel is what a property test knows of the files of a store: those that it has are true.
type scopeModel map[string]bool

// write replaces files.
func (m scopeModel) write(t *testing.T, s *Store, files ...note) {
	replace(t, s, files...)
	for _, f := range files {
		m[f.Path] = true
	}
}

// remove removes a file.
func (m scopeModel) remove(t *testing.T, s *Store, path string) {
	replace(t, s, gone(path))
	delete(m, path)
}

// check compares the files of chunks that a search found with the files that it may find.
func (m scopeModel) check(t *testing.T, v *view, ids []int64, f memory.Filter) error {
	chunks, err := v.Chunks(t.Context(), ids, false)
	if err != nil {
		return err
	}
	if len(chunks) != len(ids) {
		return fmt.Errorf("%d of %d chunks that are found exist", len(chunks), len(ids))
	}
	for _, c := range chunks {
		allowed := strings.HasPrefix(c.Path, f.PathPrefix) && c.Date >= f.Since && (f.Until == "" || c.Date <= f.Until)
		if !m[c.Path] || !allowed {
			return fmt.Errorf("%s is found, is there %v, by the filter %+v", c.Path, m[c.Path], f)
		}
	}
	return nil
}

// "Stop when no other chunk can enter the 100 best ... the same candidates as an exhaustive OR, by a property test": words in
// memory find what FTS5 finds, with filters, after any edits, merges of segments and loads. Neither finds a chunk
// that is deleted or filtered out.
func TestWordCacheFindsWhatFTS5Finds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		s := openWithBudget(t, t.TempDir(), vector.NewBudget(vector.DefaultBudget), false)
		defer s.Close()
		path := func() string { return fmt.Sprintf("memory/2026-01-%02d.md", 1+r.IntN(25)) }
		files, loaded := scopeModel{}, false
		for range rapid.IntRange(3, 15).Draw(rt, "steps") {
			switch n := r.IntN(10); {
			case n < 6:
				files.write(t, s, testFile(path(), nil, randomText(r)...), testFile(path(), nil, randomText(r)...))
			case n == 6:
				files.remove(t, s, path())
			case n == 7:
				if err := s.MergeSegments(t.Context()); err != nil {
					rt.Fatal(err)
				}
			default:
				loadWords(t, s)
				loaded = s.current().words.generations.Load() != nil
			}
			cached := viewWords(t, s, func(v *view) error {
				filters := []memory.Filter{{}, {PathPrefix: "memory/2026-01-1"}, {Since: "2026-01-05", Until: "2026-01-20"}}
				terms, f := randomTerms(r), filters[r.IntN(len(filters))]
				ids, err := v.Match(t.Context(), terms, f, 1000)
				if err == nil {
					err = files.check(t, v, ids, f)
				}
				return errors.Join(err, sameWords(t, v, terms, f, 1+r.IntN(40)))
			})
			if loaded && !cached {
				rt.Fatal("the words are not cached any more")
			}
		}
	})
}

// A thousand chunks have terms with many blocks of documents.
func TestWordCacheFindsWhatFTS5FindsInManyChunks(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), vector.NewBudget(vector.DefaultBudget), false)
	r := rand.New(rand.NewPCG(5, 6))
	write := func() {
		for f := range 60 {
			lines := make([]string, 0, 60)
			for range 60 {
				lines = append(lines, strings.Join(randomText(r), " "))
			}
			replace(t, s, testFile(fmt.Sprintf("memory/%02d.md", f), nil, lines...))
		}
	}
	write()
	loadWords(t, s)
	for range 200 {
		cached := viewWords(t, s, func(v *view) error { return sameWords(t, v, randomTerms(r), memory.Filter{}, 100) })
		if !cached {
			t.Fatal("the words are not cached")
		}
	}
}

// Places of a term are what the index of words says.
func TestWordCachePlacesAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), vector.NewBudget(vector.DefaultBudget), false)
	replace(t, s, testFile("memory/a.md", nil, "tea and tea", "no coffee", "coffee or tea"))
	loadWords(t, s)
	replace(t, s, testFile("memory/b.md", nil, "tea tea tea"))
	var got [][]search.Place
	viewWords(t, s, func(v *view) error {
		got = v.Places([]string{"coffe", "tea"}, []int64{1, 2, 3, 4})
		return nil
	})
	want := [][]search.Place{{{Term: 1, At: 0}, {Term: 1, At: 2}}, {{Term: 0, At: 1}}, {{Term: 0, At: 0}, {Term: 1, At: 2}},
		{{Term: 1, At: 0}, {Term: 1, At: 1}, {Term: 1, At: 2}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The first view of a process neither waits for the words nor has them loaded; the second has them loaded in the background.
func TestWordCacheIsLoadedFromTheSecondViewOn(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), vector.NewBudget(vector.DefaultBudget), false)
	replace(t, s, testFile("memory/a.md", nil, "tea"))
	nothing := func(*view) error { return nil }
	if viewWords(t, s, nothing); s.current().words.loading.Load() || s.current().words.generations.Load() != nil {
		t.Error("the first view loads the words")
	}
	viewWords(t, s, nothing)
	s.current().words.loads.Wait()
	if !viewWords(t, s, nothing) {
		t.Error("the second view did not have the words loaded")
	}
}

// "Under the budget of the vectors": words that do not fit are searched on disk, and an agent that is used gets the memory of
// one that is not.
func TestWordCacheKeepsToTheBudget(t *testing.T) {
	t.Parallel()
	budget := vector.NewBudget(40_000)
	stores := make([]*Store, 3)
	for i := range stores {
		stores[i] = openWithBudget(t, t.TempDir(), budget, false)
		replace(t, stores[i], testFile("memory/a.md", nil, "tea"))
	}
	nothing := func(*view) error { return nil }
	for i, s := range stores {
		for range 3 {
			viewWords(t, s, nothing)
			s.current().words.loads.Wait()
		}
		if !viewWords(t, s, nothing) || budget.Held() > budget.Limit() {
			t.Errorf("store %d: cached %v, %d bytes are held", i, viewWords(t, s, nothing), budget.Held())
		}
	}
	none := openWithBudget(t, t.TempDir(), vector.NewBudget(100), false)
	replace(t, none, testFile("memory/a.md", nil, "tea"))
	loadWords(t, none)
	if viewWords(t, none, nothing) {
		t.Error("words are cached beyond the budget")
	}
}

// A generation that another process has written is answered from disk, and loaded once it rests.
func TestWordCacheFollowsOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := openWithBudget(t, dir, vector.NewBudget(0), false)
	replace(t, owner, testFile("memory/a.md", nil, "tea"))
	reader := openWithBudget(t, dir, vector.NewBudget(vector.DefaultBudget), true)
	loadWords(t, reader)
	same := func(v *view) error {
		return sameWords(t, v, search.Terms{Any: []string{"tea", "coffe"}}, memory.Filter{}, 10)
	}
	if !viewWords(t, reader, same) {
		t.Fatal("the words are not cached")
	}
	replace(t, owner, testFile("memory/b.md", nil, "tea and coffee"))
	if viewWords(t, reader, same) {
		t.Error("a view has words of another generation")
	}
	for range 3 {
		viewWords(t, reader, same)
		reader.current().words.loads.Wait()
	}
	if !viewWords(t, reader, same) {
		t.Error("the words of the new generation were not loaded")
	}
}

// Views, commits and loads at the same time: each view has the words of its generation.
func TestWordCacheIsConsistentWhileFilesChange(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), vector.NewBudget(vector.DefaultBudget), false)
	replace(t, s, testFile("memory/a.md", nil, "w1 w2"))
	var g errgroup.Group
	g.Go(func() error {
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 150 {
			if err := write(t.Context(), s, testSpace, testFile(fmt.Sprintf("memory/%d.md", i%20), nil, randomText(r)...)); err != nil {
				return err
			}
		}
		return nil
	})
	for n := range 3 {
		g.Go(func() error {
			r := rand.New(rand.NewPCG(2, uint64(n)))
			for range 60 {
				err := s.View(t.Context(), false, func(rd search.Reader) error {
					return sameWords(t, rd.(*view), randomTerms(r), memory.Filter{}, 20)
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	s.current().words.loads.Wait()
	viewWords(t, s, func(v *view) error { return sameWords(t, v, search.Terms{Any: []string{"w1"}}, memory.Filter{}, 20) })
}

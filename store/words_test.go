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
	"kioku/store/slab"
)

// loadSlab has the words and vectors of an index loaded.
func loadSlab(t testing.TB, s *Store) {
	t.Helper()
	for range 3 {
		s.current().slabs.Use(func(err error) { t.Error(err) })
		s.current().slabs.Wait()
	}
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

// sameWords compares the words in memory with FTS5 in one view: the frequencies of the terms, and the chunks with any of them.
func sameWords(t testing.TB, v *view, terms search.Terms, f memory.Filter) error {
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
	got, err := v.Match(t.Context(), terms, f, 10_000)
	if err != nil {
		return err
	}
	want, err := disk.Match(t.Context(), terms, f, 10_000)
	if err != nil {
		return err
	}
	slices.Sort(got)
	slices.Sort(want)
	return errorIf(!slices.Equal(got, want), fmt.Sprintf("%v: %v in memory, %v on disk", terms, got, want))
}

// sameRanks compares the best chunks by the words in memory with those by FTS5 in one view, of an index from which nothing was deleted:
// FTS5 counts what is deleted in its totals, and the words in memory do not.
func sameRanks(t testing.TB, v *view, terms search.Terms, f memory.Filter, limit int) error {
	disk := *v
	disk.words = nil
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

// folderModel is what a property test knows of the files of a store, in the order in which they were written.
type folderModel []note

// write replaces files.
func (m *folderModel) write(t *testing.T, s *Store, files ...note) {
	replace(t, s, files...)
	for _, f := range files {
		m.forget(f.Path)
		*m = append(*m, f)
	}
}

// remove removes a file.
func (m *folderModel) remove(t *testing.T, s *Store, path string) {
	replace(t, s, gone(path))
	m.forget(path)
}

func (m *folderModel) forget(path string) {
	*m = slices.DeleteFunc(*m, func(f note) bool { return f.Path == path })
}

// has reports whether there is a file.
func (m folderModel) has(path string) bool {
	return slices.ContainsFunc(m, func(f note) bool { return f.Path == path })
}

// check compares the files of chunks that a search found with the files that it may find.
func (m folderModel) check(t *testing.T, v *view, ids []int64, f memory.Filter) error {
	chunks, err := v.Chunks(t.Context(), ids, false)
	if err != nil {
		return err
	}
	if len(chunks) != len(ids) {
		return fmt.Errorf("%d of %d chunks that are found exist", len(chunks), len(ids))
	}
	for _, c := range chunks {
		allowed := strings.HasPrefix(c.Path, f.PathPrefix) && c.Date >= f.Since && (f.Until == "" || c.Date <= f.Until)
		if !m.has(c.Path) || !allowed {
			return fmt.Errorf("%s is found, is there %v, by the filter %+v", c.Path, m.has(c.Path), f)
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
		s := openWithBudget(t, t.TempDir(), slab.NewBudget(slab.DefaultBudget), false)
		defer s.Close()
		path := func() string { return fmt.Sprintf("memory/2026-01-%02d.md", 1+r.IntN(25)) }
		files, loaded := folderModel{}, false
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
				loadSlab(t, s)
				loaded = s.current().slabs.Resident() > 0
			}
			cached := viewWords(t, s, func(v *view) error {
				filters := []memory.Filter{{}, {PathPrefix: "memory/2026-01-1"}, {Since: "2026-01-05", Until: "2026-01-20"}}
				terms, f := randomTerms(r), filters[r.IntN(len(filters))]
				ids, err := v.Match(t.Context(), terms, f, 1000)
				if err == nil {
					err = files.check(t, v, ids, f)
				}
				return errors.Join(err, sameWords(t, v, terms, f))
			})
			if loaded && !cached {
				rt.Fatal("the words are not cached any more")
			}
		}
		if err := files.sameAsNew(t, s, r); err != nil {
			rt.Fatal(err)
		}
	})
}

// sameAsNew compares the best chunks of a store after edits with those of a new store with the same files, and these with what FTS5 finds.
func (m folderModel) sameAsNew(t *testing.T, s *Store, r *rand.Rand) error {
	whole := openWithBudget(t, t.TempDir(), slab.NewBudget(slab.DefaultBudget), false)
	defer whole.Close()
	replace(t, whole, m...)
	loadSlab(t, whole)
	loadSlab(t, s)
	for range 5 {
		terms, limit := randomTerms(r), 1+r.IntN(40)
		var edited, written []string
		viewWords(t, s, func(v *view) (err error) { edited, err = matchedTexts(t, v, terms, limit); return err })
		cached := viewWords(t, whole, func(v *view) (err error) {
			written, err = matchedTexts(t, v, terms, limit)
			return errors.Join(err, sameRanks(t, v, terms, memory.Filter{}, limit))
		})
		if diff := cmp.Diff(written, edited); diff != "" || !cached && len(m) > 0 {
			return fmt.Errorf("in memory: %v, %v (-new +edited):\n%s", cached, terms, diff)
		}
	}
	return nil
}

// matchedTexts returns the places of the best chunks by the words in memory, best first.
func matchedTexts(t *testing.T, v *view, terms search.Terms, limit int) (places []string, err error) {
	if v.words == nil {
		return nil, nil
	}
	ids, err := v.Match(t.Context(), terms, memory.Filter{}, limit)
	if err != nil {
		return nil, err
	}
	chunks, err := v.Chunks(t.Context(), ids, false)
	for _, c := range chunks {
		places = append(places, fmt.Sprintf("%s:%d", c.Path, c.StartLine))
	}
	return places, err
}

// A thousand chunks have terms with many blocks of documents.
func TestWordCacheFindsWhatFTS5FindsInManyChunks(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), slab.NewBudget(slab.DefaultBudget), false)
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
	loadSlab(t, s)
	for range 200 {
		cached := viewWords(t, s, func(v *view) error { return sameRanks(t, v, randomTerms(r), memory.Filter{}, 100) })
		if !cached {
			t.Fatal("the words are not cached")
		}
	}
}

// The first view of a process neither waits for the words nor has them loaded; the second has them loaded in the background.
func TestWordCacheIsLoadedFromTheSecondViewOn(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), slab.NewBudget(slab.DefaultBudget), false)
	replace(t, s, testFile("memory/a.md", nil, "tea"))
	nothing := func(*view) error { return nil }
	if viewWords(t, s, nothing); s.current().slabs.Resident() > 0 {
		t.Error("the first view loads the words")
	}
	viewWords(t, s, nothing)
	s.current().slabs.Wait()
	if !viewWords(t, s, nothing) {
		t.Error("the second view did not have the words loaded")
	}
}

// "Under the budget of the vectors": words that do not fit are searched on disk, and an agent that is used gets the memory of
// one that is not.
func TestWordCacheKeepsToTheBudget(t *testing.T) {
	t.Parallel()
	one := residentBytes(t, testFile("memory/a.md", nil, "tea"))
	budget := slab.NewBudget(2*one + one/2)
	stores := make([]*Store, 3)
	for i := range stores {
		stores[i] = openWithBudget(t, t.TempDir(), budget, false)
		replace(t, stores[i], testFile("memory/a.md", nil, "tea"))
	}
	nothing := func(*view) error { return nil }
	for i, s := range stores {
		for range 3 {
			viewWords(t, s, nothing)
			s.current().slabs.Wait()
		}
		if !viewWords(t, s, nothing) || budget.Held() > budget.Limit() {
			t.Errorf("store %d: cached %v, %d bytes are held", i, viewWords(t, s, nothing), budget.Held())
		}
	}
	none := openWithBudget(t, t.TempDir(), slab.NewBudget(20), false)
	replace(t, none, testFile("memory/a.md", nil, "tea"))
	loadSlab(t, none)
	if viewWords(t, none, nothing) {
		t.Error("words are cached beyond the budget")
	}
}

// A generation that another process has written is answered from disk, and loaded once it rests.
func TestWordCacheFollowsOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := openWithBudget(t, dir, slab.NewBudget(0), false)
	replace(t, owner, testFile("memory/a.md", nil, "tea"))
	reader := openWithBudget(t, dir, slab.NewBudget(slab.DefaultBudget), true)
	loadSlab(t, reader)
	same := func(v *view) error {
		return sameWords(t, v, search.Terms{Any: []string{"tea", "coffe"}}, memory.Filter{})
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
		reader.current().slabs.Wait()
	}
	if !viewWords(t, reader, same) {
		t.Error("the words of the new generation were not loaded")
	}
}

// Views, commits and loads at the same time: each view has the words of its generation.
func TestWordCacheIsConsistentWhileFilesChange(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), slab.NewBudget(slab.DefaultBudget), false)
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
					return sameWords(t, rd.(*view), randomTerms(r), memory.Filter{})
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
	s.current().slabs.Wait()
	viewWords(t, s, func(v *view) error { return sameWords(t, v, search.Terms{Any: []string{"w1"}}, memory.Filter{}) })
}

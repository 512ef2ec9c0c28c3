package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/search"
	"kioku/search/analysis"
)

// match returns the sorted places of the chunks that contain any of the terms.
func match(t *testing.T, s *Store, f memory.Filter, terms ...string) []string {
	t.Helper()
	var paths []string
	err := s.View(t.Context(), false, func(r search.Reader) error {
		ids, err := r.Match(t.Context(), search.Terms{Any: terms}, f, 100)
		if err != nil {
			return err
		}
		chunks, err := r.Chunks(t.Context(), ids, false)
		for _, c := range chunks {
			paths = append(paths, fmt.Sprintf("%s:%d", c.Path, c.StartLine))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// nearest returns the sorted places of the k chunks nearest to a vector.
func nearest(t *testing.T, s *Store, f memory.Filter, v []float32, k int) []string {
	t.Helper()
	var paths []string
	err := s.View(t.Context(), true, func(r search.Reader) error {
		near, _, err := r.Nearest(t.Context(), v, f, k)
		if err != nil {
			return err
		}
		for _, n := range near {
			chunks, err := r.Chunks(t.Context(), []int64{n.ID}, false)
			if err != nil {
				return err
			}
			paths = append(paths, fmt.Sprintf("%s:%d", chunks[0].Path, chunks[0].StartLine))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

func TestMatchAndNearestApplyFilters(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	extra := testFile("/elsewhere/x.md", r, "harbor")
	extra.Source = memory.SourceExtra
	replace(t, s, testFile("memory/2026-01-02.md", r, "harbor"), testFile("memory/2026-01-09.md", r, "harbor"),
		testFile("MEMORY.md", r, "harbor"), extra)
	for _, c := range []struct {
		name string
		f    memory.Filter
		want []string
	}{
		{"source", memory.Filter{Sources: []string{"extra"}}, []string{"/elsewhere/x.md:1"}},
		{"prefix", memory.Filter{PathPrefix: "memory/"}, []string{"memory/2026-01-02.md:1", "memory/2026-01-09.md:1"}},
		{"since", memory.Filter{Since: "2026-01-03"}, []string{"memory/2026-01-09.md:1"}},
		{"until excludes undated chunks", memory.Filter{Until: "2026-01-03"}, []string{"memory/2026-01-02.md:1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := match(t, s, c.f, "harbor"); !cmp.Equal(got, c.want) {
				t.Errorf("match: %s", cmp.Diff(c.want, got))
			}
			if got := nearest(t, s, c.f, unit(r, 4), 10); !cmp.Equal(got, c.want) {
				t.Errorf("nearest: %s", cmp.Diff(c.want, got))
			}
		})
	}
}

// Hazard D06: a filter must not hide neighbours that it allows.
func TestNearestFindsAllOfARareSource(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := rand.New(rand.NewPCG(3, 4))
	replace(t, s, testFile("memory/many.md", r, numbered("common", 990)...))
	rare := testFile("/elsewhere/rare.md", r, numbered("rare", 10)...)
	rare.Source = memory.SourceExtra
	replace(t, s, rare)
	if got := nearest(t, s, memory.Filter{Sources: []string{"extra"}}, unit(r, 4), 10); len(got) != 10 {
		t.Errorf("got %d of 10 neighbours: %v", len(got), got)
	}
}

func TestDocFreqCountsChunks(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", nil, "harbor harbor", "harbor lantern", "港町の朝"))
	err := s.View(t.Context(), false, func(r search.Reader) error {
		terms := append(analysis.Terms("harbor lantern nowhere"), analysis.Terms("港町")...)
		got, err := r.DocFreq(t.Context(), terms)
		want := map[string]int{"harbor": 2, "lantern": 1, "港町": 1}
		if !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLongerReturnsTermsThatBeginOrEndWithOne(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", nil, "harbor harborside", "harbor boatharbor shard", "größe"))
	for _, c := range []struct {
		term  string
		end   bool
		limit int
		want  map[string]int
	}{
		{"harbor", false, 9, map[string]int{"harbor": 2, "harborsid": 1}},
		{"harbor", true, 9, map[string]int{"harbor": 2, "boatharbor": 1}},
		{"harbor", true, 1, map[string]int{"harbor": 2}},
		{"zebra", false, 9, map[string]int{}}, {"%", true, 9, map[string]int{}}, {"*", false, 9, map[string]int{}},
	} {
		err := s.View(t.Context(), false, func(r search.Reader) error {
			got, err := r.Longer(t.Context(), c.term, c.end, c.limit)
			if !cmp.Equal(got, c.want) {
				t.Errorf("%q, end %v: %s", c.term, c.end, cmp.Diff(c.want, got))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestDocFreqTakesAnyTermAsItStands(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", nil, `c++ /users/x <b> größe`))
	terms := append(analysis.Terms(`c++ /users/x <b> größe`), `"`, `'`, `\`, "*", "", "<none>", "größ")
	err := s.View(t.Context(), false, func(r search.Reader) error {
		got, err := r.DocFreq(t.Context(), terms)
		want := make(map[string]int)
		for _, term := range analysis.Terms(`c++ /users/x <b> größe`) {
			want[term] = 1
		}
		if !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestViewIsOneSnapshot(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/a.md", r, "harbor"))
	err := s.View(t.Context(), true, func(rd search.Reader) error {
		replace(t, s, gone("memory/a.md"))
		ids, err := rd.Match(context.Background(), search.Terms{Any: []string{"harbor"}}, memory.Filter{}, 5)
		if len(ids) != 1 {
			t.Errorf("match sees the later commit: %v", ids)
		}
		near, _, err2 := rd.Nearest(context.Background(), unit(r, 4), memory.Filter{}, 5)
		if len(near) != 1 || rd.Index().Chunks != 1 {
			t.Errorf("nearest or index sees the later commit: %v %+v", near, rd.Index())
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDatedKnowsTheDaysOfChunksAndOfTheirHeadings(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	log := testFile("memory/log.md", r, "harbor")
	log.Chunks[0].Headings = "# Log > ## 2026-02-05 Arrival"
	replace(t, s, testFile("memory/2026-01-02.md", r, "harbor"), log)
	for _, c := range []struct {
		first, last string
		want        bool
	}{
		{"2026-01-02", "2026-01-02", true}, {"2026-01-03", "2026-02-04", false}, {"2026-02-01", "2026-02-28", true},
		{"2025-01-01", "2025-12-31", false},
	} {
		t.Run(c.first+" to "+c.last, func(t *testing.T) {
			err := s.View(t.Context(), false, func(rd search.Reader) error {
				got, err := rd.Dated(t.Context(), c.first, c.last)
				if got != c.want {
					t.Errorf("got %v", got)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestMatchWithoutTermsListsTheNewestWithinTheFilter(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	rnd := newRand()
	for _, name := range []string{"memory/2025-05-02.md", "memory/2026-02-03.md", "memory/2025-05-20.md", "MEMORY.md"} {
		replace(t, s, testFile(name, rnd, "text of "+name))
	}
	for _, c := range []struct {
		filter memory.Filter
		limit  int
		want   []string
	}{
		{memory.Filter{Since: "2025-05-01", Until: "2025-05-31"}, 9, []string{"memory/2025-05-20.md", "memory/2025-05-02.md"}},
		{memory.Filter{Until: "2025-12-31"}, 1, []string{"memory/2025-05-20.md"}},
		{memory.Filter{Since: "2025-05-20"}, 9, []string{"memory/2026-02-03.md", "memory/2025-05-20.md"}},
		{memory.Filter{PathPrefix: "MEM"}, 9, []string{"MEMORY.md"}},
		{memory.Filter{Sources: []string{"extra"}}, 9, nil},
		{memory.Filter{}, 0, nil},
	} {
		t.Run(fmt.Sprintf("%+v", c.filter), func(t *testing.T) {
			var got []string
			err := s.View(t.Context(), false, func(r search.Reader) error {
				ids, err := r.Match(t.Context(), search.Terms{}, c.filter, c.limit)
				for _, id := range ids {
					chunks, err := r.Chunks(t.Context(), []int64{id}, false)
					if err != nil {
						return err
					}
					got = append(got, chunks[0].Path)
				}
				return err
			})
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestSelectNewestUsesTheIndexOfDates(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	args := append(newestArgs(memory.Filter{Since: "2025-05-01", Until: "2025-05-31"}), 9)
	rows, err := s.current().db.readers.Query("EXPLAIN QUERY PLAN "+selectNewest, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if text := strings.Join(plan, "; "); !strings.Contains(text, "INDEX chunks_date (date>? AND date<?)") || strings.Contains(text, "FOR ORDER BY") {
		t.Errorf("%s", text)
	}
}

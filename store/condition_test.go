package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/chunker"
	"kioku/memory"
	"kioku/search"
)

// fieldFile returns a file of one chunk with the word tea and with fields of its front matter.
func fieldFile(path string, fields map[string][]string) note {
	f := testFile(path, nil, "tea "+path)
	for name, values := range fields {
		switch name {
		case "tags":
			f.Tags = values
		case "aliases":
			f.Meta.Aliases = values
		case "title":
			f.Title = strings.Join(values, " ")
		default:
			f.Meta.Fields = append(f.Meta.Fields, chunker.Field{Name: name, Values: values, List: len(values) > 1})
		}
	}
	return f
}

// allowed returns the paths of the files that a filter allows, for Match, Nearest and List alike.
func allowed(t interface {
	Fatal(...any)
	Errorf(string, ...any)
	Context() context.Context
}, s *Store, f memory.Filter) []string {
	var paths []string
	err := s.View(t.Context(), false, func(rd search.Reader) error {
		ids, err := rd.Match(t.Context(), search.Terms{Any: []string{"tea"}}, f, 1000)
		if err != nil {
			return err
		}
		chunks, err := rd.Chunks(t.Context(), ids, false)
		for _, c := range chunks {
			paths = append(paths, c.Path)
		}
		return err
	})
	list, listErr := s.List(t.Context(), memory.FileQuery{Filter: f, Limit: 1000}, func(string) bool { return true })
	if err != nil || listErr != nil {
		t.Fatal(err, listErr)
	}
	var listed []string
	for _, f := range list.Files {
		listed = append(listed, f.Path)
	}
	slices.Sort(paths)
	if !slices.Equal(paths, listed) {
		t.Errorf("%+v: Match allows %q, List %q", f.Where, paths, listed)
	}
	return paths
}

// The conditions of a filter select what a plain reading of their definition selects.
func TestFilterByFieldsEqualsItsDefinition(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	values := rapid.SampledFrom([]string{"1", "2", "10", "-1.5", "a", "B", "b", "a/b", "A/b/c", "2026-01-20", "20260121", "2026-01-21T10:00:00Z", "2026", "2026-01", "2025", "ä", ""})
	names := rapid.SampledFrom([]string{"x", "y", "tags"})
	rapid.Check(t, func(rt *rapid.T) {
		var files []note
		fields := map[string]map[string][]string{}
		for i := range 5 {
			path := fmt.Sprintf("n%d.md", i)
			fields[path] = rapid.MapOfN(names, rapid.SliceOfN(values, 1, 3), 0, 3).Draw(rt, path)
			files = append(files, fieldFile(path, fields[path]))
		}
		replace(t, s, files...)
		for range 10 {
			var where []memory.Condition
			for range rapid.IntRange(1, 3).Draw(rt, "conditions") {
				op := rapid.SampledFrom([]string{"=", "!=", "in", "<", "<=", ">", ">="}).Draw(rt, "op")
				most := 1
				if op == memory.In {
					most = 3
				}
				where = append(where, memory.Condition{Field: names.Draw(rt, "field"), Op: op, Values: rapid.SliceOfN(values, 1, most).Draw(rt, "values")})
			}
			var want []string
			for _, f := range files {
				if !slices.ContainsFunc(where, func(c memory.Condition) bool { return !meets(fields[f.Path][c.Field], c) }) {
					want = append(want, f.Path)
				}
			}
			if got := allowed(t, s, memory.Filter{Where: where}); !slices.Equal(got, want) {
				rt.Fatalf("%+v of %v: %q, want %q", where, fields, got, want)
			}
		}
	})
}

// meets reports whether the values of a field meet a condition, by the definition of memory.Condition.
func meets(values []string, c memory.Condition) bool {
	any := slices.ContainsFunc(values, func(have string) bool {
		return slices.ContainsFunc(c.Values, func(want string) bool { return compares(c, strings.ToLower(have), strings.ToLower(want)) })
	})
	return any != (c.Op == memory.NotEqual)
}

// compares reports whether a value and one of a condition compare as its operator says.
func compares(c memory.Condition, have, want string) bool {
	order := func(n int) bool {
		return map[string]bool{"<": n < 0, "<=": n <= 0, ">": n > 0, ">=": n >= 0, "=": n == 0, "in": n == 0, "!=": n == 0}[c.Op]
	}
	if !strings.ContainsAny(c.Op, "<>") && (have == want || c.Field == "tags" && strings.HasPrefix(have, want+"/")) {
		return true
	}
	day := map[string]string{"2026-01-20": "2026-01-20", "20260121": "2026-01-21", "2026-01-21t10:00:00z": "2026-01-21"}[have]
	period, asked := map[string][2]string{"2026-01-20": {"2026-01-20", "2026-01-20"}, "2026-01": {"2026-01-01", "2026-01-31"},
		"2026": {"2026-01-01", "2026-12-31"}, "2025": {"2025-01-01", "2025-12-31"}}[want]
	if day != "" && asked {
		byDay := order(strings.Compare(day, period[0])) // before the period, or in it
		if day > period[0] {
			byDay = order(max(strings.Compare(day, period[1]), 0))
		}
		if byDay || strings.ContainsAny(c.Op, "<>") {
			return byDay
		}
	}
	a, errA := strconv.ParseFloat(have, 64)
	b, errB := strconv.ParseFloat(want, 64)
	return errA == nil && errB == nil && order(int(max(min(2*(a-b), 1), -1)))
}

func TestLackingCountsFilesWithoutAField(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	dated := testFile("log.md", nil, "tea")
	dated.Chunks[0].Headings = "# Log > ## 2026-01-05"
	skipped := testFile("big.md", nil)
	skipped.Skipped = "too large"
	replace(t, s, fieldFile("a.md", map[string][]string{"status": {"done"}}), fieldFile("2026-03-01.md", map[string][]string{"status": nil}), dated, skipped)
	for field, want := range map[string]int{"status": 2, "Status": 2, "date": 1, "nothing": 3} {
		err := s.View(t.Context(), false, func(rd search.Reader) error {
			got, err := rd.Lacking(t.Context(), field)
			if got != want {
				t.Errorf("%d files lack %s, want %d", got, field, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A file that is replaced or removed leaves no field, name or link behind.
func TestReplaceFileRemovesWhatDescribedTheFile(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := fieldFile("a.md", map[string][]string{"status": {"done"}, "tags": {"x"}, "aliases": {"Bee"}})
	f.Links = []chunker.Link{{Line: 1, Text: "b", Target: "b", Kind: chunker.WikiLink}}
	count := func() (n int) {
		err := s.current().db.readers.QueryRow("SELECT (SELECT count(*) FROM fields) + (SELECT count(*) FROM aka) + (SELECT count(*) FROM links)").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	replace(t, s, f)
	if n := count(); n != 6 {
		t.Errorf("%d rows, want 3 fields, 2 names and a link", n)
	}
	replace(t, s, f)
	if n := count(); n != 6 {
		t.Errorf("%d rows after the file was replaced", n)
	}
	if err := writeAll(t.Context(), s, testSpace, f); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 6 {
		t.Errorf("%d rows after all files were replaced", n)
	}
	replace(t, s, gone("a.md"))
	if n := count(); n != 0 {
		t.Errorf("%d rows after the file was removed", n)
	}
}

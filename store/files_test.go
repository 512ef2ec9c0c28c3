package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/indexer"
)

// After any writes, Files returns the rows of the table, and the names select from them.
func TestFilesEqualTheTable(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	names := []string{"MEMORY.md", "memory", "memory/a", "memory/a.md", "memory/a/b.md", "memory/a/b/c.md", "memory/a0.md",
		"memory/a-b.md", "memory/<&>'\".md", "memory/日本.md", "/out", "/out/x.md", "/outer/y.md"}
	size := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		file := func(path string) note {
			size++
			f := testFile(path, newRand(), "one", "two")
			f.Size, f.Gone = size, rapid.Bool().Draw(rt, "gone")
			return f
		}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 6, rapid.ID)
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			var files []note
			for _, path := range some.Draw(rt, "paths") {
				files = append(files, file(path))
			}
			var err error
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				err = writeAll(t.Context(), s, testSpace, existing(files)...)
			case 1:
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if write(ctx, s, testSpace, files...) == nil {
					rt.Fatal("written after the caller left")
				}
			default:
				err = write(t.Context(), s, testSpace, files...)
			}
			if err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "ask") {
				checkFiles(rt, s, some.Draw(rt, "names"))
			}
		}
		checkFiles(rt, s, some.Draw(rt, "names"))
	})
}

// existing returns the files that are not gone.
func existing(files []note) []note {
	return slices.DeleteFunc(slices.Clone(files), func(f note) bool { return f.Gone })
}

// checkFiles compares the result of Files with the table.
func checkFiles(t *rapid.T, s *Store, under []string) {
	want, err := s.current().readFiles(context.Background(), selectFiles)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Files(context.Background())
	if err != nil || !cmp.Equal(want, got) {
		t.Fatal(err, cmp.Diff(want, got))
	}
	maps.DeleteFunc(want, func(path string, _ indexer.Stored) bool {
		for _, name := range under {
			if path == name || strings.HasPrefix(path, name+"/") {
				return false
			}
		}
		return true
	})
	if got, err = s.Files(context.Background(), under...); err != nil || !cmp.Equal(want, got) {
		t.Fatal(under, err, cmp.Diff(want, got))
	}
}

// A query for a few names must not read the whole table.
func TestFilesUnderUsesTheIndex(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	rows, err := s.current().db.readers.Query("EXPLAIN QUERY PLAN "+selectFilesUnder, `["memory"]`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	searches := 0
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(detail, "SEARCH files USING INDEX") || strings.Contains(detail, "SEARCH f USING INDEX") {
			searches++
		}
		if strings.Contains(detail, "SCAN f") {
			t.Error(detail)
		}
	}
	if err := rows.Err(); err != nil || searches != 2 {
		t.Errorf("%d searches by index: %v", searches, err)
	}
}

package modelstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// copyModel copies a small model of embed/local/testdata ("static", "transformer", "cross") into dir.
func copyModel(t *testing.T, dir, name string) {
	t.Helper()
	testkit.Must(t, os.CopyFS(dir, os.DirFS("../../../../embed/local/testdata/"+name)))
}

// Adding validates a model by opening it and embedding a pair.
func TestOpenTriesAModel(t *testing.T) {
	t.Parallel()
	static, deep, judge := t.TempDir(), t.TempDir(), t.TempDir()
	copyModel(t, static, "static")
	copyModel(t, deep, "transformer")
	copyModel(t, judge, "cross")
	for name, c := range map[string]struct {
		dir  string
		role Role
		want string
	}{
		"static":                       {static, Embedder, "static"},
		"transformer":                  {deep, Embedder, "transformer"},
		"re-ranker":                    {judge, Reranker, "cross-encoder"},
		"re-ranker as an embedder":     {judge, Embedder, "add it with --as reranker"},
		"static as a re-ranker":        {static, Reranker, "add it without --as reranker"},
		"no model":                     {t.TempDir(), Embedder, "no usable model"},
		"a folder that does not exist": {filepath.Join(t.TempDir(), "x"), Embedder, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts, err := Open(t.Context(), c.dir, Manifest{Role: c.role})
			if err == nil && facts.Kind != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v, want %s", facts, err, c.want)
			}
			if err == nil && (facts.Dims == 0) != (c.role == Reranker) {
				t.Errorf("%d dimensions", facts.Dims)
			}
		})
	}
}

func TestAddOfADamagedModel(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tiny")
	testkit.Must(t, os.Mkdir(dir, 0o700))
	copyModel(t, dir, "static")
	a := newAdder(t)
	a.Open = Open
	add(t, a, Request{Source: dir})
	info, err := os.Stat(filepath.Join(dir, weightsName))
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, os.Truncate(filepath.Join(dir, weightsName), info.Size()/2))
	if _, err := a.Add(t.Context(), Request{Source: dir, Replace: true}); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("%v", err)
	}
	kept, err := a.Store.Find("tiny")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := Open(t.Context(), kept.Dir, kept.Manifest)
	if diff := cmp.Diff(kept.Facts, facts); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

package indexer_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kioku/indexer"
)

func TestCheckPathsNamesAMalformedPattern(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"[", "notes/[", "/far/x-[a", "*[", "[]a]", `a*\`, "[z-a"} {
		err := indexer.CheckPaths([]string{"notes", p})
		if err == nil || !strings.Contains(err.Error(), p) || !strings.Contains(err.Error(), "pattern") {
			t.Errorf("%q: %v", p, err)
		}
	}
}

func TestCheckPathsAcceptsOtherPaths(t *testing.T) {
	t.Parallel()
	paths := []string{"notes", "no/such/folder", "*.md", "p-?", "[ab]*.md", `odd\[name.md`, "with[bracket/notes", "/", ".", `back\`}
	if err := indexer.CheckPaths(paths); err != nil {
		t.Error(err)
	}
	if err := indexer.CheckPaths(nil); err != nil {
		t.Error(err)
	}
}

func TestSyncReportsBadExtraPathsByName(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	missing := filepath.Join(out, "no", "such")
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{"[", missing, "docs/[a"} })
	f.write("memory/a.md", "a")
	f.write("docs/a.md", "a")
	rep := f.sync()
	if want := []string{"[", missing, "docs/[a"}; !slices.Equal(rep.Unavailable, want) {
		t.Errorf("unavailable: %q, want %q", rep.Unavailable, want)
	}
	f.holds("memory/a.md")
}

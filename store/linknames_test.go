package store

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/chunker"
	"kioku/memory"
)

// The folders of a site may each have an index.md of the same title. What a link means is found without comparing it with each
// of them: 200,000 links to 20,000 files take a moment; as many comparisons as links and files make would take minutes.
func TestLinksToManyFilesOfOneName(t *testing.T) {
	t.Parallel()
	const folders = 20_000
	n := newNamedFiles()
	for i := range folders {
		n.add(fmt.Sprintf("p%d/index.md", i), "Home", nil)
	}
	for i := range folders {
		from := fmt.Sprintf("p%d/index.md", i)
		for j := range 9 {
			want := fmt.Sprintf("p%d/index.md", (i+j)%folders)
			if got := n.find(memory.Link{From: from, Target: want, Kind: chunker.PathLink}); got != want {
				t.Fatalf("%s means %s", want, got)
			}
		}
		if got := n.find(memory.Link{From: from, Target: "home", Kind: chunker.WikiLink}); got != from {
			t.Fatalf("home in %s means %s", from, got)
		}
	}
}

// namedFile is a file of the definition below.
type namedFile struct {
	path, title string
	aliases     []string
}

// What a link means is what its definition finds by comparing it with every file.
func TestLinksEqualTheirDefinition(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "A", "b", "index"})
	paths := rapid.Map(rapid.SliceOfN(part, 1, 3), func(parts []string) string { return strings.Join(parts, "/") + ".md" })
	names := rapid.SampledFrom([]string{"", "a", "B", "a/b", "index", "."})
	rapid.Check(t, func(t *rapid.T) {
		n, files := newNamedFiles(), []namedFile{}
		for _, p := range rapid.SliceOfNDistinct(paths, 1, 8, rapid.ID).Draw(t, "paths") {
			f := namedFile{path: p, title: names.Draw(t, "title"), aliases: rapid.SliceOfN(names, 0, 2).Draw(t, "aliases")}
			files = append(files, f)
			n.add(f.path, f.title, f.aliases)
		}
		l := memory.Link{From: paths.Draw(t, "from"), Kind: rapid.SampledFrom([]string{chunker.WikiLink, chunker.PathLink}).Draw(t, "kind")}
		l.Target = rapid.OneOf(names, paths, rapid.Map(paths, func(p string) string { return "/" + p })).Draw(t, "target")
		if got, want := linkName(n.find(l)), linkName(definedFile(files, l)); got != want {
			t.Fatalf("%+v in %+v means %q, want %q", l, files, got, want)
		}
	})
}

// definedFile returns the file that a link means, but for its spelling.
func definedFile(files []namedFile, l memory.Link) string {
	best, rank := "", 0
	here := func(p string) int {
		if path.Dir(p) == path.Dir(l.From) {
			return 0
		}
		return 1
	}
	for _, f := range files {
		switch r := definedRank(f, l); {
		case r == 0:
		case rank == 0, r < rank, r == rank && cmp.Or(here(f.path)-here(best), len(f.path)-len(best), strings.Compare(f.path, best)) < 0:
			best, rank = f.path, r
		}
	}
	return best
}

// definedRank returns how well a file fits a link, 1 for best; 0 if it does not.
func definedRank(f namedFile, l memory.Link) int {
	target, own, folder := linkName(l.Target), linkName(f.path), ""
	if isIndex(own) {
		folder = path.Dir(own)
	}
	named, end := l.Kind != chunker.PathLink, target
	if !named && path.Dir(l.Target) == path.Dir(l.From) {
		end = path.Base(target)
	} else if !named && !path.IsAbs(l.Target) {
		end = ""
	}
	switch {
	case target == "":
		return 0
	case own == target:
		return 1
	case folder == target:
		return 2
	case end != "" && strings.HasSuffix("/"+own, "/"+end):
		return 3
	case end != "" && folder != "" && strings.HasSuffix("/"+folder, "/"+end):
		return 4
	case named && folded(f.title) == target:
		return 5
	case named && slices.ContainsFunc(f.aliases, func(a string) bool { return folded(a) == target }):
		return 6
	}
	return 0
}

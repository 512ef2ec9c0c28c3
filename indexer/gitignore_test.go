package indexer_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/indexer"
)

// Hazard B23: a whole folder has the Markdown files that git would add, whatever its .gitignore files say.
func TestScanAgreesWithGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	folders := []string{"", "a/", "b/", "a/b/", "a/b/a/", "b/a/"}
	patterns := []string{"a", "b/", "/a", "/b/", "a/b", "**/a", "a/**", "*.md", "!*.md", "!a", "x.md", "!x.md", "/y.md", "**/y.md", "a/**/y.md",
		"a/*", "!a/b", "!b/", "*.m?", "[xy].md", "[!x].md", "\\!x.md", "# comment", "", "  ", "x.md ", "a//", "/", "**", "*", "!*", "!*/", "a/**/b/**", "**/b/**/x.md", "[[:alpha:]].md", "[![:digit:]]*", "a[", "x\\.md", "**/", "/**", "!/a/**", "***", "a**", "?.md", "/*/x.md"}
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		if n > 40 { // each asks git
			return
		}
		ws := filepath.Join(dir, fmt.Sprint(n))
		write := func(rel, text string) {
			p := filepath.Join(ws, rel)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				rt.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		for _, folder := range folders {
			write(folder+"x.md", "x")
			write(folder+"y.md", "y")
		}
		said := ""
		for _, folder := range folders {
			if lines := rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 3).Draw(rt, "in "+folder); len(lines) > 0 {
				write(folder+".gitignore", strings.Join(lines, "\n")+"\n")
				said += folder + ".gitignore: " + strings.Join(lines, " | ") + "\n"
			}
		}
		git := exec.Command("sh", "-c", "git init -q . && git -c core.quotepath=off -c core.excludesFile= ls-files --others --exclude-standard '*.md'")
		git.Dir = ws
		out, err := git.CombinedOutput()
		if err != nil {
			rt.Fatalf("%v: %s", err, out)
		}
		want := strings.Fields(string(out))
		index := newMemIndex()
		x := indexer.New(&paragraphs{}, index, indexer.Options{Workspace: ws})
		if _, err := x.Sync(t.Context(), indexer.SyncOptions{}, nil); err != nil {
			rt.Fatal(err)
		}
		got, _ := index.list()
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("%sindexed %q\ngit      %q", said, got, want)
		}
		for _, folder := range folders {
			for _, p := range []string{folder + "x.md", folder + "y.md"} {
				if _, _, ok := x.Owns(p); ok != slices.Contains(want, p) {
					rt.Fatalf("%sOwns(%q) = %v", said, p, ok)
				}
			}
		}
	})
}

// Hazard B23: no pattern or glob of a stranger takes long.
func TestPatternsOfStrangersTakeAMoment(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	deep := strings.Repeat("a/", 80)
	f.write(deep+"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.md", "x")
	f.write(".gitignore", strings.Repeat("**/a/", 40)+"b\n"+strings.Repeat("**/*a*/", 30)+"b\n"+strings.Repeat("*a", 40)+"b\n")
	f.sync() // a pattern that backtracks takes years
	f.holds(deep + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.md")
	for glob, valid := range map[string]bool{
		"{a,b}/**/*.{md,txt}": true, "**/*.md": true, "[": false, "{": false, "": false, strings.Repeat("a", 1025): false,
		strings.Repeat("{a,aa}", 20): false, "{" + strings.Repeat("a,", 20) + "}": false,
	} {
		if err := indexer.CheckGlobs(nil, []string{glob}); (err == nil) != valid {
			t.Errorf("CheckGlobs(%.30q): %v", glob, err)
		}
	}
	for glob, valid := range map[string]struct{ include, exclude bool }{
		"..md": {true, true}, "a..b/**": {true, true}, "/notes/**": {false, true}, "../**": {}, "a/../b": {}, "./a/**": {}, "a/./b": {},
	} {
		include, exclude := indexer.CheckGlobs([]string{glob}, nil), indexer.CheckGlobs(nil, []string{glob})
		if (include == nil) != valid.include || (exclude == nil) != valid.exclude {
			t.Errorf("%s: include %v, exclude %v", glob, include, exclude)
		}
	}
}

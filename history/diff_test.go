package history_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/history"
	"kioku/memory"
)

func TestDiffTextIsUnified(t *testing.T) {
	t.Parallel()
	lines := func(s string) []byte { return []byte(strings.ReplaceAll(s, " ", "\n")) }
	for name, c := range map[string]struct {
		before, after []byte
		want          memory.FileDiff
	}{
		"equal":   {lines("a b "), lines("a b "), memory.FileDiff{Path: "x", Change: memory.FileChanged}},
		"new":     {nil, lines("a b "), memory.FileDiff{Path: "x", Change: memory.FileAdded, Added: 2, Text: "@@ -0,0 +1,2 @@\n+a\n+b\n"}},
		"removed": {lines("a "), nil, memory.FileDiff{Path: "x", Change: memory.FileRemoved, Removed: 1, Text: "@@ -1,1 +0,0 @@\n-a\n"}},
		"one line": {lines("1 2 3 4 5 6 7 8 9 "), lines("1 2 3 4 five 6 7 8 9 "),
			memory.FileDiff{Path: "x", Change: memory.FileChanged, Added: 1, Removed: 1, Text: "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"}},
		"two places": {lines("1 2 3 4 5 6 7 8 9 10 11 12 "), lines("2 3 4 5 6 7 8 9 10 11 12 13 "),
			memory.FileDiff{Path: "x", Change: memory.FileChanged, Added: 1, Removed: 1, Text: "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -10,3 +9,4 @@\n 10\n 11\n 12\n+13\n"}},
		"no line break": {[]byte("a\nb"), []byte("a\nb\n"),
			memory.FileDiff{Path: "x", Change: memory.FileChanged, Added: 1, Removed: 1, Text: "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := history.DiffText("x", c.before, c.after)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff)
			}
		})
	}
}

// What git apply makes of a difference is the text after it.
func TestDiffTextCanBeApplied(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the program git is not installed")
	}
	dir := t.TempDir()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "庭"}), 0, 40), func(l []string) string {
		return strings.Join(append(l, ""), "\n")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		d, err := history.DiffText("x", []byte(before), []byte(after))
		if err != nil {
			t.Fatal(err)
		}
		if before == after {
			if d.Text != "" {
				t.Fatalf("equal texts differ:\n%s", d.Text)
			}
			return
		}
		file := filepath.Join(dir, "x")
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--unidiff-zero", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader("--- a/x\n+++ b/x\n"+d.Text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s", err, out, d.Text)
		}
		if got, _ := os.ReadFile(file); string(got) != after {
			t.Fatalf("applied: %q; want %q\n%s", got, after, d.Text)
		}
	})
}

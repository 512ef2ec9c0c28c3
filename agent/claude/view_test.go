package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func view(path string, lines ...int) map[string]any {
	fields := map[string]any{"command": "view", "path": path}
	if lines != nil {
		fields["view_range"] = lines
	}
	return fields
}

func TestViewListsAFolderTwoLevelsDeep(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{
		"2026-01-20.md":         "x\n",
		"projects/acme.md":      strings.Repeat("a", 1536),
		"projects/deep/more.md": strings.Repeat("b", 512),
		".hidden.md":            "secret\n",
		".git/config":           "secret\n",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(n.folder, "link.md")); err != nil {
		t.Fatal(err)
	}
	want := `What is in /memories, 2 levels deep, without hidden files (size, path):
2.0K	/memories
2	/memories/2026-01-20.md
2.0K	/memories/projects
1.5K	/memories/projects/acme.md
512	/memories/projects/deep
`
	if diff := cmp.Diff(want, n.does(view("/memories/"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := n.does(view("/memories/projects")); !strings.Contains(got, "512\t/memories/projects/deep/more.md\n") {
		t.Errorf("a folder below lacks its files:\n%s", got)
	}
	n.refuses(view("/memories", 1, 2), "is a folder")
}

func TestViewOfAMissingFolderIsEmpty(t *testing.T) {
	t.Parallel()
	n := open(t, nil)
	if got := n.does(view("/memories")); !strings.Contains(got, "0\t/memories\nIt is empty.") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(n.folder); err == nil {
		t.Error("a view made the folder")
	}
	n.refuses(view("/memories/a.md"), "there is nothing at /memories/a.md")
}

func TestViewSaysHowMuchOfAListingIsLeftOut(t *testing.T) {
	t.Parallel()
	n := open(t, nil)
	for i := range 1005 {
		n.put("many/"+strings.Repeat("n", 1+i%100)+"-"+string(rune('a'+i/100))+".md", "x")
	}
	if got := n.does(view("/memories/many")); !strings.HasSuffix(got, "and 6 more; view one of the folders\n") {
		t.Errorf("the end is %q", got[len(got)-60:])
	}
}

func TestViewNumbersLines(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "# Tea\n\n- green\r\n- 緑茶", "empty.md": ""})
	for _, c := range []struct {
		fields map[string]any
		want   string
	}{
		{view("/memories/a.md"), "Lines 1 to 4 of 4 in /memories/a.md:\n     1\t# Tea\n     2\t\n     3\t- green\n     4\t- 緑茶"},
		{view("/memories/a.md", 2, 3), "Lines 2 to 3 of 4 in /memories/a.md:\n     2\t\n     3\t- green"},
		{view("/memories/a.md", 3, -1), "Lines 3 to 4 of 4 in /memories/a.md:\n     3\t- green\n     4\t- 緑茶"},
		{view("/memories/a.md", 4, 99), "Lines 4 to 4 of 4 in /memories/a.md:\n     4\t- 緑茶"},
		{view("/memories/empty.md"), "/memories/empty.md is empty."},
	} {
		if diff := cmp.Diff(c.want, n.does(c.fields)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.fields, diff)
		}
	}
	for _, lines := range [][]int{{0, 2}, {5, 6}, {3, 2}, {-1, -1}, {1, -2}} {
		n.refuses(view("/memories/a.md", lines...), "is not in the file, which has the lines 1 to 4")
	}
}

func TestViewOfALongFileSaysWhereToGoOn(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"long.md": strings.Repeat(strings.Repeat("w", 99)+"\n", 1000)})
	seen := 0
	said := n.does(view("/memories/long.md"))
	for range 10 {
		seen += strings.Count(said, "www\n") + strings.Count(said[len(said)-3:], "www")
		_, from, more := strings.Cut(said, "go on with view_range [")
		if !more {
			break
		}
		next := 0
		for _, r := range from[:strings.Index(from, ",")] {
			next = next*10 + int(r-'0')
		}
		said = n.does(view("/memories/long.md", next, -1))
	}
	if seen != 1000 {
		t.Errorf("%d lines were shown, want each of 1000 once", seen)
	}
}

func TestViewRefusesWhatIsNotPlainText(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{
		"latin.md": "caf\xe9", "nul.md": "a\x00b", "late.md": strings.Repeat("x", 9000) + "\x00", "big.md": strings.Repeat("x", 1<<20+1), "plain.md": "x", "sub/x.md": "x",
	})
	for name, target := range map[string]string{"out.md": "/etc/passwd", "in.md": "plain.md", "folder": "sub", "away": ".."} {
		if err := os.Symlink(target, filepath.Join(n.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(n.folder, "plain.md"), filepath.Join(n.folder, "second.md")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"latin.md": "not text in UTF-8", "nul.md": "not text in UTF-8", "late.md": "not text in UTF-8", "big.md": "larger than 1 MiB",
		"out.md": "neither a plain file nor a folder", "in.md": "neither a plain file nor a folder",
		"folder/x.md": "neither a plain file nor a folder", "away/kept": "neither a plain file nor a folder",
		"second.md": "hard link", "plain.md/x.md": "is a file", "missing.md": "there is nothing",
	} {
		n.refuses(view("/memories/"+path), want)
	}
}

func TestCallRefusesAMemoryFolderThatIsALink(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	other := filepath.Join(base, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(base, "memory")); err != nil {
		t.Fatal(err)
	}
	n := openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), nil)
	for _, fields := range []map[string]any{view("/memories"), create("/memories/a.md", "x")} {
		if _, err := n.call(fields); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%v: %v", fields, err)
		}
	}
	if files := tree(t, other); len(files) > 0 {
		t.Errorf("files behind the link: %v", files)
	}
}

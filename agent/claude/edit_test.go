package claude_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/prompt"
)

func create(path, text string) map[string]any {
	return map[string]any{"command": "create", "path": path, "file_text": text}
}

func replace(path, old, new string) map[string]any {
	return map[string]any{"command": "str_replace", "path": path, "old_str": old, "new_str": new}
}

func insert(path string, line int, text string) map[string]any {
	return map[string]any{"command": "insert", "path": path, "insert_line": line, "insert_text": text}
}

func TestCreateWritesANewFileAndItsFolders(t *testing.T) {
	t.Parallel()
	n := open(t, nil)
	for path, text := range map[string]string{
		"/memories/a.md": "# Tea\n", "/memories/people/mia/tea.md": "green", "/memories/empty.md": "", "/memories/2026-01-20.md": "# 2026-01-20\n",
		"/memories/茶.md": "緑茶\n",
	} {
		n.does(create(path, text))
	}
	want := map[string]string{"a.md": "# Tea\n", "people/mia/tea.md": "green", "empty.md": "", "2026-01-20.md": "# 2026-01-20\n", "茶.md": "緑茶\n"}
	if diff := cmp.Diff(want, tree(t, n.folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if said := n.does(create("/memories/list.txt", "x")); !strings.Contains(said, "only files that end in .md") {
		t.Errorf("it does not say that a .txt is not found: %q", said)
	}
}

func TestCreateRefusesToOverwrite(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "old\n", "sub/b.md": "b\n", "2026-01-20.md": "note\n"})
	n.refuses(create("/memories/a.md", "new"), "exists already; edit it")
	n.refuses(create("/memories/2026-01-20.md", "new"), "text is only added")
	n.refuses(create("/memories/sub", "new"), "exists already, as a folder")
	n.refuses(create("/memories", "new"), "exists already, as a folder")
	n.refuses(create("/memories/a.md/b.md", "new"), "is a file")
	n.refuses(create("/memories/nul.md", "a\x00b"), "without NUL")
	n.refuses(create("/memories/big.md", strings.Repeat("x", 1<<20+1)), "the most is 1048576")
}

func TestReplaceChangesTheOneMatchAndKeepsTheOldText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, old, new, want string }{
		{"within a line", "a green b\n", "green", "black", "a black b\n"},
		{"over lines", "1\n2\n3\n", "1\n2", "x", "x\n3\n"},
		{"nothing in its place", "- a\n- b\n", "- a\n", "", "- b\n"},
		{"Windows lines", "1\r\n2\r\n3\r\n", "1\n2", "x\ny", "x\r\ny\r\n3\r\n"},
		{"dollars and backslashes", "a\n", "a", `$1 \n`, "$1 \\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := open(t, map[string]string{"note.md": c.text})
			n.does(replace("/memories/note.md", c.old, c.new))
			if diff := cmp.Diff(map[string]string{"note.md": c.want}, tree(t, n.folder)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{c.text}, n.keptTexts("note.md")); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplaceNeedsExactlyOneMatch(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "tea\ncoffee tea\naaa\n" + strings.Repeat("x\n", 20), "sub/b.md": "b"})
	n.refuses(replace("/memories/a.md", "milk", "x"), "does not occur")
	n.refuses(replace("/memories/a.md", "tea", "x"), "in the lines 1, 2;")
	n.refuses(replace("/memories/a.md", "aa", "x"), "in the lines 3, 3;")
	n.refuses(replace("/memories/a.md", "x\n", "y"), "in the lines 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and more;")
	n.refuses(replace("/memories/a.md", "\n", "y"), "in the lines 1, 2, 3")
	n.refuses(replace("/memories/a.md", "", "y"), "must not be empty")
	n.refuses(replace("/memories/a.md", "coffee", "coffee"), "is the same")
	n.refuses(replace("/memories/sub", "b", "c"), "is a folder")
	n.refuses(replace("/memories/none.md", "b", "c"), "there is nothing")
	n.refuses(replace("/memories/a.md", "coffee", strings.Repeat("y", 1<<20)), "the most is 1048576")
	if kept := tree(t, n.kept); len(kept) > 0 {
		t.Errorf("refused commands kept copies: %v", kept)
	}
}

func TestInsertPutsWholeLinesBehindALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		line  int
		added string
		want  string
	}{
		{"1\n2\n", 0, "x", "x\n1\n2\n"},
		{"1\n2\n", 1, "x\n", "1\nx\n2\n"},
		{"1\n2\n", 2, "x\ny", "1\n2\nx\ny\n"},
		{"1\n2", 2, "x", "1\n2\nx\n"},
		{"1\n2", 1, "x", "1\nx\n2"},
		{"", 0, "x", "x\n"},
		{"1\n", 1, "", "1\n\n"},
	} {
		n := open(t, map[string]string{"a.md": c.text})
		n.does(insert("/memories/a.md", c.line, c.added))
		if got := tree(t, n.folder)["a.md"]; got != c.want {
			t.Errorf("%q behind line %d of %q: got %q, want %q", c.added, c.line, c.text, got, c.want)
		}
		if diff := cmp.Diff([]string{c.text}, n.keptTexts("a.md")); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	}
	n := open(t, map[string]string{"a.md": "1\n2\n"})
	n.refuses(insert("/memories/a.md", 3, "x"), "insert_line: 3 is not in the file; it must be 0 to 2")
	n.refuses(insert("/memories/a.md", -1, "x"), "it must be 0 to 2")
}

func TestEditShowsTheLinesAroundIt(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "1\n2\n3\n4\n5\n"})
	want := "Edited /memories/a.md. It now reads:\n     1\t1\n     2\t2\n     3\t3\n     4\tx\n     5\t4\n     6\t5"
	if diff := cmp.Diff(want, n.does(insert("/memories/a.md", 3, "x"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Hazard F08: what was recalled is not stored again by the memory tool either.
func TestEditStripsRecalledMemories(t *testing.T) {
	t.Parallel()
	n := open(t, nil)
	frame, _ := prompt.Frame(prompt.Input{Recalled: []prompt.Memory{{Path: "memory/old.md", StartLine: 1, EndLine: 1, Text: "old tea"}}})
	if !strings.Contains(frame, "old tea") {
		t.Fatalf("no frame: %q", frame)
	}
	n.does(create("/memories/a.md", "new\n\n"+frame))
	n.does(insert("/memories/a.md", 1, frame+"\n\nnewer"))
	if got := tree(t, n.folder)["a.md"]; strings.Contains(got, "old tea") || !strings.Contains(got, "newer") {
		t.Errorf("stored: %q", got)
	}
	n.refuses(create("/memories/b.md", frame), "nothing but memories that are stored already")
}

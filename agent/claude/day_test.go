package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDayFileIsAppendOnly(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"2026-01-20.md": "# 2026-01-20\n\ntea\n", "a.md": "a\n"})
	day := "/memories/2026-01-20.md"
	for name, fields := range map[string]map[string]any{
		"str_replace":     replace(day, "tea", "coffee"),
		"delete":          remove(day),
		"rename":          rename(day, "/memories/b.md"),
		"rename to a day": rename("/memories/a.md", "/memories/2026-01-21.md"),
		"create":          create(day, "coffee"),
	} {
		t.Run(name, func(t *testing.T) {
			n.refuses(fields, "insert a correction after its last line")
		})
	}
	for name, line := range map[string]int{"before": 0, "in the middle": 2, "beyond": 4, "negative": -1} {
		t.Run("insert "+name, func(t *testing.T) {
			n.refuses(insert(day, line, "coffee"), "it must be 3, the last line")
		})
	}
	if kept := tree(t, n.kept); len(kept) > 0 {
		t.Errorf("copies of what was not changed: %v", kept)
	}
}

func TestDayFileTakesLinesAtItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		last int
		want string
	}{
		"whole lines": {"1\n2\n", 2, "1\n2\nx\n"},
		"half a line": {"1\n2", 2, "1\n2\nx\n"},
		"empty":       {"", 0, "x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			n := open(t, map[string]string{"2026-01-20.md": c.text})
			file := filepath.Join(n.folder, "2026-01-20.md")
			before, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if said := n.does(insert("/memories/2026-01-20.md", c.last, "x")); !strings.Contains(said, "\tx") {
				t.Errorf("it says %q", said)
			}
			if got := tree(t, n.folder)["2026-01-20.md"]; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
				t.Errorf("another file, which whoever is appending does not have open: %v", err)
			}
		})
	}
	n := open(t, nil)
	n.does(create("/memories/2026-01-20.md", "# 2026-01-20\n"))
	n.does(insert("/memories/2026-01-20.md", 1, "tea"))
	n.refuses(insert("/memories/2026-01-20.md", 2, strings.Repeat("x", 1<<20)), "the most is 1048576")
}

// Only the files to which MemoryAppend adds are append-only.
func TestDayFileIsOneOfTheTopFolder(t *testing.T) {
	t.Parallel()
	further := open(t, map[string]string{"2026-01-20-2.md": "tea\n", "2026-01-20-12.md": "tea\n"})
	for _, name := range []string{"/memories/2026-01-20-2.md", "/memories/2026-01-20-12.md"} {
		further.refuses(replace(name, "tea", "coffee"), "insert a correction after its last line")
	}
	for _, name := range []string{"sub/2026-01-20.md", "2026-13-01.md", "2026-01-20.txt", "2026-01-20-tea.md", "2026-01-20-1.md", "2026-01-20-02.md"} {
		t.Run(name, func(t *testing.T) {
			n := open(t, map[string]string{name: "tea\n"})
			n.does(replace("/memories/"+name, "tea", "coffee"))
		})
	}
}

package indexer

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"kioku/internal/testkit"
)

// Hazard B02: the names that editors and tools use, and those that only look like them.
func TestIgnoredName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".note.md.swp": true, ".note.md.swx": true, "4913": true, "note.md~": true, "#note.md#": true, ".#note.md": true,
		"sedAbC123": true, "note.md.tmp": true, ".DS_Store": true, ".git": true, "venv": true, "node_modules": true, "__pycache__": true,
		"note.md": false, "4913.md": false, "#note.md": false, "sedate.md": false, "sedimen": false, "tmp": false, "venv.md": false,
	} {
		if got := ignoredName(name); got != want {
			t.Errorf("ignoredName(%q) = %v", name, got)
		}
	}
}

func TestPrintableEscapesBadBytes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain.md": "plain.md", "日記.md": "日記.md", "a\nb": `a\x0ab`, "a\xffb": `a\xffb`, "\u0085": `\u0085`, "": "",
	} {
		if got := printable(name); got != want {
			t.Errorf("printable(%q) = %q, want %q", name, got, want)
		}
	}
}

// Hazard B19: whatever bytes a name has, the result is UTF-8 on one line, and equals the name only if that is good.
func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"a.md", "日記.md", "bad\xff", "a\r\n", "\u0085\u2028", "\x1b[31m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := printable(name)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("printable(%q) = %q", name, got)
		}
		if (got == name) != (badName(name) == "") {
			t.Errorf("printable(%q) = %q, but badName says %q", name, got, badName(name))
		}
	})
}

// FuzzIgnoreFile reads foreign ignore files: whatever their lines say, the last pattern that matches decides.
func FuzzIgnoreFile(f *testing.F) {
	for _, s := range []string{"*.md", "!a.md\n# note\n\\#x\n", "[a-", "**/**/**", "a/**/b/", "\xff[[:alpha:]]\r\n", "\ufeff/a", "{a,b}", "[[:\xef:]", "\\", "a\\ "} {
		f.Add([]byte(s), "memory/a.md")
	}
	dir := f.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	f.Fuzz(func(t *testing.T, patterns []byte, name string) {
		if !fs.ValidPath(name) || name == "." || strings.Contains(name, "\x00") || len(name) > 200 {
			return // no file has this path
		}
		if len(patterns) > ignoreFileLimit/2 || bytes.IndexByte(patterns, 0) >= 0 {
			return // a binary file is refused
		}
		for last, want := range map[string]bool{"": false, "\n*\n": true, "\n*\n!*\n": false} {
			testkit.WriteFile(t, dir, ignoreFile, string(patterns)+last)
			g := newIgnores(root, target{git: true})
			got, err := g.match(name, false)
			if err != nil {
				t.Fatal(err)
			}
			if last != "" && got != want {
				t.Errorf("%q ignores %q: %v", string(patterns)+last, name, got)
			}
		}
	})
}

func TestEnqueueReplacesTooManyChanges(t *testing.T) {
	t.Parallel()
	var queue []Change
	for range maxQueued + 1 {
		queue = enqueue(queue, Change{Path: "x"})
	}
	if len(queue) != 1 || queue[0].Err == nil {
		t.Errorf("%d changes wait, first %+v", len(queue), queue[0])
	}
}

package chunker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/chunker"
)

// marks formats lines: h and the level of a heading, u for an underline, b and the block, f within a fence.
func marks(list []chunker.Line) string {
	var out []string
	for _, l := range list {
		mark := ""
		if l.Level > 0 {
			mark += fmt.Sprintf("h%d", l.Level)
		}
		if l.Underline {
			mark += "u"
		}
		if l.Block > 0 {
			mark += fmt.Sprintf("b%d", l.Block)
		}
		if l.Fence != "" {
			mark += "f"
		}
		if mark == "" {
			mark = "-"
		}
		out = append(out, mark)
	}
	return strings.Join(out, " ")
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, fence string
		whole             bool
		want              string
	}{
		{"headings", "# A\n#b\n####### c\n   ## D\n    # e\n#\n", "", true, "h1 - - h2 - h1"},
		{"underlined", "A\n===\nB\n--\none\ntwo\n---\n", "", true, "h1b1 ub1 h2b2 ub2 - - -"},
		{"fence", "```sh\n# install it\nkioku init\n```\n# A\n", "", true, "b1 b1f b1f b1f h1"},
		{"fence in a fence", "````\n```\n# a\n````\n# A\n", "", true, "b1 b1f b1f b1f h1"},
		{"begins in a fence", "# install it\n````\n# A\n", "````", true, "b1f b1f h1"},
		{"ends in a fence", "# A\n```\n# install it\n", "", false, "h1 b1 b1f"},
		{"stray mark", "```\n# A\n```x```\n~~~ \n# B\n", "", true, "- h1 - - h1"},
		{"table", "x\na | b\n--|--\n1 | 2\n\n3 | 4\n", "", true, "- b1 b1 b1 - -"},
		{"bullet after a table", "a | b\n--|--\n- 1 | 2\n", "", true, "b1 b1 -"},
		{"table in a fence", "```\na | b\n--|--\n```\n", "", true, "b1 b1f b1f b1f"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := marks(chunker.Lines(tc.text, tc.fence, tc.whole)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestSplitReturnsTheFenceOfEachChunk(t *testing.T) {
	t.Parallel()
	doc := newChunker(t, small).Split(chunker.Notes, []byte("````sh\n"+lines(2, 12)+"````\n"+lines(14, 18)))
	var got []string
	for _, c := range doc.Chunks {
		got = append(got, fmt.Sprintf("%d %s", c.StartLine, c.Fence))
	}
	if diff := cmp.Diff([]string{"1 ", "6 ````", "10 ````", "15 "}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSplitKeepsATableWithTheBulletAfterIt(t *testing.T) {
	t.Parallel()
	doc := newChunker(t, small).Split(chunker.Entries, []byte("a | b\n|---|---|\n- x | y\n\n# h\n"))
	if got := spans(doc.Chunks); got != "1-3 5-5" {
		t.Errorf("chunks %s", got)
	}
}

// anyMarkdown draws lines that open, close or resemble blocks.
func anyMarkdown(t *rapid.T) string {
	return strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
		"# A\n", "## 見出し\n", "words\n", "- x | y\n", "a | b\n", "|---|---|\n", "```\n", "````sh\n", "~~~\n", "  ~~~\n", "===\n", "---\n", "\n", "  - z\n", "1. q\n",
	})).Draw(t, "lines"), "")
}

func TestLinesAgreesWithSplit(t *testing.T) {
	t.Parallel()
	c := newChunker(t, chunker.Options{Tokens: 16, Overlap: 4})
	rapid.Check(t, func(t *rapid.T) {
		text := anyMarkdown(t)
		kind := rapid.SampledFrom([]chunker.Kind{chunker.Notes, chunker.Entries}).Draw(t, "kind")
		if strings.HasPrefix(text, "---\n") {
			text = "\n" + text
		}
		all := chunker.Lines(text, "", true)
		for _, chunk := range c.Split(kind, []byte(text)).Chunks {
			if want := all[chunk.StartLine-1].Fence; chunk.Fence != want {
				t.Fatalf("line %d of %q begins within %q, want %q", chunk.StartLine, text, chunk.Fence, want)
			}
		}
		for i, line := range all {
			if strings.SplitAfter(text, "\n")[i] != line.Text {
				t.Fatalf("line %d of %q is %q", i+1, text, line.Text)
			}
			if line.Level > 0 && line.Fence != "" {
				t.Fatalf("a heading in a fence at line %d of %q", i+1, text)
			}
		}
	})
}

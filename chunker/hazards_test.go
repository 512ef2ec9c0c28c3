package chunker_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

func TestNormalizeKeepsTheLines(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"plain", "a\nb\n", "a\nb\n"},
		{"byte order mark", "\xEF\xBB\xBFa\n", "a\n"},
		{"byte order mark elsewhere", "a\uFEFF\n", "a\uFEFF\n"},
		{"CRLF", "a\r\nb\r\n\r\n", "a\nb\n\n"},
		{"lone CR", "a\rb\r\r\nc", "a\rb\r\nc"},
		{"bad bytes", "a\xff\xfeb\xe3\x81", "a\uFFFDb\uFFFD"},
		{"NUL", "a\x00b", "a\x00b"},
	}
	for _, tc := range cases {
		if got := chunker.Normalize([]byte(tc.src)); got != tc.want {
			t.Errorf("%s: Normalize(%q) = %q, want %q", tc.name, tc.src, got, tc.want)
		}
	}
}

// Hazard B13: whatever the bytes are, line numbers are those of sed -n and the text is valid UTF-8.
func TestOddBytesDoNotShiftLineNumbers(t *testing.T) {
	odd := map[string]string{
		"NUL": "\x00", "invalid UTF-8": "\xff\xc3", "byte order mark": "\uFEFF", "CRLF": "\r", "lone CR": "a\rb",
		"U+2028": "a\u2028b", "U+0085": "a\u0085b", "vertical tab": "a\vb\fc", "right to left": "\u202Eabc", "NFC": "\u00e9",
		"NFD": "e\u0301", "emoji": "👩‍👩‍👧‍👦", "zero width": "a\u200bb\u200dc", "UTF-16": "a\x00b\x00",
	}
	c := newChunker(t, chunker.Options{})
	for name, bytes := range odd {
		t.Run(name, func(t *testing.T) {
			src := []byte(bytes + "\n\nneedle " + bytes + "\n" + bytes)
			doc := c.Split(chunker.Notes, src)
			checkDocument(t, c, 400, src, doc)
			if doc.Lines != 4 {
				t.Errorf("%d lines, want 4", doc.Lines)
			}
			for _, chunk := range doc.Chunks {
				at := chunk.StartLine + strings.Count(chunk.Text[:strings.Index(chunk.Text, "needle")], "\n")
				if at != 3 || strings.ToValidUTF8(chunk.Text, "") != chunk.Text {
					t.Errorf("needle is in line %d of %q, want valid text and line 3", at, chunk.Text)
				}
			}
			if diff := cmp.Diff(doc, c.Split(chunker.Notes, src)); diff != "" {
				t.Errorf("the same bytes made other chunks: %s", diff)
			}
		})
	}
}

// maxGrowth is the most that eight times the text may multiply the time by: linear is 8, quadratic 64.
const maxGrowth = 32

// growth returns how much longer Split takes for size bytes than for an eighth of them. What is too slow may have been
// disturbed and is measured again.
func growth(c *chunker.Chunker, kind chunker.Kind, text func(size int) string, size int) float64 {
	var ratio float64
	for range 5 {
		ratio = float64(fastest(1, c, kind, text(size))) / float64(fastest(3, c, kind, text(size/8)))
		if ratio <= maxGrowth {
			break
		}
	}
	return ratio
}

// fastest returns the shortest of some tries to split a text.
func fastest(tries int, c *chunker.Chunker, kind chunker.Kind, text string) time.Duration {
	best := time.Hour
	for range tries {
		start := time.Now()
		c.Split(kind, []byte(text))
		best = min(best, time.Since(start))
	}
	return best
}

// of returns a text of size bytes that repeats s.
func of(s string) func(int) string {
	return func(size int) string { return strings.Repeat(s, size/len(s)) }
}

// random returns n runes between two, always the same ones.
func random(n int, from, to rune) string {
	r := rand.New(rand.NewPCG(1, 2))
	runes := make([]rune, n)
	for i := range runes {
		runes[i] = from + r.Int32N(to-from+1)
	}
	return string(runes)
}

// Hazard B14: a megabyte without spaces takes eight times as long as an eighth of it, and fits into the budget.
func TestLongRunsTakeLinearTime(t *testing.T) {
	runs := map[string]func(int) string{
		"one letter":          of("a"),
		"Japanese":            of("記憶検索索引分割設計昨日会議資料です"),
		"Japanese sentences":  of("庭には古い木がたくさんあります。"),
		"Chinese":             of("我们昨天讨论了新的设计方案"),
		"random Han":          func(size int) string { return random(size/3, 0x4E00, 0x9FFF) },
		"random letters":      func(size int) string { return random(size, 'a', 'z') },
		"base64":              func(size int) string { return base64.StdEncoding.EncodeToString([]byte(random(size/2, 1, 0x7FF))) },
		"dots":                of("."),
		"dots and digits":     of(".1"),
		"spaces":              of("x       "),
		"marks":               of("\u0301"),
		"flags":               of("🇯🇵"),
		"lines of one letter": of(strings.Repeat("a", 30_000) + "\n"),
		"quotes":              of("'"),
	}
	c := newChunker(t, chunker.Options{})
	for name, text := range runs {
		t.Run(name, func(t *testing.T) {
			src := []byte(text(1 << 15))
			checkDocument(t, c, 400, src, c.Split(chunker.Notes, src))
			if g := growth(c, chunker.Notes, text, 1<<20); g > maxGrowth {
				t.Errorf("eight times the text takes %.0f times as long", g)
			}
		})
	}
}

// Hazard B15: front matter that would blow up a parser is refused at once and read as text.
func TestFrontMatterBombsArePlainText(t *testing.T) {
	aliases := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for l := 'b'; l < 'j'; l++ {
		aliases += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", l, l, l-1, l-1, l-1, l-1, l-1, l-1, l-1, l-1)
	}
	bombs := map[string]string{
		"brackets":       strings.Repeat("[", 20_000),
		"lists in lists": "tags: " + strings.Repeat("[", 8000) + strings.Repeat("]", 8000),
		"aliases":        aliases,
		"anchor":         "date: &x 2026-01-20",
		"duplicate keys": "date: 2026-01-20\ndate: 2026-01-21",
		"ten megabytes":  "date: 2026-01-20\n" + strings.Repeat("# comment\n", 1<<20),
		"dashes":         strings.Repeat("- ", 8000),
		"questions":      strings.Repeat("? ", 8000),
		"merge":          "<<: {date: 2026-01-20}\n<<: {date: 2026-01-21}",
		"a tab":          "\tdate: 2026-01-20",
		"a sentence":     "no mapping at all",
		"nothing":        "",
	}
	c := newChunker(t, chunker.Options{})
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			doc := c.Split(chunker.Notes, []byte("---\n"+bomb+"\n---\nThe body.\n"))
			if diff := cmp.Diff(chunker.Meta{}, doc.Meta); diff != "" {
				t.Errorf("meta: %s", diff)
			}
			if len(doc.Chunks) == 0 || !strings.HasSuffix(doc.Chunks[len(doc.Chunks)-1].Text, "The body.") {
				t.Error("the body is not in the last chunk")
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// Hazard B15: any block within the limits is parsed in a moment, however it is made.
func TestFrontMatterWithinTheLimitsIsCheap(t *testing.T) {
	lines := map[string]string{
		"keys": "k%d: v\n", "lists": "- %d\n", "comments": "# %d\n", "quotes": "\"%d\n", "blocks": "k%d: |\n", "tags": "k%d: !x y\n",
		"documents": "%d\n...\n", "long keys": "? %d\n", "directives": "%%YAML 1.%d\n", "plain": "word%d\n", "colons": "%d: :: : :\n",
		"nested": "k%d: [[[[{? {? {}}}]]]]\n",
	}
	c := newChunker(t, chunker.Options{})
	plain := fastest(3, c, chunker.Notes, "--\n"+strings.Repeat("k: v\n", 3000))
	for name, line := range lines {
		var b strings.Builder
		for i := 0; b.Len() < 15<<10; i++ {
			fmt.Fprintf(&b, line, i)
		}
		took := fastest(3, c, chunker.Notes, "---\n"+b.String()+"---\nbody")
		t.Logf("%s: %s", name, took)
		if took > 100*plain {
			t.Errorf("%s: takes %s, and as plain text %s", name, took, plain)
		}
	}
}

// Hazard B16: Markdown that is all syntax is cut in linear time like any other text.
func TestMarkdownBombsTakeLinearTime(t *testing.T) {
	bombs := map[string]func(int) string{
		"emphasis":      of("*a_"),
		"emphasis rows": of("*a_\n"),
		"bullets":       of("- \n"),
		"one line":      of("- "),
		"quotes":        of(">"),
		"quote rows":    of(">\n"),
		"table":         func(n int) string { return "| a | b |\n|---|---|\n" + of("| 1 | 2 |\n")(n) },
		"table rules":   of("|---|---|\n"),
		"one row":       of("| a "),
		"fences":        of("```\n"),
		"open fences":   func(n int) string { return "~~~~~~~~\n" + of("~~~\n```\n")(n) },
		"headings":      of("# a\n"),
		"hashes":        of("#"),
		"underlines":    of("a\n\n---\n"),
		"blank lines":   of("\n"),
		"brackets":      of("[]("),
		"deep lists":    func(n int) string { return deep(n) },
	}
	c := newChunker(t, chunker.Options{})
	for name, text := range bombs {
		for kindName, kind := range map[string]chunker.Kind{"notes": chunker.Notes, "entries": chunker.Entries} {
			t.Run(name+" as "+kindName, func(t *testing.T) {
				src := []byte(text(1 << 14))
				checkDocument(t, c, 400, src, c.Split(kind, src))
				if g := growth(c, kind, text, 1<<18); g > maxGrowth {
					t.Errorf("eight times the text takes %.0f times as long", g)
				}
			})
		}
	}
}

// deep returns bullets of which each is indented more than the one before, about n bytes.
func deep(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(" ", i%500) + "- \n")
	}
	return b.String()
}

package chunker_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
	"kioku/internal/testkit"
)

func TestNormalizeKeepsTheLines(t *testing.T) {
	t.Parallel()
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
		t.Run(tc.name, func(t *testing.T) {
			if got := chunker.Normalize([]byte(tc.src)); got != tc.want {
				t.Errorf("Normalize(%q) = %q, want %q", tc.src, got, tc.want)
			}
		})
	}
}

// Hazard B13: whatever the bytes are, line numbers are those of sed -n and the text is valid UTF-8.
func TestSplitKeepsLineNumbersOfOddBytes(t *testing.T) {
	t.Parallel()
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

// textSize returns the size of large texts: a quarter of size, and all of it in make soak. Work that grows with its square takes so long
// that nobody overlooks it, and exceeds the time of go test in make soak.
func textSize(size int) int {
	if testkit.Soak() {
		return size
	}
	return size / 4
}

// checkLines fails unless a document has the lines of its text.
func checkLines(t *testing.T, src []byte, doc chunker.Document) {
	t.Helper()
	if want := len(strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")); doc.Lines != want {
		t.Errorf("%d lines, want %d", doc.Lines, want)
	}
}

// repeated returns a function that repeats s up to a size in bytes.
func repeated(s string) func(int) string {
	return func(size int) string { return strings.Repeat(s, size/len(s)) }
}

// random returns n runes in a range, always the same ones.
func random(n int, from, to rune) string {
	r := rand.New(rand.NewPCG(1, 2))
	runes := make([]rune, n)
	for i := range runes {
		runes[i] = from + r.Int32N(to-from+1)
	}
	return string(runes)
}

// Hazard B14: a megabyte without spaces is cut in a time that grows with its length, and fits into the budget.
func TestSplitTakesLinearTimeForLongRuns(t *testing.T) {
	runs := map[string]func(int) string{
		"one letter":          repeated("a"),
		"Japanese":            repeated("記憶検索索引分割設計昨日会議資料です"),
		"Japanese sentences":  repeated("庭には古い木がたくさんあります。"),
		"Chinese":             repeated("我们昨天讨论了新的设计方案"),
		"random Han":          func(size int) string { return random(size/3, 0x4E00, 0x9FFF) },
		"random letters":      func(size int) string { return random(size, 'a', 'z') },
		"base64":              func(size int) string { return base64.StdEncoding.EncodeToString([]byte(random(size/2, 1, 0x7FF))) },
		"dots":                repeated("."),
		"dots and digits":     repeated(".1"),
		"spaces":              repeated("x       "),
		"marks":               repeated("\u0301"),
		"flags":               repeated("🇯🇵"),
		"lines of one letter": repeated(strings.Repeat("a", 30_000) + "\n"),
		"quotes":              repeated("'"),
	}
	c := newChunker(t, chunker.Options{})
	for name, text := range runs {
		t.Run(name, func(t *testing.T) {
			src := []byte(text(textSize(1 << 15)))
			checkDocument(t, c, 400, src, c.Split(chunker.Notes, src))
			src = []byte(text(textSize(1 << 20)))
			checkLines(t, src, c.Split(chunker.Notes, src))
		})
	}
}

// Hazard B15: front matter that would blow up a parser is refused at once and read as text.
func TestSplitTakesFrontMatterBombsForPlainText(t *testing.T) {
	t.Parallel()
	bombs := map[string]string{
		"brackets":       strings.Repeat("[", 20_000),
		"lists in lists": strings.Repeat("[", 8000) + strings.Repeat("]", 8000),
		"megabytes":      "date: 2026-01-20\n" + strings.Repeat("# comment\n", textSize(1<<20)),
		"dashes":         strings.Repeat("- ", 8000),
		"questions":      strings.Repeat("? ", 8000),
		"merge":          "<<: {date: 2026-01-20}\n<<: {date: 2026-01-21}",
		"a sentence":     "no mapping at all",
		"nothing":        "",
	}
	c := newChunker(t, chunker.Options{})
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			doc := c.Split(chunker.Notes, []byte("---\n"+bomb+"\n---\nThe body.\n"))
			if diff := cmp.Diff(chunker.Meta{}, doc.Meta); diff != "" {
				t.Errorf("meta: %s", diff)
			}
			if len(doc.Chunks) == 0 || !strings.HasSuffix(doc.Chunks[len(doc.Chunks)-1].Text, "The body.") {
				t.Error("the body is not in the last chunk")
			}
		})
	}
}

// Hazard B15: any block within the limits is parsed in a moment.
func TestSplitParsesFrontMatterInAMoment(t *testing.T) {
	lines := map[string]string{
		"keys": "k%d: v\n", "lists": "- %d\n", "comments": "# %d\n", "quotes": "\"%d\n", "blocks": "k%d: |\n", "tags": "k%d: !x y\n",
		"documents": "%d\n...\n", "long keys": "? %d\n", "directives": "%%YAML 1.%d\n", "plain": "word%d\n", "colons": "%d: :: : :\n",
		"nested": "k%d: [[[[{? {? {}}}]]]]\n",
	}
	c := newChunker(t, chunker.Options{})
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := 0; b.Len() < 15<<10; i++ {
				fmt.Fprintf(&b, line, i)
			}
			doc := c.Split(chunker.Notes, []byte("---\n"+b.String()+"---\nbody"))
			if last := doc.Chunks[len(doc.Chunks)-1]; !strings.HasSuffix(last.Text, "body") {
				t.Errorf("the last chunk is %q", last.Text)
			}
		})
	}
}

// Hazard B15: aliases that repeat each other mean nothing; the text of each key is read once.
func TestSplitExpandsNoAliases(t *testing.T) {
	t.Parallel()
	block := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for l := 'b'; l < 'j'; l++ {
		block += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", l, l, l-1, l-1, l-1, l-1, l-1, l-1, l-1, l-1)
	}
	values := 0
	for _, f := range newChunker(t, chunker.Options{}).Split(chunker.Notes, []byte("---\n"+block+"---\nThe body.\n")).Meta.Fields {
		values += len(f.Values)
	}
	if values != 9 {
		t.Errorf("%d values", values)
	}
}

// Hazard B16: Markdown that is all syntax is cut in linear time like any other text.
func TestSplitTakesLinearTimeForMarkdownBombs(t *testing.T) {
	bombs := map[string]func(int) string{
		"emphasis":      repeated("*a_"),
		"emphasis rows": repeated("*a_\n"),
		"bullets":       repeated("- \n"),
		"one line":      repeated("- "),
		"quotes":        repeated(">"),
		"quote rows":    repeated(">\n"),
		"table":         func(n int) string { return "| a | b |\n|---|---|\n" + repeated("| 1 | 2 |\n")(n) },
		"table rules":   repeated("|---|---|\n"),
		"one row":       repeated("| a "),
		"fences":        repeated("```\n"),
		"open fences":   func(n int) string { return "~~~~~~~~\n" + repeated("~~~\n```\n")(n) },
		"headings":      repeated("# a\n"),
		"hashes":        repeated("#"),
		"underlines":    repeated("a\n\n---\n"),
		"blank lines":   repeated("\n"),
		"brackets":      repeated("[]("),
		"deep lists":    nestedBullets,
	}
	c := newChunker(t, chunker.Options{})
	for name, text := range bombs {
		for kindName, kind := range map[string]chunker.Kind{"notes": chunker.Notes, "entries": chunker.Entries} {
			t.Run(name+" as "+kindName, func(t *testing.T) {
				src := []byte(text(1 << 14))
				checkDocument(t, c, 400, src, c.Split(kind, src))
				src = []byte(text(textSize(1 << 18)))
				checkLines(t, src, c.Split(kind, src))
			})
		}
	}
}

// nestedBullets returns about n bytes of bullets, each indented otherwise than the one before, up to 500 spaces.
func nestedBullets(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(" ", i*37%500) + "- \n")
	}
	return b.String()
}

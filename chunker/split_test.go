package chunker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

// lines returns lines of twelve tokens each, so that a budget of 64 holds five and four are three quarters of it.
func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "Line %d is about the old garden and its trees.\n", i)
	}
	return b.String()
}

// spans formats chunks as "1-5 5-9".
func spans(chunks []chunker.Chunk) string {
	var all []string
	for _, c := range chunks {
		all = append(all, fmt.Sprintf("%d-%d", c.StartLine, c.EndLine))
	}
	return strings.Join(all, " ")
}

var small = chunker.Options{Tokens: 64, Overlap: 16}

func TestSplitCutsBetweenLines(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		opts       chunker.Options
		want       string
	}{
		{"empty", "", small, ""},
		{"blank", " \n\t\n\u3000\n", small, ""},
		{"one line without a newline", "hello", small, "1-1"},
		{"blank lines around", "\n\nhello\n\nworld\n\n\n", small, "3-5"},
		{"overlap of a line", lines(1, 14), small, "1-5 5-9 9-13 13-14"},
		{"no overlap", lines(1, 12), chunker.Options{Tokens: 64}, "1-5 6-10 11-12"},
		{"heading near the end of the budget", lines(1, 4) + "# Next\n" + lines(6, 7), small, "1-4 5-7"},
		{"heading behind the first quarter", lines(1, 2) + "# Next\n" + lines(4, 5), small, "1-2 3-5"},
		{"heading within the first quarter", lines(1, 1) + "# Next\n" + lines(3, 5), small, "1-5"},
		{"the last of two equal headings", lines(1, 2) + "# A\n" + lines(4, 4) + "# B\n" + lines(6, 6), small, "1-4 5-6"},
		{"the more important heading, though it is earlier", lines(1, 2) + "# A\n" + lines(4, 4) + "## B\n" + lines(6, 6), small, "1-2 3-6"},
		{"the more important of two headings", lines(1, 4) + "# A\n## B\n" + lines(7, 7), small, "1-4 5-7"},
		{"a heading goes with what it heads", lines(1, 1) + "# A\n\n" + long(52), small, "1-1 2-4"},
		{"setext heading", lines(1, 4) + "\nNext\n====\n" + lines(8, 8), small, "1-4 6-8"},
		{"no heading in a fence", lines(1, 4) + "```\n# no\n```\n" + lines(8, 8), small, "1-7 5-8"},
		{"no setext heading under two lines", lines(1, 4) + "one\ntwo\n---\n", small, "1-7"},
		{"a fence is kept whole", lines(1, 3) + "```\n" + lines(5, 7) + "```\n", small, "1-3 3-8"},
		{"a fence over the budget is cut", "```\n" + lines(2, 9) + "```\n", small, "1-6 6-10"},
		{"a fence in a bullet", lines(1, 4) + "- do\n  ```sh\n  # comment\n  ```\n" + lines(9, 9), small, "1-8 5-9"},
		{"a table is kept whole", lines(1, 4) + "\n| a | b |\n|---|---|\n| tree | garden |\n| 1 | 2 |\n\nend\n", small, "1-4 4-11"},
		{"no fence", "```x``` y\n" + lines(2, 5) + "# Next\n```\n" + lines(8, 8) + "```\n", small, "1-5 6-9"},
		{"a fence in a fence", lines(1, 4) + "````\n```\n# no\n````\n", small, "1-8"},
		{"no heading", lines(1, 4) + "####### no\n#no\n    # no\n", small, "1-7"},
		{"no setext heading in a quote", lines(1, 4) + "\n> no\n---\n", small, "1-7"},
		{"overlap ends at a heading", "Tea.\nAnd cake.\n# Next\n" + lines(4, 4) + long(43) + "\n", chunker.Options{Tokens: 64, Overlap: 24}, "1-4 3-5"},
		{"an unclosed fence hides no heading", "```\n" + lines(2, 5) + "# Next\n" + lines(7, 7), small, "1-5 6-7"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			doc := newChunker(t, tc.opts).Split(chunker.Notes, []byte(tc.text))
			if got := spans(doc.Chunks); got != tc.want {
				t.Errorf("chunks %s, want %s", got, tc.want)
			}
		})
	}
}

// long returns one line of n words.
func long(n int) string {
	return strings.Repeat("word ", n)
}

func TestNewRefusesOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	cases := []struct {
		opts chunker.Options
		want string
	}{
		{chunker.Options{Tokens: 15}, "chunk size: 15 tokens is out of range, choose 16 to 8192"},
		{chunker.Options{Tokens: -1}, "chunk size: -1 tokens is out of range, choose 16 to 8192"},
		{chunker.Options{Tokens: 9000}, "chunk size: 9000 tokens is out of range, choose 16 to 8192"},
		{chunker.Options{Tokens: 100, Overlap: 100}, "chunk overlap: 100 tokens is out of range, choose 0 to 99, less than the chunk size"},
		{chunker.Options{Overlap: -1}, "chunk overlap: -1 tokens is out of range, choose 0 to 399, less than the chunk size"},
		{chunker.Options{Encoding: "gpt2"}, `token encoding: "gpt2" is unknown, choose one of cl100k_base, o200k_base`},
	}
	for _, tc := range cases {
		t.Run(tc.want, func(t *testing.T) {
			if _, err := chunker.New(tc.opts); err == nil || err.Error() != tc.want {
				t.Errorf("New(%+v): %v, want %s", tc.opts, err, tc.want)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	cases := map[string]chunker.Options{
		"v4 cl100k_base 400/80": {},
		"v4 cl100k_base 400/20": {Overlap: 20},
		"v4 cl100k_base 100/0":  {Tokens: 100},
		"v4 o200k_base 64/16":   {Tokens: 64, Overlap: 16, Encoding: "o200k_base"},
	}
	for want, opts := range cases {
		if got := newChunker(t, opts).Fingerprint(); got != want {
			t.Errorf("Fingerprint of %+v is %q, want %q", opts, got, want)
		}
	}
}

// Hazard B19: names are compared byte by byte, so that a twin in another case or Unicode form is another file.
func TestKindOfComparesNamesByteByByte(t *testing.T) {
	t.Parallel()
	cases := map[string]chunker.Kind{
		"MEMORY.md":                     chunker.Entries,
		"USER.md":                       chunker.Entries,
		"memory.md":                     chunker.Notes,
		"memory/MEMORY.md":              chunker.Notes,
		"memory/daily/2026-01-20.jsonl": chunker.DailyLog,
		"memory/daily/x/a.jsonl":        chunker.Notes,
		"memory/daily/A.JSONL":          chunker.Notes,
		"memory/caf\u00e9.md":           chunker.Notes,
		"memory/cafe\u0301.md":          chunker.Notes,
		"memory/daily/a\n\"\xff.jsonl":  chunker.DailyLog,
		"":                              chunker.Notes,
	}
	for path, want := range cases {
		if got := chunker.KindOf(path); got != want {
			t.Errorf("KindOf(%q) = %d, want %d", path, got, want)
		}
	}
}

func TestSplitReturnsThePathOfHeadings(t *testing.T) {
	t.Parallel()
	text := "intro\n\n# Projects #\n\n## Acme\n" + lines(6, 9) + "### Parts\n" + lines(11, 17) +
		"## **Beta** C#\n" + lines(19, 22) + "\nHome\n----\n\n" + lines(27, 27)
	want := []string{
		"1-9 ",
		"10-15 # Projects > ## Acme > ### Parts",
		"15-17 # Projects > ## Acme > ### Parts",
		"18-22 # Projects > ## **Beta** C#",
		"24-27 # Projects > ## Home",
	}
	var got []string
	for _, c := range newChunker(t, small).Split(chunker.Notes, []byte(text)).Chunks {
		got = append(got, fmt.Sprintf("%d-%d %s", c.StartLine, c.EndLine, c.Headings))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSplitLeavesOutTheOutermostOfLongHeadings(t *testing.T) {
	t.Parallel()
	title := strings.Repeat("あ", 100)
	text := "# A " + title + "\n## B " + title + "\n### C " + title + "\n" + long(300)
	chunks := newChunker(t, chunker.Options{Tokens: 400}).Split(chunker.Notes, []byte(text)).Chunks
	last := chunks[len(chunks)-1].Headings
	cut := strings.Repeat("あ", 77) + "…"
	if want := "## B " + cut + " > ### C " + cut; last != want {
		t.Errorf("headings %q, want %q", last, want)
	}
}

func TestSplitCutsALongLineAtSentenceEnds(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"English":  strings.Repeat("The old garden has many trees. \"Is it ours?\" she asked at 3.14 pm! ", 12),
		"Japanese": strings.Repeat("庭には古い木がたくさんあります。「それは私たちのですか？」と彼女は聞いた！", 12),
		"Chinese":  strings.Repeat("老花园里有很多树。“这是我们的吗？”她问道！", 12),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			chunks := newChunker(t, small).Split(chunker.Notes, []byte("# Garden\n"+text+"\nend")).Chunks
			for _, c := range chunks[:len(chunks)-1] {
				if c.StartLine > 2 || c.EndLine != 2 {
					t.Errorf("chunk of lines %d-%d, want a part of line 2", c.StartLine, c.EndLine)
				}
				if end := strings.TrimRight(c.Text, " "); !strings.ContainsAny(end[len(end)-3:], ".!?。！？”」\"") {
					t.Errorf("chunk ends within a sentence: %q", c.Text)
				}
			}
			for i, c := range chunks[1:] {
				if first := []rune(c.Text)[0]; !strings.ContainsRune("\"T「庭“老她と s", first) {
					t.Errorf("chunk %d starts within a sentence: %q", i+1, c.Text)
				}
			}
			if len(chunks) < 3 || !sharesText(chunks[0].Text, chunks[1].Text) {
				t.Errorf("%d chunks, of which the second repeats nothing of the first", len(chunks))
			}
		})
	}
}

// sharesText is true if a ends with what b starts with.
func sharesText(a, b string) bool {
	for i := 1; i < len(a); i++ {
		if strings.HasPrefix(b, a[i:]) {
			return true
		}
	}
	return false
}

func TestSplitCutsALongSentenceBetweenWords(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("garden trees ", 200)
	chunks := newChunker(t, small).Split(chunker.Notes, []byte(text)).Chunks
	for i, c := range chunks {
		if i < len(chunks)-1 && c.Tokens < 48 {
			t.Errorf("chunk of %d tokens, want at least three quarters of 64", c.Tokens)
		}
		if strings.HasPrefix(c.Text, " ") {
			t.Errorf("chunk starts with the space before it: %q", c.Text)
		}
		for _, word := range strings.Fields(c.Text) {
			if word != "garden" && word != "trees" {
				t.Fatalf("word %q is cut", word)
			}
		}
	}
}

func TestSplitCutsALongClauseWithoutSpacesAtCommas(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("老花园里有很多树，", 60)
	for _, c := range newChunker(t, small).Split(chunker.Notes, []byte(text)).Chunks {
		if !strings.HasPrefix(c.Text, "老") || !strings.HasSuffix(c.Text, "，") {
			t.Errorf("chunk is cut within a clause: %q", c.Text)
		}
	}
}

func TestSplitKeepsCharactersOfALongWordWhole(t *testing.T) {
	t.Parallel()
	for _, cluster := range []string{"👩‍👩‍👧‍👦", "🇯🇵", "👍🏽", "e\u0301", "か\u3099", "語"} {
		text := strings.Repeat(cluster, 400)
		for _, c := range newChunker(t, small).Split(chunker.Notes, []byte(text)).Chunks {
			if strings.ReplaceAll(c.Text, cluster, "") != "" {
				t.Errorf("a chunk of %q cuts one of them: %q", cluster, c.Text)
			}
		}
	}
}

func TestSplitCountsLinesTogether(t *testing.T) {
	t.Parallel()
	const line, budget = "!*\\\n", 32
	for encoding := range references {
		c := newChunker(t, chunker.Options{Tokens: budget, Encoding: encoding})
		if c.Count(line+"\n"+line) <= c.Count(line)+c.Count("\n")+c.Count(line) {
			t.Fatalf("%s: %q has no more tokens together, find another example", encoding, line)
		}
		for _, text := range []string{strings.Repeat(line+"\n", 40), "```\n" + strings.Repeat(line+"\n", 14) + "```\n"} {
			checkDocument(t, c, budget, []byte(text), c.Split(chunker.Notes, []byte(text)))
		}
	}
}

func TestSplitCountsALineWithoutItsNewline(t *testing.T) {
	t.Parallel()
	const end = "<>());\n"
	c := newChunker(t, chunker.Options{Tokens: 32, Encoding: "o200k_base"})
	if c.Count(end) >= c.Count(strings.TrimSpace(end)) {
		t.Fatalf("%q has no more tokens without its newline, find another example", end)
	}
	for n := range 40 {
		text := []byte(strings.Repeat("word ", n) + end)
		checkDocument(t, c, 32, text, c.Split(chunker.Notes, text))
	}
}

func TestSplitPutsFrontMatterIntoTheFirstChunk(t *testing.T) {
	t.Parallel()
	text := "---\ndate: 2026-01-20\n# no heading\n---\n# Garden\n\nTrees.\n"
	doc := newChunker(t, chunker.Options{}).Split(chunker.Notes, []byte(text))
	want := chunker.Document{
		Lines: 7,
		Meta:  chunker.Meta{Date: "2026-01-20", Fields: []chunker.Field{{Name: "date", Values: []string{"2026-01-20"}}}}, Heading: "Garden",
		Chunks: []chunker.Chunk{{
			StartLine: 1, EndLine: 7, Headings: "# Garden", Text: strings.TrimSuffix(text, "\n"),
			Tokens: len(references["cl100k_base"]().EncodeOrdinary(strings.TrimSuffix(text, "\n"))),
			Closed: true,
		}},
	}
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Error(diff)
	}
}

func TestSplitCutsBetweenParagraphs(t *testing.T) {
	t.Parallel()
	c, err := chunker.New(chunker.Options{Tokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	paragraph := strings.Repeat("the ferry was late and nobody knew why\n", 4) // about 36 tokens
	doc := c.Split(chunker.Notes, []byte(strings.Repeat(paragraph+"\n", 6)))
	for i, chunk := range doc.Chunks {
		if (chunk.StartLine-1)%5 != 0 || chunk.EndLine%5 != 4 {
			t.Errorf("chunk %d is lines %d to %d: it cuts a paragraph", i, chunk.StartLine, chunk.EndLine)
		}
	}
	if len(doc.Chunks) != 3 {
		t.Errorf("%d chunks, want 3 of two paragraphs each", len(doc.Chunks))
	}
}

func TestSplitClosesChunksAtTheEndOfASection(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"before a heading", lines(1, 4) + "\n# Next\n" + lines(7, 8), "1-4 closed, 6-8 closed"},
		{"before an underlined heading", lines(1, 4) + "\nNext\n====\n" + lines(8, 8), "1-4 closed, 6-8 closed"},
		{"within a section", "# Log\n" + lines(2, 7) + "\n\n", "1-6 open, 6-7 closed"},
		{"within a line", long(100), "1-1 open, 1-1 closed"},
		{"between paragraphs", lines(1, 4) + "\n" + lines(6, 7), "1-4 open, 4-7 closed"},
		{"a sign in a fence is no heading", "```\n" + lines(2, 5) + "# comment\n```\n" + lines(8, 8), "1-7 open, 8-8 closed"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, c := range newChunker(t, small).Split(chunker.Notes, []byte(tc.text)).Chunks {
				end := "open"
				if c.Closed {
					end = "closed"
				}
				got = append(got, fmt.Sprintf("%d-%d %s", c.StartLine, c.EndLine, end))
			}
			if got := strings.Join(got, ", "); got != tc.want {
				t.Errorf("chunks %s, want %s", got, tc.want)
			}
		})
	}
}

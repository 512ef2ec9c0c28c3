package chunker_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/chunker"
)

// checkDocument fails unless the chunks of a Markdown file have the properties that Split promises.
func checkDocument(t rapid.TB, c *chunker.Chunker, budget int, src []byte, doc chunker.Document) {
	t.Helper()
	text := chunker.Normalize(src)
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if doc.Lines != len(lines) {
		t.Fatalf("%d lines, want %d", doc.Lines, len(lines))
	}
	covered := make([]string, len(lines))
	var before chunker.Chunk
	for i, chunk := range doc.Chunks {
		checkChunk(t, c, budget, lines, chunk)
		if chunk.StartLine < before.StartLine || chunk.EndLine < before.EndLine {
			t.Fatalf("chunk %d of lines %d-%d comes after %d-%d", i, chunk.StartLine, chunk.EndLine, before.StartLine, before.EndLine)
		}
		if chunk.StartLine == before.StartLine && chunk.EndLine == before.EndLine && strings.Contains(before.Text, chunk.Text) &&
			strings.Index(text, chunk.Text) == strings.LastIndex(text, chunk.Text) {
			t.Fatalf("chunk %d is contained in its predecessor: %q in %q", i, chunk.Text, before.Text)
		}
		for n := chunk.StartLine; n <= chunk.EndLine; n++ {
			covered[n-1] += chunk.Text
		}
		before = chunk
	}
	for i, line := range lines {
		for _, word := range strings.Fields(line) {
			if len(word) < budget && !strings.Contains(covered[i], word) {
				t.Fatalf("%q of line %d is in no chunk", word, i+1)
			}
		}
	}
}

// checkChunk does the same for one chunk.
func checkChunk(t rapid.TB, c *chunker.Chunker, budget int, lines []string, chunk chunker.Chunk) {
	t.Helper()
	if chunk.StartLine < 1 || chunk.EndLine < chunk.StartLine || chunk.EndLine > len(lines) {
		t.Fatalf("lines %d-%d of %d", chunk.StartLine, chunk.EndLine, len(lines))
	}
	whole := strings.Join(lines[chunk.StartLine-1:chunk.EndLine], "")
	if !strings.Contains(whole, chunk.Text) {
		t.Fatalf("text %q is no substring of lines %d-%d, %q", chunk.Text, chunk.StartLine, chunk.EndLine, whole)
	}
	if n := c.Count(chunk.Text); n != chunk.Tokens || n > budget {
		t.Fatalf("Tokens is %d and the budget %d, but %q has %d", chunk.Tokens, budget, chunk.Text, n)
	}
	if strings.TrimSpace(chunk.Text) == "" {
		t.Fatalf("blank chunk of lines %d-%d", chunk.StartLine, chunk.EndLine)
	}
	if partial := strings.TrimSuffix(whole, "\n") != chunk.Text; partial && c.Count(lines[chunk.StartLine-1]) <= budget/2 &&
		c.Count(lines[chunk.EndLine-1]) <= budget/2 {
		t.Fatalf("text %q is not whole lines though they fit: %q", chunk.Text, whole)
	}
	if len([]rune(chunk.Headings)) > 200 {
		t.Fatalf("heading path of %d characters", len([]rune(chunk.Headings)))
	}
}

// fragments are the parts of random Markdown.
var fragments = []string{
	"\n", "\n", "\n\n", "# A\n", "## B ##\n", "###### Deep\n", "Title\n===\n", "Title\n---\n", "---\n", "- one\n", "  more\n",
	"* two\n", "1. three\n", "```\n", "```go\n", "~~~~\n", "    code\n", "| a | b |\n", "|---|---|\n", "> quote\n",
	"date: 2026-01-20\n", "tags: [a, b]\n", "word ", "The old garden has many trees. ", "庭には木がある。", "記憶検索", "👩‍👩‍👧‍👦", " ",
	"\t", "\r\n", "\r", "\xff", "\uFEFF", "\x00", ");\n\n", "\u2028", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
}

func markdown(t *rapid.T) []byte {
	// A slice of no fixed length is mostly too short to need a second chunk.
	n := rapid.IntRange(0, 200).Draw(t, "n")
	parts := rapid.SliceOfN(rapid.SampledFrom(fragments), n, n).Draw(t, "markdown")
	return []byte(strings.Join(parts, ""))
}

func options(t *rapid.T) chunker.Options {
	budget := rapid.IntRange(16, 120).Draw(t, "tokens")
	return chunker.Options{
		Tokens:   budget,
		Overlap:  rapid.IntRange(0, budget-1).Draw(t, "overlap"),
		Encoding: rapid.SampledFrom([]string{"cl100k_base", "o200k_base"}).Draw(t, "encoding"),
	}
}

func TestSplitCoversAnyMarkdownWithinTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		opts, src := options(t), markdown(t)
		c, err := chunker.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []chunker.Kind{chunker.Notes, chunker.Entries} {
			checkDocument(t, c, opts.Tokens, src, c.Split(kind, src))
		}
	})
}

func TestSplitOverlapsByAsManyLinesAsFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		opts := options(t)
		words := rapid.SliceOfN(rapid.IntRange(1, 8), 1, 100).Draw(t, "words")
		var lines []string
		for _, n := range words {
			lines = append(lines, strings.Repeat(" tree", n)+"\n")
		}
		c, err := chunker.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		tokens := func(from, to int) int {
			n := 0
			for _, line := range lines[from-1 : to] {
				n += c.Count(line)
			}
			return n
		}
		chunks := c.Split(chunker.Notes, []byte(strings.Join(lines, ""))).Chunks
		for i := 1; i < len(chunks); i++ {
			before, first := chunks[i-1], chunks[i].StartLine
			own := before.EndLine + 1
			limit := min(opts.Overlap, opts.Tokens-tokens(own, own))
			if n := tokens(first, own-1); n > limit {
				t.Fatalf("lines %d-%d overlap by %d tokens, want at most %d", first, own-1, n, limit)
			}
			if n := tokens(first-1, own-1); n <= limit && first-1 > before.StartLine {
				t.Fatalf("line %d fits into the overlap of %d: %d tokens", first-1, limit, n)
			}
		}
	})
}

func FuzzSplit(f *testing.F) {
	for _, fragment := range fragments {
		f.Add(0, []byte(strings.Repeat(fragment, 40)))
	}
	f.Add(1, []byte("# A\n- one\n  two\n\n- three\n## B\ntext"))
	f.Add(2, []byte(`{"ts":"2026-01-20","category":"a","content":"b"}`+"\n{}\nnull\n"))
	f.Add(0, []byte("---\ntags: [a]\n---\n```\nunclosed\n# A\n"))
	f.Add(0, []byte("~~~~ "+strings.Repeat("long ", 40)+".\n~~~~\nafter"))
	c := newChunker(f, chunker.Options{Tokens: 24, Overlap: 8})
	f.Fuzz(func(t *testing.T, kind int, src []byte) {
		doc := c.Split(chunker.Kind(kind), src)
		if chunker.Kind(kind) != chunker.DailyLog {
			checkDocument(t, c, 24, src, doc)
			return
		}
		for _, chunk := range doc.Chunks {
			if chunk.StartLine < 1 || chunk.StartLine != chunk.EndLine || chunk.EndLine > doc.Lines || c.Count(chunk.Text) > 24 {
				t.Fatalf("chunk of lines %d-%d of %d: %q", chunk.StartLine, chunk.EndLine, doc.Lines, chunk.Text)
			}
		}
	})
}

package chunker_test

import (
	"strings"
	"testing"

	"kioku/chunker"
)

func TestSplitKeepsEntriesWhole(t *testing.T) {
	t.Parallel()
	// A bullet of less than thirty tokens over five lines: two fit into a chunk, and half of a third would.
	bullet := "- The old garden has many trees,\nwhich the neighbours water,\n\n\n  and a fence that is green.\n"
	cases := []struct{ name, text, want string }{
		{"bullets", strings.Repeat(bullet, 5), "1-10 11-20 21-25"},
		{"numbers", strings.Repeat("1."+bullet[1:], 5), "1-10 11-20 21-25"},
		{"a paragraph after a bullet", bullet + bullet + "\n" + lines(12, 13), "1-12 12-13"},
		{"a fence in a bullet", strings.Repeat("- do\n  ```\n"+lines(1, 2)+"  ```\n", 3), "1-10 11-15"},
		{"a bullet over the budget", "- " + lines(1, 8), "1-5 5-8"},
		{"nested bullets", strings.Repeat("- one\n"+strings.Repeat("  - the old garden\n", 4), 3), "1-10 11-15"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			doc := newChunker(t, small).Split(chunker.Entries, []byte(tc.text))
			if got := spans(doc.Chunks); got != tc.want {
				t.Errorf("chunks %s, want %s", got, tc.want)
			}
		})
	}
}

func TestSplitStartsAChunkWithEachSectionOfEntries(t *testing.T) {
	t.Parallel()
	text := "# Memory\n\n## People\n- Acme is led by Yuki Tanaka\n- Ben writes the reports\n\n" +
		"## Tea\n- Green\n\n## Places\n- The office is in Kyoto\n- 会議室は三階\n\n### Rooms\n- The blue one is quiet\n"
	doc := newChunker(t, chunker.Options{Tokens: 100, Overlap: 20}).Split(chunker.Entries, []byte(text))
	if got, want := spans(doc.Chunks), "1-5 7-12 14-15"; got != want {
		t.Errorf("chunks %s, want %s", got, want)
	}
	doc = newChunker(t, chunker.Options{Tokens: 100, Overlap: 20}).Split(chunker.Notes, []byte(text))
	if got, want := spans(doc.Chunks), "1-8 10-15"; got != want {
		t.Errorf("chunks of the same text as notes %s, want %s", got, want)
	}
}

func TestSplitOfDailyLog(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, line, text, date string }{
		{"entry", `{"ts":"2026-01-20T09:15:00+09:00","category":"preference","content":"お茶が\"好き\""}`,
			`preference: お茶が"好き"`, "2026-01-20"},
		{"no category", `{"ts":"2026-01-20","content":"two\nlines\r\n"}`, "two\nlines", "2026-01-20"},
		{"no calendar day", `{"ts":"2026-02-30T00:00:00Z","category":"fact","content":"x"}`, "fact: x", ""},
		{"no content", `{"ts":"2026-01-20","category":"fact"}`, `{"ts":"2026-01-20","category":"fact"}`, "2026-01-20"},
		{"another key", `{"ts":"2026-01-20","content":"x","mood":"good"}`, `{"ts":"2026-01-20","content":"x","mood":"good"}`, ""},
		{"another type", `{"ts":1768867200,"content":"x"}`, `{"ts":1768867200,"content":"x"}`, ""},
		{"broken", `{"ts":"2026-01-20","content":"x`, `{"ts":"2026-01-20","content":"x`, ""},
		{"two values", `{"content":"x"} {"content":"y"}`, `{"content":"x"} {"content":"y"}`, ""},
		{"words", `# not JSON`, `# not JSON`, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			doc := newChunker(t, small).Split(chunker.DailyLog, []byte("\n"+tc.line+"\n\n{\"content\":\"next\"}"))
			if got, want := spans(doc.Chunks), "2-2 4-4"; got != want || doc.Lines != 4 {
				t.Fatalf("chunks %s of %d lines, want %s of 4", got, doc.Lines, want)
			}
			if got := doc.Chunks[0]; got.Text != tc.text || got.Date != tc.date {
				t.Errorf("text %q of %q, want %q of %q", got.Text, got.Date, tc.text, tc.date)
			}
			if got := doc.Chunks[1].Text; got != "next" {
				t.Errorf("second text %q, want next", got)
			}
		})
	}
}

func TestSplitCutsALongEntryOfADailyLog(t *testing.T) {
	t.Parallel()
	line := `{"ts":"2026-01-20","category":"fact","content":"` + strings.Repeat("The old garden has many trees. ", 30) + `"}`
	doc := newChunker(t, small).Split(chunker.DailyLog, []byte("\n"+line))
	if len(doc.Chunks) < 4 {
		t.Fatalf("%d chunks, want at least 4", len(doc.Chunks))
	}
	for _, c := range doc.Chunks {
		if c.StartLine != 2 || c.EndLine != 2 || c.Date != "2026-01-20" || c.Tokens > 64 {
			t.Errorf("chunk of lines %d-%d, date %q, %d tokens", c.StartLine, c.EndLine, c.Date, c.Tokens)
		}
	}
}

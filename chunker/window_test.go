package chunker_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

func TestWindowsEndAtStructure(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 200)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"paragraphs", "One thing.\nMore of it.\n\nAnother thing.\n", []string{"One thing.\nMore of it.", "Another thing."}},
		{"a paragraph that is too long", long + "\n" + long + "\n", []string{long, long}},
		{"sentences of a list", "Facts:\n- My boss is Ingrid.\n  She is nice.\n- We deploy on Tuesdays.\n", []string{"Facts:", "- My boss is Ingrid.\n  She is nice.", "- We deploy on Tuesdays."}},
		{"words of a list", "- milk\n- two eggs\n- bread\n", []string{"- milk\n- two eggs\n- bread"}},
		{"items without spaces", "- 私の上司はイングリッドです\n- 会議は木曜だけです\n", []string{"- 私の上司はイングリッドです", "- 会議は木曜だけです"}},
		{"headings", "# Work\n\n## Team\n\nIngrid leads it.\n\nWe are six.\n", []string{"# Work\n\n## Team\n\nIngrid leads it.", "We are six."}},
		{"notes of append", "## 10:30 - fact\n\nThe beta opens in May.\n\n## 10:31 - note\n\nIt rains.\n", []string{"## 10:30 - fact", "The beta opens in May.", "## 10:31 - note", "It rains."}},
		{"code", "```\na\n\nb\n```\n", []string{"```\na\n\nb\n```"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range chunker.Windows(c.text) {
				got = append(got, w.Text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Rows mean little without the head of their table.
func TestWindowsOfRowsHaveTheHead(t *testing.T) {
	t.Parallel()
	got := chunker.Windows("| Name | Badge |\n|---|---|\n| Ada | red |\n| Bob | blue |\n")
	want := []chunker.Window{
		{Text: "| Name | Badge |\n|---|---|\n| Ada | red |", To: 2},
		{Text: "| Bob | blue |", Start: 41, From: 3, To: 3, Above: "| Name | Badge |"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWindowsCutALongLineAtSentenceEnds(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("x", 120) + ". "
	got := chunker.Windows("before\n" + s + s + s + "\nafter\n")
	want := []chunker.Window{
		{Text: "before", From: 0, To: 0},
		{Text: strings.TrimSpace(s + s), Start: 7, From: 1, To: 1},
		{Text: strings.TrimSpace(s), Start: 251, From: 1, To: 1},
		{Text: "after", Start: 374, From: 2, To: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWindowsOfABlankTextAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", " \t\r\n\n", strings.Repeat(" ", 1000)} {
		if got := chunker.Windows(text); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzWindows: windows are parts of the text in order, short enough, and contain every line that is not blank.
func FuzzWindows(f *testing.F) {
	f.Add("a\n\nb. c\n" + strings.Repeat("d e. ", 90))
	f.Add(strings.Repeat("東京都に行った。", 60) + "\r\n \xff\xfe é")
	f.Add(strings.Repeat("x", 700))
	f.Add("\u2028\n\v\n.")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		seen := make([]bool, len(lines))
		end := 0
		for _, w := range chunker.Windows(text) {
			if w.Start < end || !strings.HasPrefix(text[w.Start:], w.Text) || strings.TrimSpace(text[end:w.Start]) != "" {
				t.Fatalf("%q is not the text at %d, after %d", w.Text, w.Start, end)
			}
			end = w.Start + len(w.Text)
			if strings.TrimSpace(w.Text) == "" {
				t.Fatalf("%q is blank", w.Text)
			}
			if utf8.RuneCountInString(w.Text) > 300 {
				t.Fatalf("%d characters", utf8.RuneCountInString(w.Text))
			}
			if w.To-w.From != strings.Count(w.Text, "\n") || !strings.Contains(strings.Join(lines[w.From:w.To+1], "\n"), w.Text) {
				t.Fatalf("%q is not in the lines %d-%d", w.Text, w.From, w.To)
			}
			for i := w.From; i <= w.To; i++ {
				seen[i] = true
			}
		}
		if strings.TrimSpace(text[end:]) != "" {
			t.Fatalf("no window contains %q", text[end:])
		}
		for i, line := range lines {
			if strings.TrimSpace(line) != "" && !seen[i] {
				t.Fatalf("no window contains line %d, %q", i, line)
			}
		}
	})
}

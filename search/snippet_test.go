package search

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// window cuts a snippet for a query whose terms are all equally rare.
func window(query, text string, limit int) (string, int, int) {
	s := snippetter{terms: parseTerms(query, nil).weigh(nil, 100), limit: limit}.cut(text, 10)
	return s.text, s.from, s.to
}

// log20 is 20 lines, each "line N of the log", with other text in some.
func log20(others map[int]string) string {
	var b strings.Builder
	for i := range 20 {
		line := others[i]
		if line == "" {
			line = fmt.Sprintf("line %d of the log", i)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func TestSnippetOfShortTextIsTheText(t *testing.T) {
	t.Parallel()
	got, from, to := window("tea", "\ngreen tea\nat noon\n\n", 700)
	if got != "green tea\nat noon" || from != 11 || to != 12 {
		t.Errorf("%q, lines %d-%d", got, from, to)
	}
}

func TestSnippetIsLinesAroundWords(t *testing.T) {
	t.Parallel()
	got, from, to := window("walrus", log20(map[int]string{12: "the walrus sings"}), 60)
	want := "line 11 of the log\nthe walrus sings\nline 13 of the log"
	if diff := cmp.Diff(want, got); diff != "" || from != 21 || to != 23 {
		t.Errorf("lines %d-%d (-want +got):\n%s", from, to, diff)
	}
}

func TestSnippetPrefersAllWords(t *testing.T) {
	t.Parallel()
	text := log20(map[int]string{2: "walrus walrus walrus", 15: "a walrus", 16: "an oyster"})
	got, from, _ := window("walrus oyster", text, 50)
	if !strings.Contains(got, "oyster") || from < 23 {
		t.Errorf("from line %d: %q", from, got)
	}
}

func TestSnippetCutsLongLineAtSentenceEnds(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nothing happened on that day. ", 20)
	got, from, to := window("walrus", "# Log\n"+filler+"A walrus sang 3.5 hours. "+filler, 100)
	if !strings.Contains(got, "A walrus sang 3.5 hours.") || from != 11 || to != 11 {
		t.Errorf("lines %d-%d: %q", from, to, got)
	}
	if !strings.HasPrefix(got, "Nothing") || !strings.HasSuffix(got, ".") {
		t.Errorf("cut within a sentence: %q", got)
	}
}

func TestSnippetCutsJapaneseSentences(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("その日は何も起こらなかった。", 20)
	got, _, _ := window("東京タワー", filler+"「東京タワーに登った。」"+filler, 60)
	if !strings.Contains(got, "「東京タワーに登った。」") || !strings.HasSuffix(got, "。") || utf8.RuneCountInString(got) > 60 {
		t.Errorf("%q", got)
	}
}

func TestSnippetCutsLongSentenceBetweenWords(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("nothing happened ", 40)
	got, _, _ := window("walrus", filler+"walrus "+filler, 80)
	if !strings.Contains(got, "walrus") {
		t.Fatalf("%q", got)
	}
	for _, w := range strings.Fields(got) {
		if w != "nothing" && w != "happened" && w != "walrus" {
			t.Errorf("%q was cut in %q", w, got)
		}
	}
}

func TestSnippetWithoutWordsIsBeginning(t *testing.T) {
	t.Parallel()
	got, from, to := window("🎉", log20(nil), 40)
	if got != "line 0 of the log\nline 1 of the log" || from != 10 || to != 11 {
		t.Errorf("lines %d-%d: %q", from, to, got)
	}
}

func TestSnippetWithoutRoomIsEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"tea", "", " \n"} {
		t.Run(text, func(t *testing.T) {
			if got, from, to := window("tea", text, 0); got != "" || from != 10 || to != 10 {
				t.Errorf("%q: lines %d-%d: %q", text, from, to, got)
			}
		})
	}
}

// FuzzSnippet: a snippet is a part of the text, within its limit and its lines, and splits no character.
func FuzzSnippet(f *testing.F) {
	f.Add("tea", "green tea\nat noon", 10)
	f.Add("東京", strings.Repeat("東京都に行った。", 30), 21)
	f.Add("x", "\n\n\r\n x \xff\xfe é", 3)
	f.Add("a", "a.b! c? ", 1)
	f.Fuzz(func(t *testing.T, query, text string, limit int) {
		got, from, to := window(query, text, limit%1000)
		if !strings.Contains(text, got) {
			t.Fatalf("%q is no part of the text", got)
		}
		if n := utf8.RuneCountInString(got); n > max(0, limit%1000) {
			t.Fatalf("%d characters, more than %d", n, limit%1000)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q splits a character", got)
		}
		lines := strings.Split(text, "\n")
		if from < 10 || to < from || to >= 10+len(lines) {
			t.Fatalf("lines %d-%d of %d", from, to, len(lines))
		}
		if got != "" && !strings.Contains(strings.Join(lines[from-10:to-9], "\n"), got) {
			t.Fatalf("%q is not in the lines %d-%d", got, from, to)
		}
		if got != "" && to-from != strings.Count(got, "\n") {
			t.Fatalf("lines %d-%d hold %d breaks", from, to, strings.Count(got, "\n"))
		}
	})
}

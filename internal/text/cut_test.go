package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kioku/internal/text"
)

// lines returns n numbered lines of twelve characters with their ends.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "日本 line %03d\n", i)
	}
	return strings.TrimSpace(b.String())
}

func TestCutMiddleKeepsWholeLinesAndTellsTheLengths(t *testing.T) {
	got := text.CutMiddle("AGENTS.md", lines(500), 1000)
	head, rest, _ := strings.Cut(got, "\n\n[... ")
	marker, tail, _ := strings.Cut(rest, " ...]\n\n")
	for _, part := range []string{head, tail} {
		for line := range strings.SplitSeq(part, "\n") {
			if utf8.RuneCountInString(line) != 11 {
				t.Errorf("half a line: %q", line)
			}
		}
	}
	if h := utf8.RuneCountInString(head); h < 660 || h > 700 {
		t.Errorf("the head has %d characters", h)
	}
	if n := utf8.RuneCountInString(tail); n < 180 || n > 200 {
		t.Errorf("the tail has %d characters", n)
	}
	want := fmt.Sprintf("AGENTS.md is cut here: the first %d and the last %d of 5999 characters are shown", utf8.RuneCountInString(head), utf8.RuneCountInString(tail))
	if marker != want {
		t.Errorf("%s\nwant %s", marker, want)
	}
	if !strings.HasPrefix(head, "日本 line 000") || !strings.HasSuffix(tail, "日本 line 499") {
		t.Errorf("%q ... %q", head, tail)
	}
}

func TestCutMiddleOfOneLongLine(t *testing.T) {
	got := text.CutMiddle("X", strings.Repeat("記", 5000), 1000)
	if n := strings.Count(got, "記"); n < 880 || n > 900 {
		t.Errorf("%d characters are left", n)
	}
}

func TestCutMiddleKeepsToItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := rapid.StringN(-1, 3000, -1).Draw(t, "text")
		limit := rapid.IntRange(-5, 3000).Draw(t, "limit")
		got := text.CutMiddle("F", long, limit)
		switch n := utf8.RuneCountInString(got); {
		case utf8.RuneCountInString(long) <= limit && got != long:
			t.Fatalf("%q was cut to %q", long, got)
		case n > max(limit, 0):
			t.Fatalf("%d characters for a limit of %d", n, limit)
		case got != "" && got != long && !strings.Contains(got, "[... F is cut here: "):
			t.Fatalf("no marker in %q", got)
		case got == "" && long != "" && limit >= 150:
			t.Fatalf("nothing left for a limit of %d", limit)
		}
	})
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " \n ": "", "a": "a", " a\r\n\tb  c\x00d\u2028e ": "a b c d e", "a\xffb": "a\ufffdb", "日本\n語": "日本 語", "a\x1b[31mb": "a [31mb",
	} {
		t.Run(fmt.Sprintf("%q", in), func(t *testing.T) {
			if got := text.OneLine(in); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 1, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 3, "日本語"}, {"日本語です", 3, "日本…"}, {"ab cd", 4, "ab…"}, {"ab", 1, "…"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got := text.Shorten(c.in, c.n); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The four functions return a beginning or an end of the text that is as long as the limit allows and splits no character.
func TestHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.StringN(-1, 20, -1).Draw(t, "text"), rapid.IntRange(-1, 30).Draw(t, "n")
		runes := []rune(s)
		k := min(max(n, 0), len(runes))
		if got := text.Head(s, n); got != string(runes[:k]) {
			t.Errorf("Head: %q", got)
		}
		if got := text.Tail(s, n); got != string(runes[len(runes)-k:]) {
			t.Errorf("Tail: %q", got)
		}
		head, tail := text.HeadBytes(s, n), text.TailBytes(s, n)
		if rest := strings.TrimPrefix(s, head); len(head) > max(n, 0) || head+rest != s || !utf8.ValidString(head) ||
			rest != "" && len(head)+utf8.RuneLen([]rune(rest)[0]) <= n {
			t.Errorf("HeadBytes: %q", head)
		}
		if rest := strings.TrimSuffix(s, tail); len(tail) > max(n, 0) || rest+tail != s || !utf8.ValidString(tail) ||
			rest != "" && len(tail)+utf8.RuneLen([]rune(rest)[len([]rune(rest))-1]) <= n {
			t.Errorf("TailBytes: %q", tail)
		}
	})
}

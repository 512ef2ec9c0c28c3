package bootstrap_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kioku/agent/bootstrap"
)

// lines returns n numbered lines of twelve characters with their ends.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "日本 line %03d\n", i)
	}
	return strings.TrimSpace(b.String())
}

func TestALongTextKeepsWholeLinesOfHeadAndTailAndTellsTheLengths(t *testing.T) {
	got := bootstrap.Cut("AGENTS.md", lines(500), 1000)
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

func TestOneLongLineIsCutWithinIt(t *testing.T) {
	got := bootstrap.Cut("X", strings.Repeat("記", 5000), 1000)
	if n := strings.Count(got, "記"); n < 880 || n > 900 {
		t.Errorf("%d characters are left", n)
	}
}

func TestACutIsNeverLongerThanItsLimitAndAlwaysMarked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(-1, 3000, -1).Draw(t, "text")
		limit := rapid.IntRange(-5, 3000).Draw(t, "limit")
		got := bootstrap.Cut("F", text, limit)
		switch n := utf8.RuneCountInString(got); {
		case utf8.RuneCountInString(text) <= limit && got != text:
			t.Fatalf("%q was cut to %q", text, got)
		case n > max(limit, 0):
			t.Fatalf("%d characters for a limit of %d", n, limit)
		case got != "" && got != text && !strings.Contains(got, "[... F is cut here: "):
			t.Fatalf("no marker in %q", got)
		case got == "" && text != "" && limit >= 150:
			t.Fatalf("nothing left for a limit of %d", limit)
		}
	})
}

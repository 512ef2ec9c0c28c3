package render

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanRemovesWhatControlsATerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\nin two lines":         "plain\ttext\nin two lines",
		"\x1b[1;31mred\x1b[0m":              "red",
		"\x1b]8;;http://x\x1b\\a\x1b]8;;\a": "a",
		"\u009b31mC1\u009d0;t\u009c":        "C1",
		"cut \x1b]0;off here":               "cut ]0;off here",
		"one\x1b]0;\nnot hidden\x07":        "one]0;\nnot hidden",
		"a\u202eb\u2066c\u200fd":            "abcd",
		"bell\a back\b return\r nul\x00":    "bell back return nul",
		"家族 👨‍👩‍👧 ok":                       "家族 👨‍👩‍👧 ok",
		"bad \xff byte":                     "bad \uFFFD byte",
	} {
		t.Run(in, func(t *testing.T) {
			if got := Clean(in); got != want {
				t.Errorf("%q becomes %q, want %q", in, got, want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "\x1b[", "\x1b]\x1b]\a", "\u009b\u009c", "\x1b\x1b[31m[31m", "\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if i := strings.IndexFunc(got, Forbidden); i >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", s, got)
		}
		if strings.Count(got, "\n") > strings.Count(s, "\n") {
			t.Errorf("%q gains lines: %q", s, got)
		}
	})
}

func TestPageHasColoursOnlyForTerminals(t *testing.T) {
	t.Parallel()
	p := &Page{color: true}
	p.Linef("%s and %s", Bold("\x1b[31mloud"), "\x1b[31mplain")
	if got := p.String(); got != "\x1b[1mloud\x1b[0m and plain\n" {
		t.Errorf("got %q", got)
	}
	p = &Page{}
	p.Linef("%s %s", Bold("loud"), Dim(""))
	if got := p.String(); got != "loud\n" {
		t.Errorf("got %q", got)
	}
}

func TestCleanLine(t *testing.T) {
	t.Parallel()
	if got := CleanLine("a\n  b\x1b[2J\tc "); got != "a b c" {
		t.Errorf("got %q", got)
	}
}

package render

import (
	"strings"
	"testing"
)

// streamed cleans a text that comes in pieces of so many bytes.
func streamed(s string, size int) string {
	var st Stream
	var out strings.Builder
	for len(s) > 0 {
		n := min(size, len(s))
		out.WriteString(st.Add(s[:n]))
		s = s[n:]
	}
	return out.String() + st.End()
}

// hostile are texts that try to control a terminal.
var hostile = []string{
	"\x1b[1;31mred\x1b[0m plain",
	"see \x1b]8;;http://evil\x1b\\a link\x1b]8;;\x1b\\ and \x1b]0;title\a more",
	"\u009b31mC1\u009d0;t\u009c and \u0090q\u009c",
	"cut \x1b]0;off here",
	"one\x1b]0;\nnot hidden\x07",
	"\x1b\x1b[31m[31m nested \x1b[\x1b[mm",
	"right\u202eto left\u2066 isolate",
	"日本\x1b[2J語 bad \xff\xfe bytes \xe6\x97",
	"\x1b", "\x1b[", "\x1b[3", "\x1b]8;;x\x1b", "\xe6", "",
}

// Hazard F04: an escape sequence that is split between two pieces of an answer reaches the terminal no more than a whole one.
func TestStreamCleansLikeTheWholeText(t *testing.T) {
	t.Parallel()
	for _, s := range hostile {
		for size := 1; size <= len(s)+1; size++ {
			if got, want := streamed(s, size), Clean(s); got != want {
				t.Errorf("%q in pieces of %d becomes %q, want %q", s, size, got, want)
			}
		}
	}
}

func TestStreamReturnsPlainTextAtOnce(t *testing.T) {
	t.Parallel()
	var st Stream
	for _, piece := range []string{"Hel", "lo, ", "世界", " and more\n"} {
		if got := st.Add(piece); got != piece {
			t.Errorf("%q is shown as %q", piece, got)
		}
	}
	if got := st.Add("a\x1b[3"); got != "a" {
		t.Errorf("got %q", got)
	}
	if got := st.Add("1mb"); got != "b" {
		t.Errorf("got %q", got)
	}
}

// Hazard F04: whatever the text is and wherever it is cut.
func FuzzStream(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, i, 2*i+1)
	}
	f.Fuzz(func(t *testing.T, s string, one, other int) {
		i := min(max(one, 0), len(s))
		j := min(max(other, i), len(s))
		var st Stream
		got := st.Add(s[:i]) + st.Add(s[i:j]) + st.Add(s[j:]) + st.End()
		if want := Clean(s); got != want {
			t.Errorf("%q, %q, %q become %q, want %q", s[:i], s[i:j], s[j:], got, want)
		}
		if strings.IndexFunc(got, Forbidden) >= 0 {
			t.Errorf("%q holds what is forbidden", got)
		}
	})
}

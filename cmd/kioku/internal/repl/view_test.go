package repl

import (
	"bytes"
	"strings"
	"testing"

	"kioku/agent/flush"
	"kioku/cmd/kioku/internal/render"
)

// seen returns a view, whose answers and notes go to one place, as on a terminal.
func seen() (*view, *bytes.Buffer) {
	var screen bytes.Buffer
	return &view{out: &screen, notes: &screen}, &screen
}

func TestViewNotesAreLinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	v, screen := seen()
	v.note("before")
	v.say("Half a ")
	v.say("line")
	v.note("between\nand %s", "more")
	v.say("A whole line\n")
	v.done()
	v.note("after")
	if got := screen.String(); got != "· before\nHalf a line\n· between and more\nA whole line\n· after\n" {
		t.Errorf("got %q", got)
	}
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

// Hazard F04: neither an answer in pieces nor a note can send the terminal anything but text.
func TestViewLetsNothingControlTheTerminal(t *testing.T) {
	t.Parallel()
	for _, s := range hostile {
		v, screen := seen()
		v.dim = false
		for i := range len(s) {
			v.say(s[i : i+1])
		}
		v.note("recalled %s", s)
		if i := strings.IndexFunc(screen.String(), render.Forbidden); i >= 0 {
			t.Errorf("%q is shown as %q", s, screen)
		}
	}
	v, screen := seen()
	v.dim = true
	v.note("a\x1b[0mb")
	if got := screen.String(); got != "\x1b[2m· ab\x1b[0m\n" {
		t.Errorf("got %q", got)
	}
}

func TestViewHidesASilentAnswer(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"NO_REPLY":                      "",
		"  NO_REPLY\n":                  "",
		"NO_REPLY: nothing new":         "",
		"Stored.\nNO_REPLY":             "Stored.\n",
		"Stored. NO_REPLY \n":           "Stored. \n",
		"NO_REPLYING is a word":         "NO_REPLYING is a word\n",
		"NO, never":                     "NO, never\n",
		"NO_REP":                        "NO_REP\n",
		"say NO_REPLY to be silent":     "say NO_REPLY to be silent\n",
		"the answer is N":               "the answer is N\n",
		"":                              "",
		"日本語の答え":                        "日本語の答え\n",
		"one\n\n":                       "one\n\n",
		"It ends with a space and N \n": "It ends with a space and N \n",
	} {
		t.Run(said, func(t *testing.T) {
			for size := 1; size <= max(len(said), 1); size++ {
				v, screen := seen()
				for rest := said; rest != ""; {
					n := min(size, len(rest))
					v.say(rest[:n])
					rest = rest[n:]
				}
				v.done()
				if got := screen.String(); got != want {
					t.Errorf("%q in pieces of %d is shown as %q, want %q", said, size, got, want)
				}
			}
		})
	}
}

func FuzzViewShowsAnswersWhole(f *testing.F) {
	f.Add("NO_REPLY", "x")
	f.Add("NO_", "REPLYING")
	f.Add("a NO_", "REPLY b")
	f.Fuzz(func(t *testing.T, one, two string) {
		var a answer
		got := a.write(one) + a.write(two)
		got += a.finishText()
		if said := one + two; !flush.Silent(said) && got != said {
			t.Errorf("%q and %q are shown as %q", one, two, got)
		}
	})
}

package lineedit

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// typed returns an editor at which these keys are pressed, one piece a read, and what it shows.
func typed(t *testing.T, h *History, pieces ...string) (*Editor, *glass) {
	t.Helper()
	r, w := io.Pipe()
	go func() {
		for _, p := range pieces {
			_, _ = io.WriteString(w, p)
		}
		w.Close()
	}()
	t.Cleanup(func() { r.Close() })
	g := &glass{width: 40}
	if h == nil {
		h = &History{most: 100}
	}
	return &Editor{
		in: r, out: g, history: h, reads: make(chan read, 1),
		size: func() (int, int) { return g.width, 24 },
		raw:  func() (func() error, error) { return func() error { return nil }, nil },
	}, g
}

// lines reads all lines of an editor.
func lines(t *testing.T, e *Editor) []string {
	t.Helper()
	var all []string
	for {
		text, err := e.ReadLine(t.Context(), "> ")
		switch {
		case errors.Is(err, io.EOF):
			return all
		case errors.Is(err, ErrInterrupted):
			text += "^C"
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, text)
	}
}

func TestKeysEditALine(t *testing.T) {
	for in, want := range map[string]string{
		"abc\r":                                   "abc",
		"abc\x7f\x7fd\r":                          "ad",
		"日本語\x7f\x1b[D人\r":                        "日人本",
		"ac\x1b[Db\r":                             "abc",
		"one two\x17three\r":                      "one three",
		"one two\x01zero \x05!\r":                 "zero one two!",
		"one two\x1bb\x0bx\r":                     "one x",
		"one two\x15x\r":                          "x",
		"abc\x1b[H\x1b[3~\x04\r":                  "c",
		"a\x1b[1;5Db\x1b[1;5Cc\r":                 "bac",
		"👩‍👧b\x1b[D\x7f\r":                        "b",
		"first\x1b\rsecond\r":                     "first\nsecond",
		"a\x1b[200~1\r\n2\r3\x1b[31m\x1b[201~b\r": "a1\n2\n3[31mb",
		"a\x1b[99;9~\x1bOPb\t\x00c\r":             "abc",
		"a\x0cb\n":                                "ab",
	} {
		e, g := typed(t, nil, in)
		if got := lines(t, e); !cmp.Equal(got, []string{want}) {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
		if len(g.unknown) > 0 {
			t.Errorf("%q: the terminal does not know %q", in, g.unknown)
		}
	}
}

func TestKeysMayComeInPieces(t *testing.T) {
	keys := "日本\x1b[D\x1b[200~a\nb\x1b[201~\x7fé\r"
	var pieces []string
	for i := range len(keys) {
		pieces = append(pieces, keys[i:i+1])
	}
	e, g := typed(t, nil, pieces...)
	if got := lines(t, e); !cmp.Equal(got, []string{"日a\né本"}) {
		t.Errorf("got %q", got)
	}
	if got := g.shown(); !cmp.Equal(got, []string{"> 日a", "  é本", ">"}) {
		t.Errorf("shown %q", got)
	}
}

func TestWhatIsTypedAheadIsTheNextLine(t *testing.T) {
	e, _ := typed(t, nil, "one\rtwo\rthr", "ee\r")
	if got := lines(t, e); !cmp.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("got %q", got)
	}
}

func TestCtrlCEndsALineAndTellsWhatStoodThere(t *testing.T) {
	e, g := typed(t, nil, "half\x03", "\x03", "whole\r")
	if got := lines(t, e); !cmp.Equal(got, []string{"half^C", "^C", "whole"}) {
		t.Errorf("got %q", got)
	}
	if got := g.shown()[:2]; !cmp.Equal(got, []string{"> half^C", "> ^C"}) {
		t.Errorf("shown %q", got)
	}
}

func TestCtrlDEndsTheInputInAnEmptyLineOnly(t *testing.T) {
	e, _ := typed(t, nil, "a\x04\r", "\x04", "never read\r")
	if got := lines(t, e); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("got %q", got)
	}
}

func TestAContextEndsALineAndWhatIsTypedThenIsNotLost(t *testing.T) {
	r, w := io.Pipe()
	e, _ := typed(t, nil)
	e.in = r
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("closing time")
	cancel(why)
	if _, err := e.ReadLine(ctx, "> "); !errors.Is(err, why) {
		t.Fatalf("got %v", err)
	}
	go io.WriteString(w, "late\r")
	if text, err := e.ReadLine(t.Context(), "> "); text != "late" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestArrowsGoThroughTheHistoryAndBackToTheDraft(t *testing.T) {
	h := &History{most: 10, entries: []string{"first", "second\nline"}}
	for in, want := range map[string]string{
		"draft\x1b[A\r":                          "second\nline",
		"draft\x1b[A\x1b[A\x1b[A\r":              "first",
		"draft\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B!\r": "draft!",
		"\x10\x10\x0e\x7f\r":                     "second\nlin",
	} {
		e, _ := typed(t, h, in)
		if got := lines(t, e); !cmp.Equal(got, []string{want}) {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestATerminalThatCannotBePreparedIsAnError(t *testing.T) {
	e, _ := typed(t, nil, "x\r")
	e.raw = func() (func() error, error) { return nil, errors.New("no terminal") }
	if _, err := e.ReadLine(t.Context(), "> "); err == nil || !strings.Contains(err.Error(), "prepare the terminal: no terminal") {
		t.Errorf("got %v", err)
	}
	if _, err := OpenHistory(filepath.Join(t.TempDir(), "none"), 1); err != nil {
		t.Errorf("a history that is not there: %v", err)
	}
}

func FuzzNoKeyPutsControlCharactersIntoTheText(f *testing.F) {
	for _, seed := range []string{"", "a\x1b", "\x1b[200~\x1b]0;x\a\x1b[201~", "\xff\x1b[\xffA", "\u009b31m", "\x1bO\x1bOA", "\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, rest := &buffer{}, []byte(s)
		for {
			k, n := parse(rest)
			if n == 0 {
				break
			}
			rest = rest[n:]
			b.press(k)
		}
		if got := b.text(); got != printable(got) || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", s, got)
		}
		draw := (&screen{prompt: "> "}).draw(b, 10, 5)
		if strings.Count(draw, "\n") > 5 {
			t.Errorf("%q is drawn in too many rows: %q", s, draw)
		}
	})
}

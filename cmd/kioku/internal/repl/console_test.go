package repl

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"kioku/cmd/kioku/internal/render"

	"github.com/google/go-cmp/cmp"
)

// pressed are the keys that a line editor reads of a console; a text that is put into the line stands in braces.
func pressed(t *testing.T, in io.Reader) []string {
	t.Helper()
	c := newConsole(in, io.Discard)
	var keys []string
	for {
		b := make([]byte, 64)
		n, err := c.Read(b)
		switch key := string(b[:n]); {
		case errors.Is(err, io.EOF):
			return keys
		case err != nil:
			t.Fatal(err)
		case key == string(lineEnd):
			keys = append(keys, "{"+strings.ReplaceAll(string(c.takePaste()), key, "↵")+"}")
		default:
			keys = append(keys, key)
		}
	}
}

func TestConsoleReadsAPastedTextAsOneKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"a日\r\n\t\x03\x7f":                              {"a", "日", "\r", "\n", "\t", "\x03", "\x7f"},
		"\x1b[A\x1bOH\x1b[1;3D\x1bf\x1b[3~x":            {"\x1b[A", "\x1bOH", "\x1b[1;3D", "\x1bf", "\x1b[3~", "x"},
		"a\x1b[200~1\r\n2\r3\n\x1b[201~b":               {"a", "{1↵2↵3↵}", "b"},
		"\x1b[200~one\x1b[201~\x1b[200~二\x1b[201~":      {"{one}", "{二}"},
		"\x1b[200~\x1b[31mred\x1b[0m\a\x03\t.\x1b[201~": {"{red\t.}"},
		"\x1b[200~[201~ \x1b[20\x1b[201~.":              {"{[201~ [20}", "."},
		"\x1b[200~\x1b[201~x":                           {"x"},
		"\x1b\x1b[200~after Escape\x1b[201~":            {"{after Escape}"},
		"\x1b\x1b[1;5Da\x1b\x1bOAb\x1b[\uFDD0c\x1b日d":   {"a", "b", "c", "d"},
		"a\x1b\rb\x1b\n":                                {"a", "{↵}", "b", "{↵}"},
		"\uFDD0a\x1b[200~\uFDD0b\uFDD0\x1b[201~":        {"a", "{b}"},
		"\x00\x0f\x16\x18\x1aa\u202e\u009b":             {"a"},
		"a\xffb\x1b[200~\xe6\x97\x1b[201~":              {"a", "\uFFFD", "b", "{\uFFFD}"},
		"a\x1b":                                         {"a"},
		"a\x1b[200~without an end":                      {"a"},
	} {
		t.Run(in, func(t *testing.T) {
			for name, reader := range map[string]io.Reader{"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
				if got := pressed(t, reader); !cmp.Equal(got, want) {
					t.Errorf("%q %s gives %q, want %q", in, name, got, want)
				}
			}
		})
	}
}

func TestConsoleShowsLineEndsAsArrows(t *testing.T) {
	t.Parallel()
	var shown bytes.Buffer
	c := newConsole(strings.NewReader("x"), &shown)
	for _, text := range []string{"> 日\uFDD0b", cursorQuery, "\x1b[8G"} {
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if got := shown.String(); got != "> 日↵b\x1b[8G" {
		t.Errorf("shown %q", got)
	}
	b := make([]byte, 64)
	for _, want := range []string{cursorHome, "x"} {
		if n, err := c.Read(b); err != nil || string(b[:n]) != want {
			t.Errorf("read %q, %v, want %q", b[:n], err, want)
		}
	}
}

func FuzzConsole(f *testing.F) {
	for _, seed := range hostile {
		f.Add(seed)
		f.Add(pasteStart + seed + "\uFDD0\r\n" + pasteEnd)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, key := range pressed(t, strings.NewReader(in)) {
			r, size := utf8.DecodeRuneInString(key)
			control := len(key) == size && (r < ' ' || r == '\x7f') && !strings.ContainsRune(unusedKeys, r)
			if r != '\x1b' && !control && strings.IndexFunc(key, render.Forbidden) >= 0 || !utf8.ValidString(key) || strings.ContainsRune(key, lineEnd) {
				t.Errorf("%q gives %q", in, key)
			}
		}
	})
}

package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"kioku/cmd/kioku/internal/render"

	"github.com/ergochat/readline"
	"github.com/google/go-cmp/cmp"
)

// texts reads all texts of a stream.
func texts(t *testing.T, in string) []string {
	t.Helper()
	lines := &plainLines{in: strings.NewReader(in)}
	var all []string
	for {
		text, err := readText(t.Context(), lines)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
}

func TestReadTextContinuesAfterABackslash(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"one\ntwo\n":            {"one", "two"},
		"one\\\ntwo\nthree":     {"one\ntwo", "three"},
		"a\\\nb\\\nc\n":         {"a\nb\nc"},
		"path C:\\\\\nnext\n":   {"path C:\\\\", "next"},
		"at the end\\\n":        {"at the end"},
		"crlf\r\n\r\nend":       {"crlf", "", "end"},
		"":                      nil,
		"日本語\\\nの行\n/help\\\nx": {"日本語\nの行", "/help\nx"},
	} {
		t.Run(in, func(t *testing.T) {
			if got := texts(t, in); !cmp.Equal(got, want) {
				t.Errorf("%q is read as %q, want %q", in, got, want)
			}
		})
	}
}

func TestReadTextRefusesALineAndReadsTheNext(t *testing.T) {
	t.Parallel()
	fits, long := strings.Repeat("y", render.MaxTextBytes), strings.Repeat("x", render.MaxTextBytes+1)
	for in, want := range map[string]struct{ refusal, next string }{
		long + "\nnext\n":                   {"line 1 of standard input is longer than 1048576 bytes", "next"},
		long + "\r\n" + fits + "\r\n":       {"line 1 of standard input is longer than 1048576 bytes", fits},
		long + long + `\` + "\nmore\nnext":  {"line 1 of standard input is longer than 1048576 bytes", "next"},
		"bad \xff\nnext\n":                  {"line 1 of standard input is not valid UTF-8", "next"},
		"first\\\nbad \xff\\\nmore\nnext\n": {"line 2 of standard input is not valid UTF-8", "next"},
		"bad \xff\\\n" + long + "\nnext\n":  {"line 1 of standard input is not valid UTF-8", "next"},
	} {
		t.Run(fmt.Sprintf("%.20q of %d bytes", in, len(in)), func(t *testing.T) {
			lines := &plainLines{in: strings.NewReader(in)}
			if _, err := readText(t.Context(), lines); err == nil || !strings.HasPrefix(err.Error(), want.refusal) {
				t.Errorf("%.20q of %d bytes: %v", in, len(in), err)
			}
			if text, err := readText(t.Context(), lines); text != want.next || err != nil {
				t.Errorf("%.20q of %d bytes: then %.20q, %v", in, len(in), text, err)
			}
			if _, err := readText(t.Context(), lines); !errors.Is(err, io.EOF) {
				t.Errorf("%.20q of %d bytes: at the end %v", in, len(in), err)
			}
		})
	}
}

func TestReadTextReportsARefusedLastLine(t *testing.T) {
	t.Parallel()
	lines := &plainLines{in: strings.NewReader("bad \xff\\")}
	for _, want := range []string{"line 1 of standard input is not valid UTF-8", "EOF", "EOF"} {
		if _, err := readText(t.Context(), lines); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	endless := bufio.NewReader(io.LimitReader(zeros{}, 64*render.MaxTextBytes))
	if line, err := readLine(endless, 1); len(line) > tailBytes || !errors.As(err, new(refusedLine)) {
		t.Errorf("%d bytes are kept, %v", len(line), err)
	}
}

// zeros is a stream of them.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestReadTextEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r, _ := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnd)
	if _, err := readText(ctx, &plainLines{in: r}); !errors.Is(err, errEnd) {
		t.Errorf("got %v", err)
	}
}

// given are lines with the errors that end them.
type given []plainLine

func (g *given) ReadLine(context.Context, string) (string, error) {
	next := (*g)[0]
	*g = (*g)[1:]
	return next.text, next.err
}

func TestReadTextReturnsACanceledContinuation(t *testing.T) {
	t.Parallel()
	in := &given{{text: `first\`}, {err: readline.ErrInterrupt}}
	if text, err := readText(t.Context(), in); text == "" || !errors.Is(err, readline.ErrInterrupt) {
		t.Errorf("got %q, %v", text, err)
	}
}

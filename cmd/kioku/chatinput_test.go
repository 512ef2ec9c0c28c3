package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

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

func TestABackslashAtTheEndOfALineContinuesIt(t *testing.T) {
	for in, want := range map[string][]string{
		"one\ntwo\n":            {"one", "two"},
		"one\\\ntwo\nthree":     {"one\ntwo", "three"},
		"a\\\nb\\\nc\n":         {"a\nb\nc"},
		"path C:\\\\\nnext\n":   {"path C:\\\\", "next"},
		"at the end\\\n":        {"at the end"},
		"crlf\r\n\r\nbad \xff":  {"crlf", "", "bad \uFFFD"},
		"":                      nil,
		"日本語\\\nの行\n/help\\\nx": {"日本語\nの行", "/help\nx"},
	} {
		if got := texts(t, in); !cmp.Equal(got, want) {
			t.Errorf("%q is read as %q, want %q", in, got, want)
		}
	}
}

func TestALineWithoutEndIsAnErrorAndNotAFullMemory(t *testing.T) {
	lines := &plainLines{in: strings.NewReader(strings.Repeat("x", maxTextBytes+1))}
	for range 2 {
		if _, err := readText(t.Context(), lines); err == nil || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("got %v", err)
		}
	}
}

func TestWaitingForALineEndsWithItsContext(t *testing.T) {
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

func TestAGivenUpContinuationCountsAsWritten(t *testing.T) {
	in := &given{{text: `first\`}, {err: readline.ErrInterrupt}}
	if text, err := readText(t.Context(), in); text == "" || !errors.Is(err, readline.ErrInterrupt) {
		t.Errorf("got %q, %v", text, err)
	}
}

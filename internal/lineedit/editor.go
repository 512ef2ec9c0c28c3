package lineedit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// ErrInterrupted is returned for a line that Ctrl-C has ended.
var ErrInterrupted = errors.New("interrupted")

// pasting asks a terminal to mark what is pasted.
const (
	pastingOn  = "\x1b[?2004h"
	pastingOff = "\x1b[?2004l"
)

// Editor lets a person edit lines. Its methods must not be called concurrently.
type Editor struct {
	in      io.Reader
	out     io.Writer
	history *History
	// size of the terminal, in columns and rows.
	size func() (width, height int)
	// raw has every key reach the program at once, until restore is called.
	raw func() (restore func() error, err error)

	// rest is what was read and is not used yet.
	rest []byte
	// reads are the outcomes of reading in; reading says that one is awaited.
	reads   chan read
	reading bool
}

type read struct {
	data []byte
	err  error
}

// New returns an editor on a terminal.
func New(in, out *os.File, h *History) *Editor {
	fd := int(in.Fd())
	return &Editor{
		in: in, out: out, history: h, reads: make(chan read, 1),
		size: func() (int, int) {
			w, h, err := term.GetSize(int(out.Fd()))
			if err != nil || w <= 0 || h <= 0 {
				return 80, 24
			}
			return w, h
		},
		raw: func() (func() error, error) {
			state, err := term.MakeRaw(fd)
			if err != nil {
				return nil, err
			}
			return func() error { return term.Restore(fd, state) }, nil
		},
	}
}

// ReadLine shows a prompt and returns what is entered, which may have several lines: pasted ones, and those that Alt-Enter
// begins. Ctrl-C ends it with ErrInterrupted and what was written until then, Ctrl-D in an empty line with io.EOF, and the
// end of ctx with its cause. Between two calls the terminal is in its usual mode, in which Ctrl-C sends a signal.
func (e *Editor) ReadLine(ctx context.Context, prompt string) (text string, err error) {
	restore, err := e.raw()
	if err != nil {
		return "", fmt.Errorf("prepare the terminal: %w", err)
	}
	fmt.Fprint(e.out, pastingOn)
	defer func() {
		fmt.Fprint(e.out, pastingOff)
		if failed := restore(); err == nil && failed != nil {
			err = fmt.Errorf("restore the terminal: %w", failed)
		}
	}()
	l := &editing{editor: e, screen: screen{prompt: prompt}, at: len(e.history.entries)}
	return l.edit(ctx)
}

// more reads more of the input. A read cannot be stopped: what an earlier call has waited for is what this one gets.
func (e *Editor) more(ctx context.Context) error {
	if !e.reading {
		e.reading = true
		go func() {
			data := make([]byte, 4096)
			n, err := e.in.Read(data)
			e.reads <- read{data[:n], err}
		}()
	}
	select {
	case r := <-e.reads:
		e.reading = false
		e.rest = append(e.rest, r.data...)
		if len(r.data) > 0 {
			return nil
		}
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

const chatPrompt = "> "

// lineReader is where a chat gets its lines from: a person at a terminal, or a stream.
type lineReader interface {
	// ReadLine returns the next line. Its error is io.EOF at the end, readline.ErrInterrupt for a line that was given up,
	// and otherwise what ctx ended with.
	ReadLine(ctx context.Context, prompt string) (string, error)
}

// chatInput returns where the lines of a chat come from, and whether that is a terminal. Those of a terminal are kept in a
// file.
func (a *app) chatInput(historyFile string) (in lineReader, terminal bool) {
	out, ok := a.stderr.(*os.File)
	if a.stdin != os.Stdin || !isTerminal(os.Stdin) || !ok || !isTerminal(out) || slices.Contains(a.env, "TERM=dumb") {
		return &plainLines{in: a.stdin}, false
	}
	if err := keepPrivate(historyFile); err != nil {
		a.notice("keep the history: %v; what is entered now is not kept", err)
		historyFile = ""
	}
	lines, err := editLines(out, historyFile)
	if err != nil {
		a.notice("%v; lines cannot be edited", err)
		return &plainLines{in: a.stdin}, false
	}
	return lines, true
}

// plainLines are those of a stream. A prompt is not shown.
type plainLines struct {
	in    io.Reader
	lines chan plainLine
}

type plainLine struct {
	text string
	err  error
}

// ReadLine implements lineReader.
func (p *plainLines) ReadLine(ctx context.Context, _ string) (string, error) {
	if p.lines == nil {
		p.lines = make(chan plainLine)
		// Nothing stops a read of standard input, so that this goroutine may last as long as the process.
		go p.read()
	}
	select {
	case line := <-p.lines:
		return line.text, line.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (p *plainLines) read() {
	lines := bufio.NewScanner(p.in)
	lines.Buffer(nil, maxTextBytes)
	for lines.Scan() {
		p.lines <- plainLine{text: strings.ToValidUTF8(lines.Text(), "\uFFFD")}
	}
	err := lines.Err()
	switch {
	case err == nil:
		err = io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("read standard input: a line is longer than %d bytes", maxTextBytes)
	default:
		err = fmt.Errorf("read standard input: %w", err)
	}
	for {
		p.lines <- plainLine{err: err}
	}
}

// readText reads a text: a line, and as long as a line ends with a backslash, the next one too. What follows the last of
// several backslashes counts: an even number of them stands as it is.
func readText(ctx context.Context, in lineReader) (string, error) {
	var text strings.Builder
	for prompt := chatPrompt; ; prompt = ". " {
		line, err := in.ReadLine(ctx, prompt)
		if errors.Is(err, io.EOF) && text.Len() > 0 {
			return strings.TrimSuffix(text.String(), "\n"), nil
		}
		if err != nil {
			return text.String() + line, err
		}
		rest := strings.TrimRight(line, `\`)
		if (len(line)-len(rest))%2 == 0 {
			return text.String() + line, nil
		}
		text.WriteString(line[:len(line)-1] + "\n")
	}
}

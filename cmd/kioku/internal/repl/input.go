package repl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/cmd/kioku/internal/render"
)

const chatPrompt = "> "

// lineReader reads the lines of a chat from a terminal or a stream.
type lineReader interface {
	// ReadLine returns the next line. Its error is io.EOF at the end, readline.ErrInterrupt for a line that was canceled, a
	// refusedLine for a line that is not accepted, and otherwise the cause of ctx.
	ReadLine(ctx context.Context, prompt string) (string, error)
}

// input returns the reader of a chat's lines and whether it is a terminal. Lines of a terminal are kept in historyFile.
func input(stdin io.Reader, o *render.Output, historyFile string) (in lineReader, terminal bool) {
	out, ok := o.Stderr.(*os.File)
	if stdin != os.Stdin || !render.IsTerminal(os.Stdin) || !ok || !render.IsTerminal(out) || slices.Contains(o.Env, "TERM=dumb") {
		return &plainLines{in: stdin}, false
	}
	if err := keepPrivate(historyFile); err != nil {
		o.Notice("keep the history: %v; the lines of this chat are not kept", err)
		historyFile = ""
	}
	lines, err := editLines(out, historyFile)
	if err != nil {
		o.Notice("%v; lines cannot be edited", err)
		return &plainLines{in: stdin}, false
	}
	return lines, true
}

// plainLines reads the lines of a stream. It shows no prompt.
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
		// A read of standard input cannot be canceled, so this goroutine may live as long as the process.
		go p.readLines()
	}
	select {
	case line := <-p.lines:
		return line.text, line.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (p *plainLines) readLines() {
	in := bufio.NewReader(p.in)
	for number := 1; ; number++ {
		line, err := readLine(in, number)
		if err != nil && !errors.As(err, new(refusedLine)) {
			for {
				p.lines <- plainLine{err: err}
			}
		}
		p.lines <- plainLine{text: line, err: err}
	}
}

// refusedLine is the error of a line that is not accepted. Reading can go on.
type refusedLine string

func (r refusedLine) Error() string { return string(r) }

// tailBytes is how much is kept of the end of a line that is too long; it shows whether the next line continues it.
const tailBytes = 64

// readLine returns a line without its line end. Of a line that is too long it returns only the last tailBytes.
func readLine(in *bufio.Reader, number int) (string, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if long = long || len(bytes.TrimRight(line, "\r\n")) > render.MaxTextBytes; long {
			line = append(line[:0], line[max(0, len(line)-tailBytes):]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0:
			return "", io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return "", fmt.Errorf("read standard input: %w", err)
		}
		text := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
		switch {
		case long:
			return text, refusedLine(fmt.Sprintf("line %d of standard input is longer than %d bytes; its message is not sent", number, render.MaxTextBytes))
		case !utf8.ValidString(text):
			return text, refusedLine(fmt.Sprintf("line %d of standard input is not valid UTF-8; its message is not sent", number))
		}
		return text, nil
	}
}

// readText returns a text: a line and, as long as a line ends with an odd number of backslashes, the next one. If a line is
// refused, the whole text is read and refused.
func readText(ctx context.Context, in lineReader) (string, error) {
	var text strings.Builder
	var refused error
	for prompt := chatPrompt; ; prompt = ". " {
		line, err := in.ReadLine(ctx, prompt)
		if errors.As(err, new(refusedLine)) {
			refused, err = cmp.Or(refused, err), nil
		}
		if errors.Is(err, io.EOF) && (text.Len() > 0 || refused != nil) {
			return strings.TrimSuffix(text.String(), "\n"), refused
		}
		if err != nil {
			return text.String() + line, err
		}
		rest := strings.TrimRight(line, `\`)
		if (len(line)-len(rest))%2 == 0 {
			return text.String() + line, refused
		}
		text.WriteString(line[:len(line)-1] + "\n")
	}
}

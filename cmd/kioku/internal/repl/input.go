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

// lineReader is where a chat gets its lines from: a person at a terminal, or a stream.
type lineReader interface {
	// ReadLine returns the next line. Its error is io.EOF at the end, readline.ErrInterrupt for a line that was given up,
	// a refusedLine for one that is not taken, and otherwise what ctx ended with.
	ReadLine(ctx context.Context, prompt string) (string, error)
}

// input returns where the lines of a chat come from, and whether that is a terminal. Those of a terminal are kept in a
// file.
func input(stdin io.Reader, o *render.Output, historyFile string) (in lineReader, terminal bool) {
	out, ok := o.Stderr.(*os.File)
	if stdin != os.Stdin || !render.IsTerminal(os.Stdin) || !ok || !render.IsTerminal(out) || slices.Contains(o.Env, "TERM=dumb") {
		return &plainLines{in: stdin}, false
	}
	if err := keepPrivate(historyFile); err != nil {
		o.Notice("keep the history: %v; what is entered now is not kept", err)
		historyFile = ""
	}
	lines, err := editLines(out, historyFile)
	if err != nil {
		o.Notice("%v; lines cannot be edited", err)
		return &plainLines{in: stdin}, false
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

// refusedLine is why a line is not taken, while the next one may be.
type refusedLine string

func (r refusedLine) Error() string { return string(r) }

// tailBytes of a line that is too long are kept, which tell whether the next line continues it.
const tailBytes = 64

// readLine reads a line without its end. Of one that is too long it returns the end alone.
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

// readText reads a text: a line, and as long as a line ends with a backslash, the next one too. What follows the last of
// several backslashes counts: an even number of them stands as it is. A text of which a line is refused is read to its end
// and refused as a whole.
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

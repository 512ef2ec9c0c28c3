package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ergochat/readline"
	"golang.org/x/term"
)

// chatHistory is the number of lines kept for the arrow keys.
const chatHistory = 1000

// editedLines reads lines that a person edits at the terminal, with a history. Between two lines the terminal is in its
// usual mode, in which Ctrl-C sends a signal.
type editedLines struct {
	editor  *readline.Instance
	console *console
	// line is the current text at the prompt.
	line string
}

// editLines returns a reader that shows lines on out and keeps them in historyFile, unless that is empty. It lives as long
// as the process.
func editLines(out *os.File, historyFile string) (*editedLines, error) {
	e := &editedLines{console: newConsole(os.Stdin, out)}
	var err error
	e.editor, err = readline.NewFromConfig(&readline.Config{
		Stdin: e.console, Stdout: e.console, Listener: e.pressed,
		HistoryFile: historyFile, HistoryLimit: chatHistory,
		FuncIsTerminal: func() bool { return true },
		FuncGetSize: func() (int, int) {
			width, height, err := term.GetSize(int(out.Fd()))
			if err != nil || width <= 0 || height <= 0 {
				return 80, 24
			}
			return width, height
		},
	})
	if err == nil && historyFile != "" {
		// A history that was too long has been replaced by a new file.
		err = keepPrivate(historyFile)
	}
	return e, err
}

// ReadLine implements lineReader. A line contains line ends that were pasted or entered with Alt-Enter.
func (e *editedLines) ReadLine(ctx context.Context, prompt string) (string, error) {
	defer context.AfterFunc(ctx, func() { e.editor.Close() })()
	fmt.Fprint(e.console, pastingOn, startOfLine)
	defer fmt.Fprint(e.console, pastingOff)
	e.editor.SetPrompt(prompt)
	line, err := e.editor.ReadLine()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, readline.ErrInterrupt):
		line = e.line
	}
	return strings.ReplaceAll(line, string(lineEnd), "\n"), err
}

// pressed is called at every key, and before the first one with an empty line. It inserts pasted text into the line.
func (e *editedLines) pressed(line []rune, pos int, key rune) ([]rune, int, bool) {
	e.line = string(line)
	if key != lineEnd || pos == 0 || line[pos-1] != lineEnd {
		return nil, 0, false
	}
	pasted := e.console.takePaste()
	line = slices.Replace(line, pos-1, pos, pasted...)
	e.line = string(line)
	return line, pos - 1 + len(pasted), true
}

// keepPrivate creates a file that only its owner may read, or restricts an existing one.
func keepPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

package lineedit

import (
	"context"
	"fmt"
	"io"
)

// editing is a line while it is edited.
type editing struct {
	editor *Editor
	screen screen
	buffer buffer
	// at is the entry of the history that is shown, its length for the new one, which draft keeps meanwhile.
	at    int
	draft string
}

// edit handles keys until one ends the line.
func (l *editing) edit(ctx context.Context) (string, error) {
	l.show()
	for {
		k, n := parse(l.editor.rest)
		if n == 0 {
			if err := l.editor.more(ctx); err != nil {
				return "", l.leave("", err)
			}
			continue
		}
		l.editor.rest = l.editor.rest[n:]
		switch {
		case k.kind == enter:
			return l.buffer.text(), l.leave("", nil)
		case k.kind == interrupt:
			return l.buffer.text(), l.leave("^C", ErrInterrupted)
		case k.kind == endOfInput && l.buffer.text() == "":
			return "", l.leave("", io.EOF)
		}
		l.press(k)
		// What is typed faster than it is shown, or pasted without a mark, is shown at once.
		if _, more := parse(l.editor.rest); more == 0 {
			l.show()
		}
	}
}

// press does what a key does that does not end the line.
func (l *editing) press(k key) {
	switch k.kind {
	case older:
		l.recall(l.at - 1)
	case newer:
		l.recall(l.at + 1)
	case clearScreen:
		fmt.Fprint(l.editor.out, "\x1b[2J\x1b[H")
		l.screen.row = 0
	default:
		l.buffer.press(k)
	}
}

// recall shows an entry of the history.
func (l *editing) recall(at int) {
	entries := l.editor.history.entries
	if at < 0 || at > len(entries) {
		return
	}
	if l.at == len(entries) {
		l.draft = l.buffer.text()
	}
	l.at = at
	if at == len(entries) {
		l.buffer.set(l.draft)
		return
	}
	l.buffer.set(entries[at])
}

func (l *editing) show() {
	width, height := l.editor.size()
	fmt.Fprint(l.editor.out, l.screen.draw(&l.buffer, width, height))
}

// leave shows the whole line with a mark behind it, goes to the next row and returns err.
func (l *editing) leave(mark string, err error) error {
	l.buffer.set(l.buffer.text())
	l.show()
	fmt.Fprint(l.editor.out, mark+"\r\n")
	return err
}

package repl

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"

	"kioku/cmd/kioku/internal/render"
)

const (
	// pastingOn makes a terminal enclose pasted text in pasteStart and pasteEnd; pastingOff ends that.
	pastingOn, pastingOff = "\x1b[?2004h", "\x1b[?2004l"
	pasteStart, pasteEnd  = "\x1b[200~", "\x1b[201~"

	// cursorQuery asks a terminal for the position of the cursor. cursorHome is the answer that a console gives.
	cursorQuery, cursorHome = "\x1b[6n", "\x1b[1;1R"
	// startOfLine moves the cursor to the start of the line and clears keys that were echoed before the prompt.
	startOfLine = "\r\x1b[J"

	// unusedKeys are control characters that the line editor would insert into the line. At Ctrl-Z it would wait for a shell,
	// which may not exist.
	unusedKeys = "\x00\x0f\x11\x16\x18\x1a\x1c\x1d\x1e"

	// maxKey is longer, in bytes, than any key.
	maxKey = 32

	// lineEnd replaces a line end inside an edited line and is shown as an arrow. It is a Unicode noncharacter for internal
	// use, which a console drops from its input.
	lineEnd = '\uFDD0'
)

var (
	// unfinishedKey matches the beginning of a key that sends several characters, knownKey a key that the line editor knows.
	unfinishedKey = regexp.MustCompile(`^\x1b+([\[O][0-9;]*)?$`)
	knownKey      = regexp.MustCompile(`^\x1b([bf]|[\[O][0-9;]*[A-Za-z~]|\x1b\[[CD])$`)
	// oneLineEnd turns the line ends of all systems into "\n"; lineEnds turns "\n" into lineEnd.
	oneLineEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	lineEnds   = strings.NewReplacer("\n", string(lineEnd), string(lineEnd), "")
)

// console connects a line editor with a terminal. A pasted text reaches the editor as one character, lineEnd, which the
// caller replaces with the result of takePaste. The editor never reads and writes at the same time.
type console struct {
	in  *bufio.Reader
	out io.Writer
	// rest is what Read returns next.
	rest  string
	paste []rune
}

func newConsole(in io.Reader, out io.Writer) *console {
	return &console{in: bufio.NewReader(in), out: out}
}

// Read implements io.Reader. It returns at most one key.
func (c *console) Read(b []byte) (int, error) {
	for c.rest == "" {
		r, _, err := c.in.ReadRune()
		switch {
		case err != nil:
			return 0, err
		case r == '\x1b':
			if err := c.readKey(); err != nil {
				return 0, err
			}
		case r != lineEnd && !strings.ContainsRune(unusedKeys, r) && (r < ' ' || r == '\x7f' || !render.Forbidden(r)):
			c.rest = string(r)
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// readKey reads the rest of a key that begins with an escape character.
func (c *console) readKey() error {
	key := "\x1b"
	for len(key) < maxKey && unfinishedKey.MatchString(key) {
		r, _, err := c.in.ReadRune()
		if err != nil {
			return err
		}
		key += string(r)
	}
	switch {
	case strings.HasSuffix(key, pasteStart):
		return c.readPaste()
	case key == "\x1b\r", key == "\x1b\n":
		c.insert("\n")
	case knownKey.MatchString(key):
		c.rest = key
	}
	return nil
}

// readPaste reads what is pasted.
func (c *console) readPaste() error {
	var text []byte
	for !bytes.HasSuffix(text, []byte(pasteEnd)) {
		b, err := c.in.ReadByte()
		if err != nil {
			return err
		}
		text = append(text, b)
	}
	c.insert(strings.TrimSuffix(string(text), pasteEnd))
	return nil
}

// insert makes the editor insert a text into the line.
func (c *console) insert(text string) {
	if c.paste = []rune(lineEnds.Replace(render.Clean(oneLineEnd.Replace(text)))); len(c.paste) > 0 {
		c.rest = string(lineEnd)
	}
}

// takePaste returns the text that the last lineEnd replaces, once.
func (c *console) takePaste() []rune {
	text := c.paste
	c.paste = nil
	return text
}

// Write implements io.Writer. It answers a cursorQuery itself, because not every terminal does.
func (c *console) Write(b []byte) (int, error) {
	if string(b) == cursorQuery {
		c.rest = cursorHome + c.rest
		return len(b), nil
	}
	if _, err := c.out.Write(bytes.ReplaceAll(b, []byte(string(lineEnd)), []byte("↵"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

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
	// pastingOn and pastingOff have a terminal mark what is pasted with pasteStart and pasteEnd, or not.
	pastingOn, pastingOff = "\x1b[?2004h", "\x1b[?2004l"
	pasteStart, pasteEnd  = "\x1b[200~", "\x1b[201~"

	// cursorQuery asks a terminal where the cursor is, and cursorHome says that it is where a console puts it.
	cursorQuery, cursorHome = "\x1b[6n", "\x1b[1;1R"
	// startOfLine puts the cursor there, in place of what was echoed of keys that came before the prompt.
	startOfLine = "\r\x1b[J"

	// unusedKeys are control characters that the line editor would put into the line; Ctrl-Z would have it wait for a shell,
	// and there may be none.
	unusedKeys = "\x00\x0f\x11\x16\x18\x1a\x1c\x1d\x1e"

	// maxKey is longer, in bytes, than any key.
	maxKey = 32

	// lineEnd stands for a line end in a line that is edited, and is shown as an arrow. It is a noncharacter, which programs
	// may use inside and exchange with nobody: a console lets none in.
	lineEnd = '\uFDD0'
)

var (
	// unfinishedKey is the beginning of a key that sends more than one character, and knownKey one that the line editor reads
	// as one.
	unfinishedKey = regexp.MustCompile(`^\x1b+([\[O][0-9;]*)?$`)
	knownKey      = regexp.MustCompile(`^\x1b([bf]|[\[O][0-9;]*[A-Za-z~]|\x1b\[[CD])$`)
	// oneLineEnd knows line ends of all systems; lineEnds puts their stand-in in their place.
	oneLineEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	lineEnds   = strings.NewReplacer("\n", string(lineEnd), string(lineEnd), "")
)

// console stands between a line editor and a terminal. A pasted text reaches the editor as one character, a lineEnd, in whose
// place the text that takePaste returns is to be put. The editor reads and writes by turns.
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

// readKey reads on behind an escape character.
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

// insert has the editor put a text into the line.
func (c *console) insert(text string) {
	if c.paste = []rune(lineEnds.Replace(render.Clean(oneLineEnd.Replace(text)))); len(c.paste) > 0 {
		c.rest = string(lineEnd)
	}
}

// takePaste returns the text that the last lineEnd that was read stands for. It returns it once.
func (c *console) takePaste() []rune {
	text := c.paste
	c.paste = nil
	return text
}

// Write implements io.Writer. Not every terminal says where its cursor is, and a console knows it anyway.
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

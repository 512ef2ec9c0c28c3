package lineedit

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a key does.
type kind int

const (
	nothing kind = iota
	insert
	enter
	interrupt
	endOfInput
	backspace
	deleteNext
	left
	right
	wordLeft
	wordRight
	home
	end
	older
	newer
	killLine
	killToStart
	killWord
	clearScreen
)

// key is a key that was pressed; text is what insert inserts.
type key struct {
	kind kind
	text string
}

// controls are the keys of one byte.
var controls = map[byte]kind{
	1: home, 2: left, 3: interrupt, 4: endOfInput, 5: end, 6: right, 8: backspace, '\n': enter, 11: killLine,
	12: clearScreen, '\r': enter, 14: newer, 16: older, 21: killToStart, 23: killWord, 127: backspace,
}

// sequences are what follows the escape character.
var sequences = map[string]kind{
	"[A": older, "[B": newer, "[C": right, "[D": left, "[H": home, "[F": end,
	"OA": older, "OB": newer, "OC": right, "OD": left, "OH": home, "OF": end,
	"[1~": home, "[4~": end, "[7~": home, "[8~": end, "[3~": deleteNext,
	"[1;3C": wordRight, "[1;3D": wordLeft, "[1;5C": wordRight, "[1;5D": wordLeft,
	"b": wordLeft, "f": wordRight, "\x7f": killWord,
}

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// parse reads the first key of b and returns how many bytes it has, 0 where it is not complete.
func parse(b []byte) (key, int) {
	switch {
	case len(b) == 0:
		return key{}, 0
	case b[0] == 0x1b:
		return parseEscape(b)
	case b[0] < 0x20 || b[0] == 0x7f:
		return key{kind: controls[b[0]]}, 1
	}
	return parseText(b)
}

// parseText reads characters up to the next key that is none.
func parseText(b []byte) (key, int) {
	n := 0
	for n < len(b) && b[n] >= 0x20 && b[n] != 0x7f && utf8.FullRune(b[n:]) {
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	if n == 0 {
		return key{}, 0
	}
	return key{insert, printable(string(b[:n]))}, n
}

func parseEscape(b []byte) (key, int) {
	if len(b) < 2 {
		return key{}, 0
	}
	if bytes.HasPrefix(b, pasteStart) {
		return parsePaste(b)
	}
	n := sequenceLength(b)
	switch {
	case n == 0:
		return key{}, 0
	case n == 2 && (b[1] == '\r' || b[1] == '\n'):
		return key{insert, "\n"}, n
	}
	return key{kind: sequences[string(b[1:n])]}, n
}

// sequenceLength is how many bytes the escape sequence at the beginning of b has, 0 where its end is not there yet.
func sequenceLength(b []byte) int {
	if b[1] == 0x1b {
		return 1
	}
	if b[1] != '[' && b[1] != 'O' {
		if !utf8.FullRune(b[1:]) {
			return 0
		}
		_, size := utf8.DecodeRune(b[1:])
		return 1 + size
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
		if b[i] < 0x20 || b[i] > 0x7e {
			return i
		}
	}
	return 0
}

// parsePaste reads a pasted text as one piece.
func parsePaste(b []byte) (key, int) {
	text, _, ended := bytes.Cut(b[len(pasteStart):], pasteEnd)
	if !ended {
		return key{}, 0
	}
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
	return key{insert, printable(lines)}, len(pasteStart) + len(text) + len(pasteEnd)
}

// printable returns a text without characters that control a terminal, newlines and tabs excepted.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

package lineedit

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// buffer is a text with a cursor, which stands between two characters as people see them.
type buffer struct{ before, after string }

func (b *buffer) text() string { return b.before + b.after }

// set replaces the text; the cursor stands at its end.
func (b *buffer) set(text string) { b.before, b.after = text, "" }

// press does what a key does to a text and reports whether it is such a key.
func (b *buffer) press(k key) bool {
	switch k.kind {
	case insert:
		b.before += k.text
	case backspace:
		b.before = b.before[:b.previous()]
	case deleteNext, endOfInput:
		b.after = b.after[b.next():]
	case left:
		b.moveTo(b.previous())
	case right:
		b.moveTo(len(b.before) + b.next())
	case wordLeft:
		b.moveTo(b.wordStart())
	case wordRight:
		b.moveTo(len(b.before) + wordEnd(b.after))
	case home:
		b.moveTo(0)
	case end:
		b.moveTo(len(b.text()))
	case killLine:
		b.after = ""
	case killToStart:
		b.before = ""
	case killWord:
		b.before = b.before[:b.wordStart()]
	default:
		return false
	}
	return true
}

// moveTo puts the cursor before the byte i of the text.
func (b *buffer) moveTo(i int) {
	text := b.text()
	b.before, b.after = text[:i], text[i:]
}

// previous is where the character before the cursor begins.
func (b *buffer) previous() int {
	begin, rest := 0, b.before
	for rest != "" {
		cluster, more, _, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
		if more == "" {
			return begin
		}
		begin, rest = begin+len(cluster), more
	}
	return begin
}

// next is how many bytes the character behind the cursor has.
func (b *buffer) next() int {
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(b.after, -1)
	return len(cluster)
}

// wordStart is where the word before the cursor begins.
func (b *buffer) wordStart() int {
	s := strings.TrimRightFunc(b.before, unicode.IsSpace)
	return len(strings.TrimRightFunc(s, func(r rune) bool { return !unicode.IsSpace(r) }))
}

// wordEnd is where the first word of s ends.
func wordEnd(s string) int {
	word := strings.TrimLeftFunc(s, unicode.IsSpace)
	return len(s) - len(strings.TrimLeftFunc(word, func(r rune) bool { return !unicode.IsSpace(r) }))
}

package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// byteLevel splits as GPT-2 does and then writes each byte as a visible character.
type byteLevel struct {
	prefixSpace, useRegex bool
}

// split implements splitter.
func (b byteLevel) split(pieces []piece) ([]piece, error) {
	return splitEach(pieces, func(out []piece, p piece) ([]piece, error) {
		if b.prefixSpace && !strings.HasPrefix(p.text, " ") {
			p.text = " " + p.text
		}
		if !b.useRegex {
			p.text = byteLetters(p.text)
			return append(out, p), nil
		}
		for from := 0; from < len(p.text); {
			to := from + gpt2Match(p.text[from:])
			word := p.part(from, to)
			word.text = byteLetters(word.text)
			out = append(out, word)
			from = to
		}
		return out, nil
	})
}

// letterOfByte are the characters that GPT-2 writes for bytes: the visible ones of Latin-1 stand for themselves, and the others
// have the characters from U+0100 on.
var letterOfByte = func() (letters [256]rune) {
	next := rune(0x100)
	for b := range letters {
		r := rune(b)
		if '!' <= r && r <= '~' || 0xa1 <= r && r <= 0xac || 0xae <= r {
			letters[b] = r
			continue
		}
		letters[b] = next
		next++
	}
	return letters
}()

// byteLetters returns text with each byte written as its visible character.
func byteLetters(text string) string {
	plain := true
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	out := make([]byte, 0, 2*len(text))
	for i := range len(text) {
		out = utf8.AppendRune(out, letterOfByte[text[i]])
	}
	return string(out)
}

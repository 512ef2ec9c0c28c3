package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitBytes splits as GPT-2 does, by the regular expression
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// and then writes each byte as a visible character.
func splitBytes(out []piece, p piece, prefixSpace bool) []piece {
	if prefixSpace && !strings.HasPrefix(p.text, " ") {
		p.text = " " + p.text
	}
	for from := 0; from < len(p.text); {
		to := from + gpt2Match(p.text[from:])
		word := p.part(from, to)
		word.text = byteLetters(word.text)
		out = append(out, word)
		from = to
	}
	return out
}

// class is a kind of character of the regular expression.
type class int

const (
	letter class = iota
	number
	space
	sign
)

func classOf(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return sign
}

// gpt2Match returns the length of the match that text begins with.
func gpt2Match(text string) int {
	if text[0] == '\'' {
		for _, ending := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
			if strings.HasPrefix(text[1:], ending) {
				return 1 + len(ending)
			}
		}
	}
	start := 0
	if text[0] == ' ' && len(text) > 1 {
		start = 1
	}
	r, _ := utf8.DecodeRuneInString(text[start:])
	if kind := classOf(r); kind != space {
		return start + runOf(text[start:], kind)
	}
	run := runOf(text, space)
	if run == len(text) {
		return run
	}
	_, last := utf8.DecodeLastRuneInString(text[:run])
	if run > last {
		return run - last // the last one belongs to the next word
	}
	return run
}

// runOf returns the length of the run of characters of a class that text begins with.
func runOf(text string, kind class) int {
	for i, r := range text {
		if classOf(r) != kind {
			return i
		}
	}
	return len(text)
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

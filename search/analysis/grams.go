package analysis

import "unicode/utf8"

// readSign reads an emoji, of which a flag has two letters, and returns the offset of its end.
func (a *Analyzer) readSign(start, size int) int {
	end := start + size
	if first, _ := utf8.DecodeRuneInString(a.Lower[start:]); isFlagLetter(first) {
		if second, more := utf8.DecodeRuneInString(a.Lower[end:]); isFlagLetter(second) {
			end += more
		}
	}
	a.Tokens = append(a.Tokens, Token{a.Lower[start:end], int32(start), int32(end), a.pos, Sign})
	a.pos++
	return end
}

// readGrams reads a run of characters of a script without spaces, appends its bigrams and returns the offset of its end.
func (a *Analyzer) readGrams(start int) int {
	_, size := classAt(a.Lower, start)
	prev, i := start, start+size
	for i < len(a.Lower) {
		c, size := classAt(a.Lower, i)
		if c != glyph && c != mark {
			break
		}
		a.appendGram(prev, i+size)
		prev, i = i, i+size
	}
	if prev == start {
		a.appendGram(start, i)
	}
	return i
}

func (a *Analyzer) appendGram(start, end int) {
	a.Tokens = append(a.Tokens, Token{a.folded[start:end], int32(start), int32(end), a.pos, Gram})
	a.pos++
}

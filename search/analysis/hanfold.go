package analysis

import (
	_ "embed"
	"strings"
	"unicode/utf8"
)

// hanFoldTable contains the Chinese characters that are looked up as another one.
//
//go:embed hanfold.txt
var hanFoldTable string

// The first and the last character of the Han blocks that the table covers. All have three bytes.
const firstHan, lastHan = 0x3400, 0x9FFF

// hanFold contains, for each Han character from firstHan on, the simplified character that it is looked up as.
var hanFold = func() (t [lastHan - firstHan + 1]uint16) {
	for i := range t {
		t[i] = uint16(firstHan + i)
	}
	for line := range strings.Lines(hanFoldTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		simplified, first := rune(0), true
		for _, r := range strings.TrimSpace(line) {
			if first {
				simplified, first = r, false
				continue
			}
			t[r-firstHan] = uint16(simplified)
		}
	}
	return t
}()

// FoldHan returns valid UTF-8 with simplified characters for the traditional ones, so that both find each other; each keeps
// its offset.
func FoldHan(text string) string {
	if isASCII(text) {
		return text
	}
	var folded []byte
	for i := 0; i+2 < len(text); {
		if text[i] < 0xE3 || text[i] > 0xE9 { // no Han character begins with it
			i++
			continue
		}
		r := rune(text[i]&0xF)<<12 | rune(text[i+1]&0x3F)<<6 | rune(text[i+2]&0x3F)
		if to := foldHanRune(r); to != r {
			if folded == nil {
				folded = []byte(text)
			}
			utf8.EncodeRune(folded[i:], to)
		}
		i += 3
	}
	if folded == nil {
		return text
	}
	return string(folded)
}

func foldHanRune(r rune) rune {
	if r < firstHan || r > lastHan {
		return r
	}
	return rune(hanFold[r-firstHan])
}

package analysis

import (
	"strings"
	"unicode/utf8"
)

// koreanParticles are the particles at the ends of Korean words, longest first: topic, subject, object, place, direction,
// company and the like.
var koreanParticles = strings.Fields(`
에서는 에서도 에게서 으로는 으로도 이라는 에서의 까지는 부터는 에는 에도 에서 에게 한테 으로 부터 까지 처럼 보다 하고 이랑
이나 이란 라는 께서 마다 밖에 은 는 이 가 을 를 의 에 와 과 로 도 만 랑 나
`)

// InParticle reports whether a bigram of a text in lower case is, in part at least, in a particle at the end of a Korean
// word. The word before a particle has two syllables or more: 회의 (meeting) ends in none.
func InParticle(lower string, t Token) bool {
	if t.Kind != Gram {
		return false
	}
	start, end := hangulStart(lower, int(t.Start)), hangulEnd(lower, int(t.Start))
	if int(t.End) > end {
		return false
	}
	word := lower[start:end]
	for _, particle := range koreanParticles {
		if stem, ok := strings.CutSuffix(word, particle); ok && utf8.RuneCountInString(stem) >= 2 {
			return int(t.End) > start+len(stem)
		}
	}
	return false
}

// hangulStart returns the start of the run of Korean syllables around an offset.
func hangulStart(text string, i int) int {
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if !isHangul(r) {
			break
		}
		i -= size
	}
	return i
}

// hangulEnd returns the end of the run of Korean syllables that begins at an offset.
func hangulEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isHangul(r) {
			break
		}
		i += size
	}
	return i
}

func isHangul(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 }

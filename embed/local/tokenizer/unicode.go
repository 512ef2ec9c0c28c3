package tokenizer

import "unicode"

// isWord reports whether r is matched by \w of a regular expression, by the definition of Unicode.
func isWord(r rune) bool {
	if r < 0x80 {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}

// isPunctuation reports whether r is punctuation to BERT, which counts all signs of ASCII among it.
func isPunctuation(r rune) bool {
	if r < 0x80 {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.Is(unicode.P, r)
}

// isControl reports whether BERT drops r: control and format characters and private ones.
func isControl(r rune) bool {
	if r < 0x80 {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isHan reports whether BERT takes r for a word of its own.
func isHan(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, 0x4e00 <= r && r <= 0x9fff, 0xf900 <= r && r <= 0xfaff:
		return true
	}
	return 0x20000 <= r && r <= 0x2a6df || 0x2a700 <= r && r <= 0x2b73f || 0x2b740 <= r && r <= 0x2b81f ||
		0x2b920 <= r && r <= 0x2ceaf || 0x2f800 <= r && r <= 0x2fa1f
}

// isNonspacing reports whether r takes no room, as an accent that is decomposed.
func isNonspacing(r rune) bool {
	return r >= 0x300 && unicode.Is(unicode.Mn, r)
}

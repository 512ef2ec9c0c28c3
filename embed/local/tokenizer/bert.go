package tokenizer

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer is the normalizer of BERT: control characters go, white space becomes a space, and Han characters stand alone.
type bertNormalizer struct {
	clean, spaceHan, stripAccents, lowercase bool
}

func newBertNormalizer(f normalizerFile) bertNormalizer {
	lowercase := orElse(f.Lowercase, true)
	return bertNormalizer{
		clean:        orElse(f.CleanText, true),
		spaceHan:     orElse(f.HandleHan, true),
		stripAccents: orElse(f.StripAccents, lowercase),
		lowercase:    lowercase,
	}
}

// normalize returns the normalised text.
func (n bertNormalizer) normalize(text string) string {
	out := make([]byte, 0, len(text)+len(text)/8)
	ascii := true
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			out = n.appendASCII(out, c)
			continue
		}
		ascii = false
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		out = n.appendRune(out, r)
	}
	if ascii {
		return string(out)
	}
	text = string(out)
	if n.stripAccents {
		text = withoutNonspacing(norm.NFD.String(text))
	}
	if n.lowercase {
		text = lower(text)
	}
	return text
}

// appendASCII appends a character of ASCII as it is when all is done.
func (n bertNormalizer) appendASCII(out []byte, c byte) []byte {
	switch {
	case c > ' ' && c < 0x7f:
		if n.lowercase && 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
	case !n.clean:
	case c == '\t' || c == '\n' || c == '\r':
		c = ' '
	case c != ' ':
		return out
	}
	return append(out, c)
}

// appendRune appends another character, cleaned and spaced.
func (n bertNormalizer) appendRune(out []byte, r rune) []byte {
	if n.clean {
		switch {
		case r == utf8.RuneError || isControl(r):
			return out
		case unicode.IsSpace(r):
			r = ' '
		}
	}
	if n.spaceHan && isHan(r) {
		out = append(out, ' ')
		out = utf8.AppendRune(out, r)
		return append(out, ' ')
	}
	return utf8.AppendRune(out, r)
}

// withoutNonspacing returns text without the marks that take no room, which are the accents once they are decomposed.
func withoutNonspacing(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			out = append(out, text[i])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isNonspacing(r) {
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	return string(out)
}

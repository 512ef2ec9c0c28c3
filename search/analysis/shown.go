package analysis

import (
	"html"
	"regexp"
	"strings"
)

// Limits of what is read as markup.
const (
	// maxReference is the maximum length of a reference of HTML, such as &CounterClockwiseContourIntegral;.
	maxReference = 33
	// maxSpan is the maximum length of the part of a word between two marks.
	maxSpan = 40
)

// inlineTag matches tags of HTML that do not end a word.
var inlineTag = regexp.MustCompile(`^(?i:</?(?:a|abbr|b|code|del|em|font|i|ins|mark|s|small|span|strong|sub|sup|u|wbr)(?: [^<>\n]{0,100})?/?>)+`)

// asShown returns text with its references of HTML decoded (Z&uuml;rich) and without markup inside a word: un**believ**able,
// H~2~O, CO<sub>2</sub>. It keeps the line breaks.
func asShown(text string) string {
	if !strings.ContainsAny(text, "&<*~=^") {
		return text
	}
	var b strings.Builder
	from, closing := 0, -1 // closing is the place of a mark that ends a part of a word
	for i := 0; i < len(text); {
		skip, shown := 0, ""
		switch c := text[i]; {
		case c == '&':
			skip, shown = reference(text[i:])
		case c == '<' && isWordByteAt(text, i-1):
			if n := len(inlineTag.FindString(text[i:])); n > 0 && isWordByteAt(text, i+n) {
				skip = n
			}
		case c == '*' || c == '~' || c == '=' || c == '^':
			n := markLength(text, i)
			if closing == i {
				skip = n
			} else if end := closingMark(text, i, n); end > 0 {
				skip, closing = n, end
			} else {
				i += n
				continue
			}
		}
		if skip == 0 {
			i++
			continue
		}
		b.WriteString(text[from:i])
		b.WriteString(shown)
		i += skip
		from = i
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// reference returns the length of the reference of HTML that a text begins with, and what it stands for; 0 if it begins with none.
// What could be read as markup, or as the end of a line, becomes a space.
func reference(text string) (int, string) {
	end := strings.IndexByte(text[:min(len(text), maxReference)], ';')
	if end < 2 {
		return 0, ""
	}
	shown := html.UnescapeString(text[:end+1])
	if strings.HasSuffix(shown, ";") && shown != ";" {
		return 0, ""
	}
	return end + 1, strings.Map(func(r rune) rune {
		if r < '0' || strings.ContainsRune("<=>^`{|}~", r) {
			return ' '
		}
		return r
	}, shown)
}

// markLength returns the number of equal marks at i.
func markLength(text string, i int) int {
	n := 1
	for i+n < len(text) && text[i+n] == text[i] {
		n++
	}
	return n
}

// closingMark returns where the n marks at i, which begin inside a word or before one, are closed again in the same word, if either
// of them is inside it; 0 if they are not. Digits are only spanned by a mark for small print (~2~, ^2^), since others multiply and
// compare them.
func closingMark(text string, i, n int) int {
	mark := text[i]
	small := n == 1 && (mark == '~' || mark == '^')
	if n > 3 || n == 1 && mark == '=' {
		return 0
	}
	j := i + n
	for j < len(text) && j-i-n < maxSpan && isWordByteAt(text, j) && (small || !isDigit(text[j])) {
		j++
	}
	switch {
	case j == i+n || j >= len(text) || text[j] != mark || markLength(text, j) != n:
		return 0
	case !isWordByteAt(text, i-1) && !isWordByteAt(text, j+n):
		return 0
	case !small && (isDigitAt(text, i-1) || isDigitAt(text, j+n)):
		return 0
	}
	return j
}

// isWordByteAt reports whether a letter or digit of ASCII, or a part of another character, is at i.
func isWordByteAt(text string, i int) bool {
	return i >= 0 && i < len(text) && (text[i] >= 0x80 || asciiClass[text[i]] == letter)
}

func isDigitAt(text string, i int) bool { return i >= 0 && i < len(text) && isDigit(text[i]) }

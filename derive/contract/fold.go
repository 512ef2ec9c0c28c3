package contract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"kioku/derive/vocab"
	"kioku/search/analysis"
)

// folded is a text in NFKC in which each run of white space is one blank, without white space at its ends, and where its bytes
// come from.
type folded struct {
	text string
	// starts and ends are the offsets in the real text of what each byte was made from.
	starts, ends []int
}

// fold folds a text.
func fold(s string) folded {
	var f folded
	var b strings.Builder
	blank := false
	var iter norm.Iter
	iter.InitString(norm.NFKC, s)
	for !iter.Done() {
		start := iter.Pos()
		segment := iter.Next()
		end := iter.Pos()
		for i := 0; i < len(segment); {
			r, size := utf8.DecodeRune(segment[i:])
			if unicode.IsSpace(r) {
				blank = b.Len() > 0
				i += size
				continue
			}
			if blank {
				b.WriteByte(' ')
				f.starts, f.ends = append(f.starts, start), append(f.ends, start)
				blank = false
			}
			for range size {
				f.starts, f.ends = append(f.starts, start), append(f.ends, end)
			}
			b.Write(segment[i : i+size])
			i += size
		}
	}
	f.text = b.String()
	return f
}

// find returns where the real text has what folds to needle, which is folded and not empty.
func (f folded) find(needle string) (start, end int, ok bool) {
	at := strings.Index(f.text, needle)
	if at < 0 {
		return 0, 0, false
	}
	return f.starts[at], f.ends[at+len(needle)-1], true
}

// foldName folds a text for looking up names: NFKC, lower case, and single blanks.
func foldName(s string) string {
	return strings.Join(strings.Fields(analysis.ToLower(analysis.Normalize(s))), " ")
}

// hasName reports whether a text has a name; both are folded by foldName. A name that begins or ends with a letter or digit of an
// alphabet is not found within a word: Al is not in also. A word ends where another script begins: Unity is in Unityの.
func hasName(text, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(name)
		if !joinsWords(text, start) && !joinsWords(text, end) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

// joinsWords reports whether the characters on both sides of an offset belong to one word.
func joinsWords(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return isWordLetter(before) && isWordLetter(after) && sameScript(before, after)
}

// isWordLetter reports whether a character is part of words that have blanks between them.
func isWordLetter(r rune) bool {
	if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
		return false
	}
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && r != 'ー'
}

// scripts are those whose letters touch those of others in ordinary texts, such as 유니티 and Unity.
var scripts = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Arabic, unicode.Hebrew, unicode.Devanagari}

// sameScript reports whether two characters may stand in one word. Digits and marks stand in words of any script.
func sameScript(a, b rune) bool {
	if !unicode.IsLetter(a) || !unicode.IsLetter(b) {
		return true
	}
	for _, script := range scripts {
		if unicode.Is(script, a) || unicode.Is(script, b) {
			return unicode.Is(script, a) && unicode.Is(script, b)
		}
	}
	return true
}

// sharesTerm reports whether a text has one of the terms. A text of one character that is no term of its own, such as 茶, is looked
// for as it stands.
func sharesTerm(terms map[string]bool, whole, s string) bool {
	found := vocab.ContentSet(s)
	for term := range found {
		if terms[term] {
			return true
		}
	}
	return strings.Contains(foldName(whole), foldName(s))
}

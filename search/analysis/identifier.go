package analysis

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// minIdentifier is the minimum length of an identifier in bytes: shorter ones (q3, v2, C++) name many things.
	minIdentifier = 4
	// minCapitals is the minimum number of letters of a word in capitals: shorter ones (HTTP, RANK, AIDS) name many things,
	// and as terms they equal common words.
	minCapitals = 5
	// minHex is the minimum length of a hexadecimal number without decimal digits.
	minHex = 7
	// maxSuffix is the maximum length of the suffix of a file: a longer word after a full stop begins a sentence.
	maxSuffix = 4
)

// Identifiers returns the terms that name one thing, without those that are parts of longer ones. The analyzer contains one
// text only. Identifiers are:
//
//   - words in which a digit follows a letter (a828e60), hexadecimal numbers (deadbeef), numbers other than years (4711),
//     and words in capitals (ENOENT) unless all words are in capitals;
//   - names in camelCase that begin in lower case or have three parts (memorySearch, InvalidArgumentError), but not the
//     spellings of prose (YouTube, iPhone, macOS);
//   - words and numbers with joints between them (INV-2026-0042, /users/x, alarm.contacts.primary), but not abbreviations
//     (e.g.), two numbers (10:30, 1.5, 24/7), numbers with hyphens to words (5-year-old), and two plain words with a full
//     stop or the like between them (the end.then), unless the second may be the suffix of a file (boot.txt).
func (a *Analyzer) Identifiers() []string {
	var terms []string
	capitals := a.allCapitals()
	for _, t := range a.Tokens {
		part := func(o Token) bool { return o.contains(t) && a.isIdentifier(o, capitals) }
		if a.isIdentifier(t, capitals) && !slices.ContainsFunc(a.Tokens, part) {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

// isIdentifier reports whether a token is an identifier. capitals reports that the text is in capitals, so that they
// mean nothing.
func (a *Analyzer) isIdentifier(t Token, capitals bool) bool {
	text := a.Text[t.Start:t.End]
	switch {
	case len(text) < minIdentifier:
		return false
	case t.Kind == Whole && strings.IndexFunc(text, isJoint) >= 0:
		return isJoinedName(text)
	case t.Kind == Whole:
		return isCamelName(text)
	case t.Kind != Word:
		return false
	}
	return letterThenDigit(text) || isNumber(text) && !isYear(text) || isHex(text) && len(text) >= minHex ||
		allOf(text, isUpper) && len(text) >= minCapitals && !capitals
}

// isJoinedName reports whether words with joints between them name one thing: INV-2026-0042, but not 24/7 and e.g.
func isJoinedName(text string) bool {
	words := strings.FieldsFunc(text, isJoint)
	switch {
	case !slices.ContainsFunc(words, func(word string) bool { return len(word) > 1 }):
		return false
	case !slices.ContainsFunc(words, func(word string) bool { return !isNumber(word) }):
		return len(words) > 2
	case len(words) == 1:
		return true
	case !strings.ContainsAny(text, `._@:+\`) && isNumber(words[0]) && allOf(words[1], isLower):
		return false
	case len(words) > 2 || !allOf(words[0], isLower) || !allOf(words[1], isLower):
		return true
	}
	switch text[len(words[0]) : len(text)-len(words[1])] {
	case ".":
		return len(words[1]) <= maxSuffix
	case ":", "+":
		return false
	}
	return true
}

// isCamelName reports whether a camelCase word names one thing: memorySearch, but not YouTube, iPhone and macOS.
func isCamelName(text string) bool {
	parts, first := 1, 0
	for i := 1; i < len(text); i++ {
		if isUpper(text[i]) && (!isUpper(text[i-1]) || i+1 < len(text) && isLower(text[i+1])) {
			if parts++; first == 0 {
				first = i
			}
		}
	}
	return parts > 2 || isLower(text[0]) && first > 1 && isLower(text[len(text)-1])
}

// allCapitals reports whether the text has several words, all of them in capitals.
func (a *Analyzer) allCapitals() bool {
	words := 0
	for _, t := range a.Tokens {
		if t.IsLeaf() {
			if !allOf(a.Text[t.Start:t.End], isUpper) {
				return false
			}
			words++
		}
	}
	return words > 1
}

// contains reports whether other is a proper part of t.
func (t Token) contains(other Token) bool {
	return t.Start <= other.Start && other.End <= t.End && t.End-t.Start > other.End-other.Start
}

// letterThenDigit reports whether a digit follows a letter: a828e60, but not 20th and 500ml.
func letterThenDigit(word string) bool {
	letter := false
	for _, r := range word {
		if letter && unicode.IsDigit(r) {
			return true
		}
		letter = unicode.IsLetter(r)
	}
	return false
}

func isJoint(r rune) bool { return r < 0x80 && asciiClass[r] == joint }

func isNumber(text string) bool { return allOf(text, isDigit) }

// isYear reports whether a number is a year like 1987 and 2026.
func isYear(number string) bool {
	return len(number) == 4 && (number[:2] == "19" || number[:2] == "20")
}

func isHex(text string) bool {
	return allOf(text, func(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' })
}

// allOf reports whether f is true for each byte of a text.
func allOf(text string, f func(byte) bool) bool {
	for i := range len(text) {
		if !f(text[i]) {
			return false
		}
	}
	return true
}

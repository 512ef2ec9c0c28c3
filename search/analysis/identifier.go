package analysis

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// minIdentifier is the least bytes of an identifier: shorter ones (q3, v2, C++) name many things.
	minIdentifier = 4
	// minCapitals is the least letters of a word in capitals: shorter ones (HTTP, RANK, AIDS) name many things, and terms
	// do not tell them from common words.
	minCapitals = 5
	// minHex is the least bytes of a hexadecimal number that may be without digits.
	minHex = 7
	// maxSuffix is the most letters of a file's type: longer ones behind a full stop begin a sentence.
	maxSuffix = 4
)

// Identifiers returns the terms of the texts that name one thing, without those that are parts of longer ones. These are:
//
//   - words in which a digit follows a letter (a828e60), hexadecimal numbers (deadbeef), numbers that are no year (4711),
//     and words in capitals (ENOENT) unless all words are;
//   - names in camelCase that begin in lower case or have three parts (memorySearch, InvalidArgumentError), but not what
//     prose writes so (YouTube, iPhone, macOS);
//   - words and numbers that signs join (INV-2026-0042, /users/x, alarm.contacts.primary), but not abbreviations (e.g.),
//     two numbers (10:30, 1.5, 24/7), numbers that hyphens join to words (5-year-old), and two plain words with a full
//     stop or the like between them (the end.then), unless the second may be the type of a file (boot.txt).
func (a *Analyzer) Identifiers() []string {
	var terms []string
	shouted := a.allCapitals()
	for _, t := range a.Tokens {
		part := func(o Token) bool { return o.contains(t) && a.isIdentifier(o, shouted) }
		if a.isIdentifier(t, shouted) && !slices.ContainsFunc(a.Tokens, part) {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

// names reports whether a token is an identifier; shouted says that capitals mean nothing.
func (a *Analyzer) isIdentifier(t Token, shouted bool) bool {
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
		allOf(text, isUpper) && len(text) >= minCapitals && !shouted
}

// joinedName tells INV-2026-0042 from 24/7 and e.g.
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

// camelName tells memorySearch from YouTube, iPhone and macOS.
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

// shouted reports whether the text is several words, all of them in capitals.
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

// around reports whether t is longer than other and holds it.
func (t Token) contains(other Token) bool {
	return t.Start <= other.Start && other.End <= t.End && t.End-t.Start > other.End-other.Start
}

// letterThenDigit tells a828e60 from 20th and 500ml.
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

// isYear tells 1987 and 2026 from other numbers.
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

package analysis

import "strings"

// Limits of numbers in groups.
const (
	// minGrouped and maxGrouped are the minimum and maximum number of digits of a number in groups: fewer are rather several
	// numbers, more are a row of a table.
	minGrouped, maxGrouped = 7, 34
	// initials is the minimum number of letters of an abbreviation with full stops that is looked up without them: U.S. is not us.
	initials = 3
)

// joinedTerm returns the term of a word in lower case that is made of others: without its hyphens and slashes, and stemmed, so that
// follow-up and followup are one; of initials (s.l.a) without the full stops. Others, such as
// foo_bar, v2.3.0, 24/7, 2026-01-20 and a web address, stay as they are written.
func (a *Analyzer) joinedTerm(word string) string {
	switch {
	case isInitials(word):
		return a.term(strings.ReplaceAll(word, ".", ""), false)
	case strings.ContainsAny(word, `._@:+#\`), word[0] == '/':
		return Unaccented(word)
	}
	plain := joints.Replace(word)
	if isNumber(plain) && (len(plain) < minGrouped || isDay(word)) {
		return word
	}
	return a.term(plain, false)
}

// isDay reports whether numbers with joints have the form of a day: chunks are found by their day as it is written.
func isDay(word string) bool { return len(word) == 10 && word[4] == '-' && word[7] == '-' }

var joints = strings.NewReplacer("-", "", "/", "")

// isInitials reports whether a word is made of single letters with full stops between them.
func isInitials(word string) bool {
	if len(word) < 2*initials-1 || len(word)%2 == 0 {
		return false
	}
	for i := range len(word) {
		if i%2 == 0 && !isLower(word[i]) || i%2 == 1 && word[i] != '.' {
			return false
		}
	}
	return true
}

// groupedNumber is a number in groups that are words of their own: a telephone number, an IBAN, an amount. Its end is 0 if there
// is none.
type groupedNumber struct {
	start, end int
	pos        int32
	digits     string
}

// beginNumber looks for a number in groups that begins with the word at i.
func (a *Analyzer) beginNumber(i int) {
	if i < a.number.end {
		return
	}
	if c := a.Lower[i]; isDigit(c) {
		a.number = a.groupsAt(i)
	} else if isLower(c) && i+4 < len(a.Lower) && a.Lower[i+4] == ' ' {
		a.number = a.accountAt(i)
	}
}

// endNumber appends the number in groups if it ends with the word before i.
func (a *Analyzer) endNumber(i int) {
	if n := a.number; n.end > 0 && i >= n.end {
		a.Tokens = append(a.Tokens, Token{n.digits, int32(n.start), int32(n.end), n.pos, Compound})
		a.number = groupedNumber{}
	}
}

// groupsAt returns the number whose first group of digits is at i: groups of three with commas or apostrophes between them, without
// the decimals (1,299.00), or at least minGrouped digits with spaces, brackets or joints between the groups (+49 (170) 555-0199).
func (a *Analyzer) groupsAt(i int) groupedNumber {
	s := a.Lower
	first := digitsEnd(s, i)
	if first-i <= 3 {
		if end := thousandsEnd(s, first); end > first {
			return groupedNumber{i, end, a.pos, onlyDigits(s[i:end])}
		}
	}
	end, digits, spaced := first, first-i, false
	for {
		next := end
		for next < len(s) && next < end+2 && strings.IndexByte(" ()-./", s[next]) >= 0 {
			next++
		}
		to := digitsEnd(s, next)
		if next == end || to == next || isLetterAt(s, to) || to < len(s) && (s[to] == ':' || s[to] == ',') && isDigitAt(s, to+1) {
			break
		}
		spaced = spaced || strings.ContainsAny(s[end:next], " ()")
		digits += to - next
		end = to
	}
	if !spaced || digits < minGrouped || digits > maxGrouped {
		return groupedNumber{}
	}
	return groupedNumber{i, end, a.pos, onlyDigits(s[i:end])}
}

// thousandsEnd returns the end of the groups of three digits at i, and i if there are none.
func thousandsEnd(s string, i int) int {
	end := i
	for end < len(s) && (s[end] == ',' || s[end] == '\'') && digitsEnd(s, end+1) == end+4 && !isLetterAt(s, end+4) {
		end += 4
	}
	return end
}

// accountAt returns the IBAN at i: two letters and two digits, and groups of four letters or digits, of which the last may be
// shorter. Most of its characters are digits.
func (a *Analyzer) accountAt(i int) groupedNumber {
	s := a.Lower
	if !isLower(s[i+1]) || !isDigit(s[i+2]) || !isDigit(s[i+3]) {
		return groupedNumber{}
	}
	end, digits := i+4, 2
	for end < len(s) && s[end] == ' ' && end-i < 42 {
		to := end + 1
		for to < len(s) && to < end+5 && asciiClass[s[to]] == letter {
			to++
		}
		if to == end+1 || isLetterAt(s, to) {
			break
		}
		group := len(onlyDigits(s[end:to]))
		if to < end+5 && group < to-end-1 {
			break // a word that follows
		}
		digits += group
		end = to
	}
	if digits < 12 {
		return groupedNumber{}
	}
	return groupedNumber{i, end, a.pos, strings.ReplaceAll(s[i:end], " ", "")}
}

// digitsEnd returns the end of the digits at i.
func digitsEnd(s string, i int) int {
	for isDigitAt(s, i) {
		i++
	}
	return i
}

// onlyDigits returns the digits of a text.
func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

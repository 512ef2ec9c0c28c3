package secrets

import (
	"math"
	"regexp"
	"strings"
	"unicode"
)

// placeholder matches values that stand for a secret in instructions.
var placeholder = regexp.MustCompile(`(?i)example|placeholder|changeme|change[_-]me|replace|redacted|dummy|foobar|xxx|\*\*\*|\.\.\.|…|1234567|^123456|abcdef|` +
	`password|passwd|secret|[-_]token$|^(?:my|your|test)(?:[-_]|(?:api|app|auth|key|pass|pwd|token|user)|\d*$)|your[-_]|getenv|environ|process\.env|^\$|^%|^<|^\{|\(|\$\{|\{\{|::|->`)

// isReal reports whether a secret of a known shape is no example of one.
func isReal(secret string) bool {
	return !strings.Contains(secret, "EXAMPLE") && !strings.Contains(strings.ToLower(secret), "xxxxx")
}

// longestRun matches what a key has between its dashes.
var longestRun = regexp.MustCompile(`[A-Za-z0-9]{12,}`)

// isMixed reports whether a word that begins as keys of a provider do goes on as they do, with digits and letters in no order. The
// names of things have words between their dashes.
func isMixed(secret string) bool {
	if !isReal(secret) || !strings.ContainsFunc(secret, unicode.IsDigit) && entropy(secret) < 4 {
		return false
	}
	return longestRun.MatchString(secret) && entropy(secret) >= 3
}

// isRandom reports whether the value of a name that keys have is a key: long, with letters and digits in no order, and none of the
// texts that stand for one in instructions.
func isRandom(value string) bool {
	if len(value) < 12 || placeholder.MatchString(value) || looksLikePath(value) {
		return false
	}
	digit, letter := strings.ContainsFunc(value, unicode.IsDigit), strings.ContainsFunc(value, unicode.IsLetter)
	return digit && letter && entropy(value) >= 3
}

// digits matches a run of digits.
var digits = regexp.MustCompile(`[0-9]+`)

// isPlainlyRandom reports whether a word that follows the name of a key, with nothing between but a blank, is a key: random, and with
// digits at several places, which the names of things do not have.
func isPlainlyRandom(word string) bool {
	return isRandom(word) && longestRun.MatchString(word) && len(digits.FindAllString(word, -1)) >= 3 && entropy(word) >= 3.3
}

// isPassword reports whether the value of a name that passwords have is a password. People choose short ones, but a plain word
// is more often what a sentence goes on with.
func isPassword(value string) bool {
	if placeholder.MatchString(value) || looksLikePath(value) || strings.HasPrefix(value, "[") {
		return false
	}
	classes := 0
	for _, in := range []func(rune) bool{unicode.IsLower, unicode.IsUpper, unicode.IsDigit, isSign} {
		if strings.ContainsFunc(value, in) {
			classes++
		}
	}
	digit := strings.ContainsFunc(value, unicode.IsDigit)
	only := strings.Trim(value, "0123456789") == ""
	return len(value) >= 6 && (only || digit && classes >= 2 || classes >= 3) && entropy(value) >= 2.2
}

// isSign reports whether a character of a password is neither a letter nor a digit, and none that joins words.
func isSign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./,:", r)
}

// looksLikePath reports whether a value names a file, a place in a program or an address.
func looksLikePath(value string) bool {
	return strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "~/") || strings.Contains(value, "://") ||
		strings.Count(value, "/") > 2
}

// entropy returns the Shannon entropy of the characters of a text in bits a character.
func entropy(s string) float64 {
	count, n := map[rune]float64{}, 0.0
	for _, r := range s {
		count[r]++
		n++
	}
	sum := 0.0
	for _, c := range count {
		sum -= c / n * math.Log2(c/n)
	}
	return sum
}

// hasKeyData reports whether a private key is more than its first line, so that a text may speak of one.
func hasKeyData(key string) bool {
	_, body, _ := strings.Cut(strings.TrimPrefix(key, "-----"), "-----")
	return longestRun.MatchString(body)
}

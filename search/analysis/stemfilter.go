package analysis

import "slices"

// stemFilter has a bit for each pair of letters with which a word begins whose stem may be one of some terms. A stem begins
// with the first two letters of its word, or is only the first letter, has i for y (ays, ai) or no e of an umlaut (uebung,
// ubung), or the word is irregular.
type stemFilter [1 << 10]uint64

func newStemFilter(terms []string) *stemFilter {
	f := new(stemFilter)
	for _, t := range terms {
		for second := range 1 << 8 {
			if b := byte(second); len(t) == 1 || b == t[1] || b == 'y' && t[1] == 'i' || b == 'e' && isUmlaut(t[0]) {
				f.add(t[0], b)
			}
		}
	}
	for form, stem := range irregularStems {
		if slices.Contains(terms, stem) {
			f.add(form[0], form[1])
		}
	}
	return f
}

// isUmlaut reports whether a letter followed by an e is an umlaut in German.
func isUmlaut(c byte) bool { return c == 'a' || c == 'o' || c == 'u' }

func (f *stemFilter) add(a, b byte) {
	word, bit := stemBit(a, b)
	f[word] |= bit
}

// admits reports whether the stem of a word of two letters or more may be one of the terms.
func (f *stemFilter) admits(word string) bool {
	i, bit := stemBit(word[0], word[1])
	return f[i]&bit != 0
}

// stemBit returns the bit for a pair of letters, and the index of the word that contains it.
func stemBit(a, b byte) (word int, bit uint64) {
	pair := int(a)<<8 | int(b)
	return pair >> 6, 1 << (pair & 63)
}

package analysis

// stemFilter has a bit for each pair of letters with which a word begins whose stem may be one of some terms. A stem begins
// with the first two letters of its word, or is only the first letter, or has i for y (ays, ai).
type stemFilter [1 << 10]uint64

// stemNothing admits no word.
var stemNothing stemFilter

func newStemFilter(terms []string) *stemFilter {
	f := new(stemFilter)
	for _, t := range terms {
		for second := range 1 << 8 {
			if b := byte(second); len(t) == 1 || b == t[1] || b == 'y' && t[1] == 'i' {
				word, bit := stemBit(t[0], b)
				f[word] |= bit
			}
		}
	}
	return f
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

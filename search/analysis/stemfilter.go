package analysis

// stemFilter contains the beginnings of some terms. A stem begins with the first two letters of its word, or is only the
// first letter, or has i for y (ays, ai). So the stem of a word with another beginning is none of the terms.
type stemFilter struct {
	one [4]uint64    // a bit for each letter that is a term
	two [1024]uint64 // a bit for each pair of letters that a term begins with
}

// stemNothing admits no word.
var stemNothing stemFilter

func newStemFilter(terms []string) *stemFilter {
	f := new(stemFilter)
	for _, t := range terms {
		f.admit(t)
	}
	return f
}

// admit makes f admit the words whose stem may be the term.
func (f *stemFilter) admit(term string) {
	if len(term) == 1 {
		f.one[term[0]>>6] |= 1 << (term[0] & 63)
		return
	}
	f.admitPair(term[0], term[1])
	if term[1] == 'i' {
		f.admitPair(term[0], 'y')
	}
}

func (f *stemFilter) admitPair(a, b byte) {
	pair := uint16(a)<<8 | uint16(b)
	f.two[pair>>6] |= 1 << (pair & 63)
}

// admits reports whether the stem of a word of two letters or more may be one of the terms.
func (f *stemFilter) admits(word string) bool {
	pair := uint16(word[0])<<8 | uint16(word[1])
	return f.one[word[0]>>6]&(1<<(word[0]&63)) != 0 || f.two[pair>>6]&(1<<(pair&63)) != 0
}

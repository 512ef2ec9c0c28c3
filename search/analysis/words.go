package analysis

import (
	"encoding/binary"
	"slices"
)

// EncodeTerms returns terms as bytes, which ReadTerms reads: each of them once, ascending, as the number of bytes that it shares with
// the one before, its other bytes, and how often it occurs.
func EncodeTerms(terms []string) []byte {
	sorted := slices.Sorted(slices.Values(terms))
	b := make([]byte, 0, 8*len(sorted))
	before := ""
	for len(sorted) > 0 {
		term, n := sorted[0], 1
		for n < len(sorted) && sorted[n] == term {
			n++
		}
		sorted = sorted[n:]
		shared := 0
		for shared < min(len(before), len(term)) && before[shared] == term[shared] {
			shared++
		}
		b = binary.AppendUvarint(b, uint64(shared))
		// The size of the rest, doubled, plus 1 if a count follows.
		if rest := uint64(len(term)-shared) << 1; n == 1 {
			b = binary.AppendUvarint(b, rest)
		} else {
			b = binary.AppendUvarint(binary.AppendUvarint(b, rest|1), uint64(n))
		}
		b = append(b, term[shared:]...)
		before = term
	}
	return b
}

// ReadTerms calls f with each of the terms that EncodeTerms wrote, and how often it occurs. f does not keep the term. ReadTerms returns
// false if the bytes are damaged.
func ReadTerms(b []byte, f func(term []byte, count int)) bool {
	var buffer [2 * maxTermBytes]byte
	term := buffer[:0]
	for len(b) > 0 {
		shared, b1, ok1 := readUvarint(b)
		size, b2, ok2 := readUvarint(b1)
		count, rest, ok3 := 1, b2, true
		if size&1 == 1 {
			count, rest, ok3 = readUvarint(b2)
		}
		if size >>= 1; !ok1 || !ok2 || !ok3 || shared > len(term) || size == 0 || size > len(rest) {
			return false
		}
		if shared < len(term) && rest[0] <= term[shared] { // each term comes once, after the one before
			return false
		}
		term = append(term[:shared], rest[:size]...)
		b = rest[size:]
		f(term, count)
	}
	return true
}

// maxNumber is the largest number of encoded terms that is believed.
const maxNumber = 1 << 28

// readUvarint reads a varint, and returns the rest of b.
func readUvarint(b []byte) (n int, rest []byte, ok bool) {
	v, size := binary.Uvarint(b)
	if size <= 0 || v > maxNumber {
		return 0, nil, false
	}
	return int(v), b[size:], true
}

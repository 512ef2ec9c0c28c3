package postings

// appendVarint appends a number as a varint of SQLite: big-endian, seven bits a byte. Numbers have at most 56 bits.
func appendVarint(b []byte, n uint64) []byte {
	if n < 0x80 {
		return append(b, byte(n))
	}
	var digits [8]byte
	i := len(digits) - 1
	digits[i] = byte(n & 0x7f)
	for n >>= 7; n > 0; n >>= 7 {
		i--
		digits[i] = byte(n&0x7f) | 0x80
	}
	return append(b, digits[i:]...)
}

// varint returns the number at the start of b and its size in bytes, 0 if it is cut off.
func varint(b []byte) (n uint64, size int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	for i, c := range b {
		if i == 8 {
			return n<<8 | uint64(c), 9
		}
		n = n<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// skipVarints returns the size of the first n varints of b.
func skipVarints(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); i++ {
		if b[i] < 0x80 {
			n--
		}
	}
	return i
}

// countVarints returns the number of varints in b.
func countVarints(b []byte) int {
	n := 0
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}

package prune

import (
	"math/bits"

	"kioku/llm"
)

const (
	// charsPerToken is how many characters a token of the window counts for.
	charsPerToken = 4
	// imageChars is what an image counts for.
	imageChars = 8000
)

// extraChars is what a message counts for beside its text.
func extraChars(m *llm.Message) int {
	n := len(m.Images) * imageChars
	for i := range m.ToolCalls {
		n += count(m.ToolCalls[i].Input)
	}
	return n
}

// count returns the characters of a text: its code points, which are the bytes that do not continue another one. All texts
// of a conversation are counted in every pruning, so it looks at eight bytes at once.
func count[T ~string | ~[]byte](text T) int {
	const low = 0x0101010101010101
	n, i := len(text), 0
	for ; i+8 <= len(text); i += 8 {
		// A byte continues another one where its highest bit is set and the next is not.
		word := eight(text[i : i+8])
		n -= bits.OnesCount64(word >> 7 &^ (word >> 6) & low)
	}
	for ; i < len(text); i++ {
		if text[i]&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

// eight returns eight bytes as one number.
func eight[T ~string | ~[]byte](b T) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

package chunker

import (
	"hash/maphash"
	"strings"
)

const (
	// remembered is how many pieces a counter remembers; it is a power of two.
	remembered = 1 << 15
	// maxPiece is the longest piece that is remembered, in bytes.
	maxPiece = 128
)

// memory holds the numbers of tokens of pieces, each in one place, where a later one takes its place. Most pieces of a
// text are words that it has had before.
type memory struct {
	seed  maphash.Seed
	slots []slot
}

type slot struct {
	piece  string
	tokens int
}

func newMemory() *memory {
	return &memory{seed: maphash.MakeSeed(), slots: make([]slot, remembered)}
}

// place returns where a piece is, if it is remembered at all.
func (m *memory) place(piece string) *slot {
	return &m.slots[maphash.String(m.seed, piece)%remembered]
}

// set remembers a piece in a place. What it keeps is a copy, lest it keep whole texts alive.
func (s *slot) set(piece string, tokens int) {
	s.piece, s.tokens = strings.Clone(piece), tokens
}

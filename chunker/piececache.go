package chunker

import (
	"hash/maphash"
	"strings"
)

const (
	// cacheSlots is the number of pieces that a cache stores; it is a power of two.
	cacheSlots = 1 << 15
	// maxCachedPiece is the length in bytes of the longest piece that is stored.
	maxCachedPiece = 128
)

// pieceCache stores the numbers of tokens of pieces. Each piece has one slot, in which it replaces another. Most pieces of
// a text are words that occur in it more than once.
type pieceCache struct {
	seed  maphash.Seed
	slots []cacheSlot
}

type cacheSlot struct {
	piece  string
	tokens int
}

func newPieceCache() *pieceCache {
	return &pieceCache{seed: maphash.MakeSeed(), slots: make([]cacheSlot, cacheSlots)}
}

// slot returns the slot of a piece, which may contain another piece.
func (c *pieceCache) slot(piece string) *cacheSlot {
	return &c.slots[maphash.String(c.seed, piece)%cacheSlots]
}

// store replaces the piece of a slot. It copies the piece, which otherwise keeps a whole text in memory.
func (s *cacheSlot) store(piece string, tokens int) {
	s.piece, s.tokens = strings.Clone(piece), tokens
}

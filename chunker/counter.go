package chunker

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// counter counts tokens for one goroutine.
type counter struct {
	*vocabulary
	merger merger
	// cache of pieces, nil in a counter that is used only once.
	cache *pieceCache
}

func newCounter(v *vocabulary) *counter {
	return &counter{vocabulary: v, merger: merger{vocabulary: v}, cache: newPieceCache()}
}

// count returns the number of tokens of text that tiktoken counts without special tokens.
func (c *counter) count(text string) int {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	total := 0
	for len(text) > 0 {
		n := c.piece(text)
		total += c.countPiece(text[:n])
		text = text[n:]
	}
	return total
}

// countPiece returns the number of tokens of a piece.
func (c *counter) countPiece(piece string) int {
	if c.cache == nil || len(piece) > maxCachedPiece {
		return c.mergePiece(piece)
	}
	slot := c.cache.slot(piece)
	if slot.piece != piece {
		slot.store(piece, c.mergePiece(piece))
	}
	return slot.tokens
}

// mergePiece returns the number of tokens of a piece without the cache.
func (c *counter) mergePiece(piece string) int {
	if c.rank(piece) != noRank {
		return 1
	}
	return c.merger.count(piece)
}

// fit returns the largest number of tokens that text has in three forms, and whether it is within the budget: as it is,
// without its final newline (the end of a chunk), and without the space before it (a chunk that starts within a line). If
// it is not within the budget, the number is only a bound.
func (c *counter) fit(text string, budget int) (int, bool) {
	if len(text)/c.longest > budget {
		return budget + 1, false
	}
	tokens := c.count(text)
	// A text has no more tokens than bytes, so that short ones fit in every form.
	if len(text) <= budget || tokens > budget {
		return tokens, tokens <= budget
	}
	bare := strings.TrimSuffix(text, "\n")
	if len(bare) < len(text) {
		tokens = max(tokens, c.count(bare))
	}
	if inner := strings.TrimLeftFunc(bare, unicode.IsSpace); len(inner) < len(bare) {
		tokens = max(tokens, c.count(inner))
	}
	return tokens, tokens <= budget
}

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
	// pieces of the counted texts, nil in a counter that is used but once.
	pieces *memory
}

func newCounter(v *vocabulary) *counter {
	return &counter{vocabulary: v, merger: merger{vocabulary: v}, pieces: newMemory()}
}

// count returns the number of tokens of text, as tiktoken counts them when it knows no special tokens.
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

func (c *counter) countPiece(piece string) int {
	if c.pieces == nil || len(piece) > maxPiece {
		return c.tokens(piece)
	}
	at := c.pieces.place(piece)
	if at.piece != piece {
		at.set(piece, c.tokens(piece))
	}
	return at.tokens
}

// tokens counts those of a piece.
func (c *counter) tokens(piece string) int {
	if c.rank(piece) != noRank {
		return 1
	}
	return c.merger.count(piece)
}

// fit returns the most tokens that text has as it is, as a chunk without its final newline, or as a chunk that starts
// within a line and so without the space before it; and whether they are within the budget. Only where they are is the
// number sure to be right.
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

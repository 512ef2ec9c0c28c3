package tokenizer

import "sync"

// piece is a part of a text: an added token, or text that is still to be tokenized.
type piece struct {
	text string
	// id is the id of an added token, -1 for text.
	id int32
	// first is true for the piece that the text begins with.
	first bool
}

// piecePool keeps the lists of pieces of texts for the next ones.
var piecePool = sync.Pool{New: func() any { return new([]piece) }}

// splitter splits pieces of text into smaller ones. It keeps added tokens as they are, and may return empty pieces.
type splitter interface {
	split(pieces []piece) ([]piece, error)
}

// splitEach replaces each piece of text by what cut appends for it.
func splitEach(pieces []piece, cut func(out []piece, p piece) ([]piece, error)) ([]piece, error) {
	out := *piecePool.Get().(*[]piece)
	for _, p := range pieces {
		if p.id >= 0 {
			out = append(out, p)
			continue
		}
		if p.text == "" {
			continue
		}
		var err error
		if out, err = cut(out, p); err != nil {
			return nil, err
		}
	}
	pieces = pieces[:0]
	piecePool.Put(&pieces)
	return out, nil
}

// part returns the piece of p from byte from to byte to.
func (p piece) part(from, to int) piece {
	return piece{text: p.text[from:to], id: -1, first: p.first && from == 0}
}

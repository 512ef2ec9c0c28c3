package chunker

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestWhatACounterRemembersChangesNoCount counts more pieces than are remembered, again and again, and compares with a
// counter that remembers nothing.
func TestWhatACounterRemembersChangesNoCount(t *testing.T) {
	for name, vocabulary := range encodings {
		c, plain := newCounter(vocabulary()), counter{vocabulary: vocabulary(), merger: merger{vocabulary: vocabulary()}}
		r := rand.New(rand.NewPCG(3, 4))
		for range 4 * remembered {
			piece := "@" + strconv.FormatInt(r.Int64N(2*remembered), 36) + "日本"[:3*r.IntN(3)]
			if got, want := c.countPiece(piece), plain.countPiece(piece); got != want {
				t.Fatalf("%s: %q has %d tokens, want %d", name, piece, got, want)
			}
		}
		if len(c.pieces.slots) != remembered {
			t.Errorf("%s: the memory has %d places", name, len(c.pieces.slots))
		}
	}
}

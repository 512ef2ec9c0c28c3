package chunker

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// It counts more pieces than the cache has slots, again and again.
func TestCounterCountsAlikeWithAndWithoutCache(t *testing.T) {
	t.Parallel()
	for name, vocabulary := range encodings {
		c, plain := newCounter(vocabulary()), counter{vocabulary: vocabulary(), merger: merger{vocabulary: vocabulary()}}
		r := rand.New(rand.NewPCG(3, 4))
		for range 4 * cacheSlots {
			piece := "@" + strconv.FormatInt(r.Int64N(2*cacheSlots), 36) + "日本"[:3*r.IntN(3)]
			if got, want := c.countPiece(piece), plain.countPiece(piece); got != want {
				t.Fatalf("%s: %q has %d tokens, want %d", name, piece, got, want)
			}
		}
		if len(c.cache.slots) != cacheSlots {
			t.Errorf("%s: the cache has %d slots", name, len(c.cache.slots))
		}
	}
}

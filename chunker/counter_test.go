package chunker

import (
	"strconv"
	"testing"
)

func TestACounterRemembersNoMoreThanItsLimit(t *testing.T) {
	c := newCounter(encodings["cl100k_base"]())
	for i := range maxRemembered + 100 {
		c.countPiece("@" + strconv.FormatInt(int64(i), 36) + "@")
	}
	if n := len(c.pieces); n == 0 || n > maxRemembered {
		t.Errorf("remembers %d pieces, want 1 to %d", n, maxRemembered)
	}
}

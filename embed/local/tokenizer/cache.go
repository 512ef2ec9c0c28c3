package tokenizer

import (
	"hash/maphash"
	"sync/atomic"
)

// Size of the cache of words: most words of a text are among the few thousand words used most.
const (
	cachedWords    = 1 << 15
	maxCachedBytes = 48
)

// wordCache remembers the tokens of words, each in the one place that its hash chooses, so that a newer word takes the place of
// an older one and the size is bounded. It is safe for concurrent use.
type wordCache struct {
	seed  maphash.Seed
	words []atomic.Pointer[cachedWord]
}

// cachedWord never changes once it is in the cache.
type cachedWord struct {
	word string
	ids  []int32
}

func newWordCache() *wordCache {
	return &wordCache{seed: maphash.MakeSeed(), words: make([]atomic.Pointer[cachedWord], cachedWords)}
}

// appendTokens appends the tokens of word, from the cache or from m.
func (c *wordCache) appendTokens(ids []int32, word string, m model) ([]int32, error) {
	if len(word) > maxCachedBytes {
		return m.appendTokens(ids, word)
	}
	place := &c.words[maphash.String(c.seed, word)%cachedWords]
	if w := place.Load(); w != nil && w.word == word {
		return append(ids, w.ids...), nil
	}
	before := len(ids)
	ids, err := m.appendTokens(ids, word)
	if err == nil {
		w := &cachedWord{word: string([]byte(word)), ids: append([]int32(nil), ids[before:]...)}
		place.Store(w)
	}
	return ids, err
}

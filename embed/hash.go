package embed

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/bits"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	hashDims    = 256
	maxHashDims = 16384
)

// Weights of the features. They are integers so that the sum depends neither on the order of the features nor on how a
// processor rounds: the same text has the same vector everywhere, bit for bit.
const (
	wordWeight      = 4
	trigramWeight   = 1
	characterWeight = 1
	bigramWeight    = 3
)

// hasher replaces a model by signed feature hashing of words and character n-grams (Weinberger et al., 2009). Texts that share
// words or parts of words are near each other, whatever they mean. It needs no network and embeds documents and queries
// alike.
type hasher struct{ dims int }

func newHasher(cfg Config) (provider, Space, error) {
	dims := cfg.Dims
	if dims == 0 {
		dims = hashDims
		if _, err := fmt.Sscanf(cfg.Model, "hash-%d", &dims); err != nil && cfg.Model != "" {
			return nil, Space{}, fmt.Errorf("hash: unknown model %q: leave it empty, or hash-256 with any other number of dimensions", cfg.Model)
		}
	}
	if dims < 1 || dims > maxHashDims {
		return nil, Space{}, fmt.Errorf("hash: %d dimensions: choose 1 to %d", dims, maxHashDims)
	}
	model := fmt.Sprintf("hash-%d", dims)
	if cfg.Model != "" && cfg.Model != model {
		return nil, Space{}, fmt.Errorf("hash: model %q with %d dimensions: leave the model empty, or use %s", cfg.Model, dims, model)
	}
	return hasher{dims}, Space{Provider: "hash", Model: model, Dims: dims}, nil
}

// embed implements provider.
func (h hasher) embed(ctx context.Context, _ textKind, texts []string) ([]Embedding, error) {
	out := make([]Embedding, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i].Vector = h.vector(t)
	}
	return out, nil
}

// vector adds each feature with a sign to one of the dimensions; the feature's hash determines both. A repeated feature
// counts with the logarithm of its number. The vector is never zero.
func (h hasher) vector(text string) []float32 {
	sums := make([]int, h.dims)
	zero := true
	for f, n := range features(text) {
		hash, value := hashOf(f.text), f.weight*bits.Len(uint(n))
		if hash>>63 == 1 {
			value = -value
		}
		sums[hash%uint64(h.dims)] += value
	}
	vec := make([]float32, h.dims)
	for i, n := range sums {
		vec[i] = float32(n)
		zero = zero && n == 0
	}
	if zero { // without letters, or with features that cancel out
		vec[hashOf(text)%uint64(h.dims)] = 1
	}
	return vec
}

// hashOf returns FNV-1a with the finalizer of MurmurHash3: the high bits of FNV are too similar for short texts.
func hashOf(text string) uint64 {
	f := fnv.New64a()
	f.Write([]byte(text))
	x := f.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// feature is a part of a text and how much it counts.
type feature struct {
	text   string
	weight int
}

// features counts the words of text and their trigrams, and the characters and bigrams of scripts that are written without
// spaces.
func features(text string) map[feature]int {
	counts := map[feature]int{}
	var word, spaceless []rune
	flush := func() {
		countWord(counts, word)
		countSpaceless(counts, spaceless)
		word, spaceless = word[:0], spaceless[:0]
	}
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case isSpaceless(r):
			if len(word) > 0 {
				flush()
			}
			spaceless = append(spaceless, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if len(spaceless) > 0 {
				flush()
			}
			word = append(word, r)
		default:
			flush()
		}
	}
	flush()
	return counts
}

// isSpaceless reports whether r belongs to a script without spaces between words. The marks ー 々 〆 belong to the kana and Han
// around them.
func isSpaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー' || r == '々' || r == '〆'
}

func countWord(counts map[feature]int, word []rune) {
	if len(word) == 0 {
		return
	}
	counts[feature{"w" + string(word), wordWeight}]++
	framed := []rune("<" + string(word) + ">")
	for i := 0; i+3 <= len(framed); i++ {
		counts[feature{"t" + string(framed[i:i+3]), trigramWeight}]++
	}
}

func countSpaceless(counts map[feature]int, run []rune) {
	for i := range run {
		counts[feature{"c" + string(run[i]), characterWeight}]++
		if i > 0 {
			counts[feature{"b" + string(run[i-1:i+1]), bigramWeight}]++
		}
	}
}

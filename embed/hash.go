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

// Weights of the features. They are integers so that the sum does not depend on the order of the features nor on
// how a processor rounds: the same text has the same vector everywhere, bit for bit.
const (
	wordWeight      = 4
	trigramWeight   = 1
	characterWeight = 1
	bigramWeight    = 3
)

// hasher is a stand-in for a model: signed feature hashing of words and character n-grams (Weinberger et al.,
// 2009). Texts that share words or parts of them are near each other; it knows nothing of meaning. It needs no
// network and embeds documents and queries alike.
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

func (h hasher) embed(ctx context.Context, _ textKind, texts []string) ([][]float32, error) {
	vecs := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vecs[i] = h.vector(t)
	}
	return vecs, nil
}

// vector adds each feature with a sign to one of the dimensions, both drawn from the feature's hash. A feature
// that occurs often counts with the logarithm of its number. The vector is never zero.
func (h hasher) vector(text string) []float32 {
	sums := make([]int, h.dims)
	zero := true
	add := func(sum uint64, n int) {
		i := sum % uint64(h.dims)
		if sum>>63 == 1 {
			n = -n
		}
		sums[i] += n
	}
	for f, n := range features(text) {
		add(hashOf(f.text), f.weight*bits.Len(uint(n)))
	}
	vec := make([]float32, h.dims)
	for i, n := range sums {
		vec[i] = float32(n)
		zero = zero && n == 0
	}
	if zero { // no letter in it, or all cancelled out
		vec[hashOf(text)%uint64(h.dims)] = 1
	}
	return vec
}

// hashOf is FNV-1a, finished as in MurmurHash3: FNV leaves the high bits of short texts too much alike.
func hashOf(text string) uint64 {
	f := fnv.New64a()
	f.Write([]byte(text))
	x := f.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

type feature struct {
	text   string
	weight int
}

// features counts the words of text and their trigrams, and the characters and bigrams of scripts that are
// written without spaces.
func features(text string) map[feature]int {
	counts := map[feature]int{}
	var word, run []rune
	flush := func() {
		addWord(counts, word)
		addRun(counts, run)
		word, run = word[:0], run[:0]
	}
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case spaceless(r):
			if len(word) > 0 {
				flush()
			}
			run = append(run, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if len(run) > 0 {
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

// spaceless reports whether r belongs to a script that does not part words by spaces. The marks ー 々 〆 belong
// to the kana and Han around them.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー' || r == '々' || r == '〆'
}

func addWord(counts map[feature]int, word []rune) {
	if len(word) == 0 {
		return
	}
	counts[feature{"w" + string(word), wordWeight}]++
	framed := []rune("<" + string(word) + ">")
	for i := 0; i+3 <= len(framed); i++ {
		counts[feature{"t" + string(framed[i:i+3]), trigramWeight}]++
	}
}

func addRun(counts map[feature]int, run []rune) {
	for i := range run {
		counts[feature{"c" + string(run[i]), characterWeight}]++
		if i > 0 {
			counts[feature{"b" + string(run[i-1:i+1]), bigramWeight}]++
		}
	}
}

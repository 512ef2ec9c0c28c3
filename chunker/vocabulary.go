package chunker

import (
	"fmt"
	"sync"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

// encodings contains the vocabularies that Options.Encoding may name. The first call loads one from the binary, in a tenth
// of a second and some ten megabytes; the whole process shares it.
var encodings = map[string]func() *vocabulary{
	"cl100k_base": sync.OnceValue(func() *vocabulary { return loadVocabulary("cl100k_base", cl100kPiece) }),
	"o200k_base":  sync.OnceValue(func() *vocabulary { return loadVocabulary("o200k_base", o200kPiece) }),
}

// vocabulary is one tiktoken encoding. It is read only.
type vocabulary struct {
	// ranks of the tokens; low ranks are joined first.
	ranks map[string]int
	// pairs contains the ranks of two-byte tokens, which are used most, and noRank for other pairs.
	pairs []int32
	// longest is the length of the longest token in bytes: a text of n bytes has at least n/longest tokens.
	longest int
	// piece returns the length of the first piece of a text that is not empty. Tokens never span two pieces.
	piece func(text string) int
}

// loadVocabulary loads an embedded vocabulary. Only a broken build can make it fail, hence the panic.
func loadVocabulary(name string, piece func(string) int) *vocabulary {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		panic(fmt.Sprintf("load embedded vocabulary %s: %v", name, err))
	}
	v := &vocabulary{ranks: ranks, pairs: make([]int32, 1<<16), piece: piece}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	for token, rank := range ranks {
		v.longest = max(v.longest, len(token))
		if len(token) == 2 {
			v.pairs[int(token[0])<<8|int(token[1])] = int32(rank)
		}
	}
	return v
}

// rank returns the rank of a token, noRank for other texts.
func (v *vocabulary) rank(text string) int32 {
	if len(text) == 2 {
		return v.pairs[int(text[0])<<8|int(text[1])]
	}
	if len(text) > v.longest {
		return noRank
	}
	if rank, ok := v.ranks[text]; ok {
		return int32(rank)
	}
	return noRank
}

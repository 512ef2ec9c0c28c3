package chunker

import (
	"fmt"
	"sync"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

// encodings are the vocabularies that Options.Encoding may name. Each is loaded from the binary itself when it is
// first asked for, and then shared by the whole process: it takes a tenth of a second and some ten megabytes.
var encodings = map[string]func() *vocabulary{
	"cl100k_base": sync.OnceValue(func() *vocabulary { return load("cl100k_base", cl100kPiece) }),
	"o200k_base":  sync.OnceValue(func() *vocabulary { return load("o200k_base", o200kPiece) }),
}

// vocabulary is one tiktoken encoding. It is read only.
type vocabulary struct {
	// ranks of the tokens; merges with a low rank come first.
	ranks map[string]int
	// pairs holds the ranks of two-byte tokens, the ones asked for most; noRank where there is none.
	pairs []int32
	// longest token in bytes: a text of n bytes has at least n/longest tokens.
	longest int
	// piece returns the length of the first piece of a text that is not empty. Tokens never span two pieces.
	piece func(text string) int
}

// load reads an embedded vocabulary. Only a broken build can make it fail, hence the panic.
func load(name string, piece func(string) int) *vocabulary {
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

// rank of a token, noRank if text is none.
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

package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// bpe is byte-pair encoding (Sennrich et al., 2016): the characters of a word, of which the neighbours that the merge of the
// lowest rank names are joined until no merge is left.
type bpe struct {
	vocabulary
	merges       map[pair]merge
	bytes        [256]int32
	unk          int32 // -1 if there is none
	unkToken     string
	byteFallback bool
	fuseUnknown  bool
	// atSpaces is true if no merge joins anything with a "▁" after it, so that a text can be cut there.
	atSpaces bool
}

// pair is two neighbouring tokens.
type pair struct{ left, right int32 }

// merge is the token that a pair becomes. Merges of a lower rank come first.
type merge struct{ rank, id int32 }

type bpeFile struct {
	Vocab        map[string]int64 `json:"vocab"`
	Merges       []mergeFile      `json:"merges"`
	Unk          *string          `json:"unk_token"`
	Prefix       *string          `json:"continuing_subword_prefix"`
	Suffix       *string          `json:"end_of_word_suffix"`
	FuseUnk      *bool            `json:"fuse_unk"`
	ByteFallback *bool            `json:"byte_fallback"`
	IgnoreMerges *bool            `json:"ignore_merges"`
}

// mergeFile is a merge in tokenizer.json: "left right" or ["left", "right"].
type mergeFile [2]string

// UnmarshalJSON implements json.Unmarshaler.
func (m *mergeFile) UnmarshalJSON(data []byte) error {
	var parts []string
	if len(data) > 0 && data[0] == '"' {
		var line string
		if err := json.Unmarshal(data, &line); err != nil {
			return err
		}
		parts = strings.Split(line, " ")
	} else if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("the merge %.60s does not name two tokens", data)
	}
	*m = mergeFile(parts)
	return nil
}

func newBPE(f bpeFile) (model, error) {
	if orElse(f.Prefix, "") != "" || orElse(f.Suffix, "") != "" || orElse(f.IgnoreMerges, false) {
		return nil, errors.New("a BPE with continuing_subword_prefix, end_of_word_suffix or ignore_merges is not supported")
	}
	vocab, err := newVocabulary(f.Vocab)
	if err != nil {
		return nil, err
	}
	b := &bpe{
		vocabulary:   vocab,
		merges:       make(map[pair]merge, len(f.Merges)),
		bytes:        vocab.byteTokens(),
		unk:          -1,
		unkToken:     orElse(f.Unk, ""),
		byteFallback: orElse(f.ByteFallback, false),
		fuseUnknown:  orElse(f.FuseUnk, false),
	}
	if id, ok := vocab[b.unkToken]; ok {
		b.unk = id
	}
	_, b.atSpaces = vocab[spaceMark]
	for rank, m := range f.Merges {
		if err := b.insert(int32(rank), m[0], m[1]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// spaceMark is how SentencePiece writes a space.
const spaceMark = "▁"

// insert adds the merge of two tokens.
func (b *bpe) insert(rank int32, left, right string) error {
	joined := left + right
	var ids [3]int32
	for i, token := range [3]string{left, right, joined} {
		id, ok := b.vocabulary[token]
		if !ok {
			return fmt.Errorf("the merge %.40q %.40q: %.80q is not in the vocabulary", left, right, token)
		}
		ids[i] = id
	}
	b.merges[pair{ids[0], ids[1]}] = merge{rank, ids[2]}
	if strings.Contains(strings.TrimLeft(joined, spaceMark), spaceMark) {
		b.atSpaces = false
	}
	return nil
}

// unknown implements model.
func (b *bpe) unknown() string { return b.unkToken }

// maxMerged is the number of tokens up to which a word is merged as a whole, because the time grows with its square. No word of a
// language is as long.
const maxMerged = 4096

// appendTokens implements model.
func (b *bpe) appendTokens(ids []int32, word string) ([]int32, error) {
	start := len(ids)
	ids = b.appendCharacters(ids, word)
	characters := ids[start:]
	ids = ids[:start]
	for part := range slices.Chunk(characters, maxMerged) {
		ids = append(ids, part[:b.merge(part)]...)
	}
	return ids, nil
}

// appendCharacters appends the tokens of the single characters of word.
func (b *bpe) appendCharacters(ids []int32, word string) []int32 {
	pending := false // an unknown character that is not appended yet
	for i, r := range word {
		size := utf8.RuneLen(r)
		s := word[i : i+size]
		if id, ok := b.vocabulary[s]; ok {
			if pending {
				ids = append(ids, b.unk)
				pending = false
			}
			ids = append(ids, id)
			continue
		}
		if b.byteFallback {
			var ok bool
			if ids, ok = appendBytes(ids, s, &b.bytes); ok {
				continue
			}
		}
		if b.unk < 0 {
			continue
		}
		if pending && !b.fuseUnknown {
			ids = append(ids, b.unk)
		}
		pending = true
	}
	if pending {
		ids = append(ids, b.unk)
	}
	return ids
}

// merge merges tokens in place and returns how many are left.
func (b *bpe) merge(tokens []int32) int {
	var few [32]merge
	merges := slices.Grow(few[:0], len(tokens))[:len(tokens)] // of each token with the next one
	none := merge{rank: -1}
	at := func(i int) merge {
		if m, ok := b.merges[pair{tokens[i], tokens[i+1]}]; ok {
			return m
		}
		return none
	}
	n := len(tokens)
	for i := range n - 1 {
		merges[i] = at(i)
	}
	for {
		best := -1
		for i, m := range merges[:max(n-1, 0)] {
			if m.rank >= 0 && (best < 0 || m.rank < merges[best].rank) {
				best = i
			}
		}
		if best < 0 {
			return n
		}
		tokens[best] = merges[best].id
		copy(tokens[best+1:n], tokens[best+2:n])
		copy(merges[best:n-2], merges[best+1:n-1])
		n--
		if best > 0 {
			merges[best-1] = at(best - 1)
		}
		if best < n-1 {
			merges[best] = at(best)
		}
	}
}

package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// wordPiece is the model of BERT: the longest token that a word begins with, then the longest continuation, and so on.
type wordPiece struct {
	vocabulary
	// continued are the tokens that continue a word, without the prefix that marks them.
	continued map[string]int32
	unk       int32
	unkToken  string
	maxRunes  int
	longest   int // of a token, in bytes
}

type wordPieceFile struct {
	Vocab    map[string]int64 `json:"vocab"`
	Unk      *string          `json:"unk_token"`
	Prefix   *string          `json:"continuing_subword_prefix"`
	MaxRunes *int             `json:"max_input_chars_per_word"`
}

func newWordPiece(f wordPieceFile) (model, error) {
	vocab, err := newVocabulary(f.Vocab)
	if err != nil {
		return nil, err
	}
	w := &wordPiece{vocabulary: vocab, continued: map[string]int32{}, unkToken: orElse(f.Unk, "[UNK]"), maxRunes: orElse(f.MaxRunes, 100)}
	var ok bool
	if w.unk, ok = vocab[w.unkToken]; !ok {
		return nil, fmt.Errorf("the vocabulary lacks %q, the token for unknown words", w.unkToken)
	}
	prefix := orElse(f.Prefix, "##")
	for token, id := range vocab {
		w.longest = max(w.longest, len(token))
		if len(token) >= len(prefix) && token[:len(prefix)] == prefix {
			w.continued[token[len(prefix):]] = id
		}
	}
	return w, nil
}

// unknown implements model.
func (w *wordPiece) unknown() string { return w.unkToken }

// appendTokens implements model.
func (w *wordPiece) appendTokens(ids []int32, word string) ([]int32, error) {
	if id, ok := w.vocabulary[word]; ok && len(word) <= w.maxRunes {
		return append(ids, id), nil
	}
	if utf8.RuneCountInString(word) > w.maxRunes {
		return append(ids, w.unk), nil
	}
	before := len(ids)
	tokens := map[string]int32(w.vocabulary)
	for from := 0; from < len(word); tokens = w.continued {
		to := min(len(word), from+w.longest)
		for ; to > from; to-- {
			if id, ok := tokens[word[from:to]]; ok {
				ids = append(ids, id)
				break
			}
		}
		if to == from {
			return append(ids[:before], w.unk), nil
		}
		from = to
	}
	return ids, nil
}

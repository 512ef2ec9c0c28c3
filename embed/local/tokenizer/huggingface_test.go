package tokenizer_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"kioku/embed/local/tokenizer"
)

// recorded is testdata/huggingface.json.
type recorded struct {
	Texts      []string    `json:"texts"`
	Pairs      [][2]string `json:"pairs"`
	Tokenizers []struct {
		Name      string          `json:"name"`
		Tokenizer json.RawMessage `json:"tokenizer"`
		IDs       [][]int32       `json:"ids"`
		Pairs     []recordedPair  `json:"pairs"`
		Truncated []recordedPair  `json:"truncated"`
	} `json:"tokenizers"`
}

type recordedPair struct {
	IDs   []int32 `json:"ids"`
	Types []int32 `json:"types"`
}

func readRecorded(tb testing.TB) recorded {
	tb.Helper()
	content, err := os.ReadFile("testdata/huggingface.json")
	if err != nil {
		tb.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(content, &r); err != nil {
		tb.Fatal(err)
	}
	return r
}

// Token ids are equal to those that Hugging Face's library gives: for WordPiece, Unigram, byte-level and Llama BPE with their
// normalisers, pre-tokenizers, added tokens and templates.
func TestTokenizerGivesTheIDsOfHuggingFace(t *testing.T) {
	t.Parallel()
	r := readRecorded(t)
	for _, c := range r.Tokenizers {
		t.Run(c.Name, func(t *testing.T) {
			tok, err := tokenizer.Parse(c.Tokenizer)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time words come from the cache
				for i, text := range r.Texts {
					e, err := tok.Encode(text, 0)
					if err != nil || !slices.Equal(e.IDs, c.IDs[i]) {
						t.Errorf("%q has the ids %v (%v), want %v", text, e.IDs, err, c.IDs[i])
					}
				}
			}
			for i, pair := range r.Pairs {
				comparePair(t, tok, pair, 0, c.Pairs[i])
				comparePair(t, tok, pair, 6, c.Truncated[i])
			}
		})
	}
}

// comparePair compares the tokens of a pair of texts, of at most limit tokens.
func comparePair(t *testing.T, tok *tokenizer.Tokenizer, pair [2]string, limit int, want recordedPair) {
	t.Helper()
	e, err := tok.EncodePair(pair[0], pair[1], limit)
	types := e.Types
	if types == nil {
		types = make([]int32, len(e.IDs))
	}
	if err != nil || !slices.Equal(e.IDs, want.IDs) || !slices.Equal(types, want.Types) {
		t.Errorf("%q to %d tokens: ids %v of types %v (%v), want %v of types %v", pair, limit, e.IDs, types, err, want.IDs, want.Types)
	}
}

// A truncated text keeps its special tokens, and says that it was truncated.
func TestEncodeTruncatesBetweenTheSpecialTokens(t *testing.T) {
	t.Parallel()
	for _, c := range readRecorded(t).Tokenizers {
		tok, err := tokenizer.Parse(c.Tokenizer)
		if err != nil {
			t.Fatal(err)
		}
		const text = "notes are kept as plain text and found by their words"
		whole, err := tok.Encode(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for limit := 4; limit <= len(whole.IDs); limit++ {
			e, err := tok.Encode(text, limit)
			if err != nil || len(e.IDs) != limit || e.Truncated != (limit < len(whole.IDs)) {
				t.Errorf("%s: to %d tokens: %v, truncated: %v, error %v", c.Name, limit, e.IDs, e.Truncated, err)
			}
			if e.IDs[0] != whole.IDs[0] || c.Name == "bert uncased" && e.IDs[limit-1] != whole.IDs[len(whole.IDs)-1] {
				t.Errorf("%s: to %d tokens %v, of %v", c.Name, limit, e.IDs, whole.IDs)
			}
		}
	}
}

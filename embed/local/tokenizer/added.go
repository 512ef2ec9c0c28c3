package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in a text before the model sees it.
type addedToken struct {
	ID         int64  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// addedTokens are the added tokens of a tokenizer: those that are looked for in the text as it is, and those that are looked
// for once it is normalised.
type addedTokens struct{ literal, normalized tokenSet }

// tokenSet finds tokens in a text. The zero value finds none.
type tokenSet struct {
	tokens map[string]addedToken
	// lengths are the lengths in bytes of the tokens that begin with a byte, the longest first.
	lengths [256][]int
}

// insert adds a token that is written as content. An empty one, which would be found everywhere, is not added.
func (s *tokenSet) insert(content string, token addedToken) {
	if content == "" {
		return
	}
	if s.tokens == nil {
		s.tokens = map[string]addedToken{}
	}
	if _, ok := s.tokens[content]; ok {
		return
	}
	s.tokens[content] = token
	lengths := &s.lengths[content[0]]
	if !slices.Contains(*lengths, len(content)) {
		*lengths = append(*lengths, len(content))
		slices.SortFunc(*lengths, func(a, b int) int { return b - a })
	}
}

// cut appends the tokens in text and the pieces between them. Of several tokens at one place the longest counts.
func (s *tokenSet) cut(out []piece, text string) []piece {
	if len(s.tokens) == 0 {
		if text == "" {
			return out
		}
		return append(out, piece{text: text, id: -1, first: true})
	}
	done := 0
	for i := 0; i < len(text); {
		token, length := s.at(text[i:])
		if length == 0 {
			i++
			continue
		}
		from, to := i, i+length
		i = to
		if token.SingleWord && (endsWithWord(text[:from]) || beginsWithWord(text[to:])) {
			continue
		}
		if token.LStrip {
			from = len(strings.TrimRightFunc(text[:from], unicode.IsSpace))
		}
		if token.RStrip {
			to = len(text) - len(strings.TrimLeftFunc(text[to:], unicode.IsSpace))
		}
		if from > done {
			out = append(out, piece{text: text[done:from], id: -1, first: done == 0})
		}
		out = append(out, piece{id: int32(token.ID)})
		done = max(done, to)
	}
	if done < len(text) {
		out = append(out, piece{text: text[done:], id: -1, first: done == 0})
	}
	return out
}

// at returns the longest token that text begins with and its length; the length is 0 if there is none.
func (s *tokenSet) at(text string) (addedToken, int) {
	for _, n := range s.lengths[text[0]] {
		if n <= len(text) {
			if token, ok := s.tokens[text[:n]]; ok {
				return token, n
			}
		}
	}
	return addedToken{}, 0
}

func endsWithWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return text != "" && isWord(r)
}

func beginsWithWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text != "" && isWord(r)
}

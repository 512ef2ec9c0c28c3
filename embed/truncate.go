package embed

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"kioku/internal/modelhttp"
	"kioku/internal/text"
)

const (
	// maxCuts is how often a text that is too long is shortened: at most to a 64th, if every cut halves it.
	maxCuts = 6
	// minBeginning is the shortest beginning in estimated tokens that stands for a text. A server that refuses less does not mean
	// the length.
	minBeginning = 64
	// cutMargin is the part of the length that should just fit which is kept, since tokens are not spread evenly.
	cutMargin = 0.95
	// wordEnd is the part of a cut text from which on it ends with a word rather than in the middle of one.
	wordEnd = 0.8
)

// embedBeginning embeds the longest beginning found of a text that is too long for the model. The error is the refusal of the
// last one, or of a provider that fails.
func (b *bisector) embedBeginning(ctx context.Context, whole string, refusal error) (Embedding, error) {
	head := whole
	for range maxCuts {
		head = beginning(head, fitting(refusal))
		if text.EstimateTokens(head) < minBeginning {
			break
		}
		vecs, err := b.client.request(ctx, b.kind, []string{head})
		if err == nil {
			b.accepted.Store(true)
			return Embedding{Vector: vecs[0], Bytes: len(head)}, nil
		}
		if refusal = err; modelhttp.ClassOf(err) != modelhttp.Overflow {
			break
		}
	}
	return Embedding{}, refusal
}

// fitting returns the part of a refused text that should fit into the model: by the numbers in the refusal, or else half of it.
func fitting(refusal error) float64 {
	e, ok := errors.AsType[*modelhttp.Error](refusal)
	if ok && e.Tokens.Limit > 0 && e.Tokens.Asked > e.Tokens.Limit {
		return cutMargin * float64(e.Tokens.Limit) / float64(e.Tokens.Asked)
	}
	return 0.5
}

// beginning returns a part of a text, up to the end of a word if there is one near, without splitting a character.
func beginning(s string, part float64) string {
	head := text.HeadBytes(s, int(part*float64(len(s))))
	if i := strings.LastIndexFunc(head, unicode.IsSpace); i >= int(wordEnd*float64(len(head))) {
		head = head[:i]
	}
	return strings.TrimSpace(head)
}

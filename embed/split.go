package embed

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"kioku/internal/modelhttp"
	"kioku/internal/text"
)

// harmless is a text that is refused only by a provider that refuses every text.
const harmless = "memory"

// embed embeds texts with one request, or with more if the provider refuses them together: it halves them until the refused
// ones are sent singly. With an error it returns the outcomes of the first texts only.
func (c *Client) embed(ctx context.Context, kind textKind, texts []string) ([]Embedding, error) {
	out, err := c.request(ctx, kind, texts)
	if !modelhttp.ClassOf(err).Refusal() {
		return out, err
	}
	select {
	case c.searching <- struct{}{}:
		defer func() { <-c.searching }()
		return c.halve(ctx, kind, texts, err)
	case <-ctx.Done():
		return nil, c.ended(ctx)
	}
}

// halve embeds texts that the provider refused together. One list is halved at a time: if a provider refuses everything, it does
// so for one list, and the circuit is open for the others.
func (c *Client) halve(ctx context.Context, kind textKind, texts []string, refusal error) (out []Embedding, err error) {
	if len(texts) == 1 {
		e, err := c.embedRefused(ctx, kind, texts[0], refusal)
		if err != nil {
			return nil, err
		}
		return []Embedding{e}, nil
	}
	half := (len(texts) + 1) / 2
	for _, part := range [][]string{texts[:half], texts[half:]} {
		embedded, err := c.request(ctx, kind, part)
		if modelhttp.ClassOf(err).Refusal() {
			embedded, err = c.halve(ctx, kind, part, err)
		}
		if out = append(out, embedded...); err != nil {
			return out, err
		}
	}
	if !slices.ContainsFunc(out, func(e Embedding) bool { return e.Err != nil }) { // it was their number, not one of them
		c.mu.Lock()
		c.items = min(c.items, half)
		c.mu.Unlock()
	}
	return out, nil
}

// embedRefused returns the outcome for a single text that was refused: the vector of its beginning if it is too long, and
// otherwise its own error, unless the provider refuses even a harmless text. Without this check a wrong setting would look like
// thousands of bad texts.
func (c *Client) embedRefused(ctx context.Context, kind textKind, whole string, refusal error) (Embedding, error) {
	if kind == document && modelhttp.ClassOf(refusal) == modelhttp.Overflow {
		e, err := c.embedBeginning(ctx, whole, refusal)
		if !modelhttp.ClassOf(err).Refusal() {
			return e, err
		}
		refusal = err
	}
	if !c.accepted.Load() {
		_, err := c.request(ctx, kind, []string{harmless})
		if modelhttp.ClassOf(err).Refusal() {
			err = modelhttp.Errorf(modelhttp.Misconfigured, "%w (it refuses every text: check the model and its settings)", refusal)
			c.circuit.record(c.cfg.Now(), err)
			err = unavailable(err)
		}
		if err != nil {
			return Embedding{}, err
		}
	}
	c.accepted.Store(false)
	return Embedding{Err: refusal}, nil
}

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
func (c *Client) embedBeginning(ctx context.Context, whole string, refusal error) (Embedding, error) {
	head := whole
	for range maxCuts {
		head = beginning(head, fitting(refusal))
		if text.EstimateTokens(head) < minBeginning {
			break
		}
		out, err := c.request(ctx, document, []string{head})
		if err == nil {
			return Embedding{Vector: out[0].Vector, Bytes: len(head)}, nil
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

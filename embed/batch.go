package embed

import (
	"context"
	"slices"

	"kioku/internal/modelhttp"
	"kioku/internal/text"
)

// Documents embeds texts that are to be found. It returns one Embedding a text, in their order; equal texts are embedded
// once and share a vector. A text that the provider refuses has its own Err and does not affect the others. Of a text that is too
// long for the model, the beginning is embedded, cut at the end of a word if one is near; Embedding.Bytes tells its length. The error is
// for all texts: ErrDisabled, the cause of ctx, or one that wraps ErrUnavailable; the slice then still contains what was
// embedded before, and the error as the Err of every other text.
func (c *Client) Documents(ctx context.Context, texts []string) ([]Embedding, error) {
	embedded, err := c.embed(ctx, document, texts)
	return embedded, c.leaveOldSpace(embedded, err)
}

// fetch embeds texts, request by request, and calls onProgress with the index and the outcome of each text as soon as it is
// known. After an error some texts have no outcome.
func (c *Client) fetch(ctx context.Context, kind textKind, texts []string, onProgress func(i int, e Embedding)) error {
	b := bisector{client: c, kind: kind}
	for start := 0; start < len(texts); {
		end := start + c.batchLen(kind, texts[start:])
		embedded, err := b.embed(ctx, texts[start:end])
		for i, e := range embedded {
			onProgress(start+i, e)
		}
		if err != nil {
			return err
		}
		start = end
	}
	return nil
}

// batchLen returns how many of the first texts to send in one request, at least one. A provider that has failed is probed
// with one.
func (c *Client) batchLen(kind textKind, texts []string) int {
	if c.circuit.isOpen() {
		return 1
	}
	c.mu.Lock()
	items := c.items
	c.mu.Unlock()
	most, tokens := c.cfg.BatchTokens, 0
	if left, bounded := c.budget.left(kind); bounded {
		most = min(most, left)
	}
	for i, t := range texts[:min(items, len(texts))] {
		tokens += text.EstimateTokens(t)
		if i > 0 && tokens > most {
			return i
		}
	}
	return min(items, len(texts))
}

// harmless is a text that is refused only by a provider that refuses every text.
const harmless = "memory"

// bisector embeds a list of texts and finds those that the provider refuses.
type bisector struct {
	client *Client
	kind   textKind
	// accepted is true if a text was accepted since the last refusal of a single one.
	accepted bool
}

// embed embeds texts with one request, or with more if the provider refuses them together: it halves them until the refused
// ones are sent singly. With an error it returns the outcomes of the first texts only.
func (b *bisector) embed(ctx context.Context, texts []string) ([]Embedding, error) {
	vecs, err := b.client.request(ctx, b.kind, texts)
	switch {
	case err == nil:
		b.accepted = true
		out := make([]Embedding, len(vecs))
		for i, v := range vecs {
			out[i].Vector = v
		}
		return out, nil
	case !modelhttp.ClassOf(err).Refusal():
		return nil, err
	case len(texts) == 1:
		return b.refused(ctx, texts[0], err)
	}
	half := (len(texts) + 1) / 2
	out, err := b.embed(ctx, texts[:half])
	if err != nil {
		return out, err
	}
	rest, err := b.embed(ctx, texts[half:])
	out = append(out, rest...)
	if err == nil && !slices.ContainsFunc(out, func(e Embedding) bool { return e.Err != nil }) {
		b.client.limitItems(half) // it was their number, not one of them
	}
	return out, err
}

// refused returns the outcome for a single text that was refused: the vector of its beginning if it is too long, and otherwise
// its own error, unless the provider refuses even a harmless text. Without this check a wrong setting would look like thousands
// of bad texts.
func (b *bisector) refused(ctx context.Context, whole string, refusal error) ([]Embedding, error) {
	if b.kind == document && modelhttp.ClassOf(refusal) == modelhttp.Overflow {
		e, err := b.embedBeginning(ctx, whole, refusal)
		if err == nil {
			return []Embedding{e}, nil
		}
		if refusal = err; !modelhttp.ClassOf(err).Refusal() {
			return nil, err
		}
	}
	if !b.accepted {
		_, err := b.client.request(ctx, b.kind, []string{harmless})
		if err != nil && !modelhttp.ClassOf(err).Refusal() {
			return nil, err
		}
		if err != nil {
			err = modelhttp.Errorf(modelhttp.Misconfigured, "%w (it refuses every text: check the model and its settings)", refusal)
			b.client.circuit.record(b.client.cfg.Now(), err)
			return nil, unavailable(err)
		}
	}
	b.accepted = false
	return []Embedding{{Err: refusal}}, nil
}

// limitItems makes later requests carry at most n texts.
func (c *Client) limitItems(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = min(c.items, n)
}

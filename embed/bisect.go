package embed

import (
	"context"
	"slices"
	"sync/atomic"

	"kioku/internal/modelhttp"
)

// harmless is a text that is refused only by a provider that refuses every text.
const harmless = "memory"

// bisector embeds lists of texts, also several at a time, and finds the texts that the provider refuses.
type bisector struct {
	client *Client
	kind   textKind
	// accepted is true if a text was accepted since the last refusal of a single one.
	accepted atomic.Bool
	// searching contains a token while the refused texts of one list are found. A provider that refuses everything then does so
	// for one list, and the circuit is open for the others.
	searching chan struct{}
}

func (c *Client) newBisector(kind textKind) *bisector {
	return &bisector{client: c, kind: kind, searching: make(chan struct{}, 1)}
}

// embed embeds texts with one request, or with more if the provider refuses them together: it halves them until the refused
// ones are sent singly. With an error it returns the outcomes of the first texts only.
func (b *bisector) embed(ctx context.Context, texts []string) ([]Embedding, error) {
	if m, ok := b.client.provider.(*localModel); ok {
		return b.client.embedLocally(ctx, m, b.kind, texts)
	}
	out, err := b.request(ctx, texts)
	if !modelhttp.ClassOf(err).Refusal() {
		return out, err
	}
	select {
	case b.searching <- struct{}{}:
	case <-ctx.Done():
		return nil, b.client.ended(ctx)
	}
	defer func() { <-b.searching }()
	return b.split(ctx, texts, err)
}

// request embeds texts with one request.
func (b *bisector) request(ctx context.Context, texts []string) ([]Embedding, error) {
	vecs, err := b.client.request(ctx, b.kind, texts)
	if err != nil {
		return nil, err
	}
	b.accepted.Store(true)
	out := make([]Embedding, len(vecs))
	for i, v := range vecs {
		out[i].Vector = v
	}
	return out, nil
}

// split embeds texts that the provider refused together. One list is split at a time.
func (b *bisector) split(ctx context.Context, texts []string, refusal error) (out []Embedding, err error) {
	if len(texts) == 1 {
		return b.refused(ctx, texts[0], refusal)
	}
	half := (len(texts) + 1) / 2
	for _, part := range [][]string{texts[:half], texts[half:]} {
		embedded, err := b.request(ctx, part)
		if modelhttp.ClassOf(err).Refusal() {
			embedded, err = b.split(ctx, part, err)
		}
		if out = append(out, embedded...); err != nil {
			return out, err
		}
	}
	if !slices.ContainsFunc(out, func(e Embedding) bool { return e.Err != nil }) {
		b.client.limitItems(half) // it was their number, not one of them
	}
	return out, nil
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
	if !b.accepted.Load() {
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
	b.accepted.Store(false)
	return []Embedding{{Err: refusal}}, nil
}

// limitItems makes later requests carry at most n texts.
func (c *Client) limitItems(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = min(c.items, n)
}

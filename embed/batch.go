package embed

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Documents embeds texts that are to be found. It returns one Embedding a text, in their order; equal texts are
// embedded once and share a vector, which is to be read only. A text that the provider refuses has its own Err and
// does not harm the others. The error is for all: ErrDisabled, the cause of ctx, or one that wraps ErrUnavailable;
// the slice then still holds what was embedded before, and the error as the Err of every other text.
func (c *Client) Documents(ctx context.Context, texts []string) ([]Embedding, error) {
	out := make([]Embedding, len(texts))
	if !c.Enabled() {
		for i := range out {
			out[i].Err = ErrDisabled
		}
		return out, ErrDisabled
	}
	var unique []string
	position := make(map[string]int, len(texts))
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			out[i].Err = ErrBlank
		} else if _, seen := position[t]; !seen {
			position[t] = len(unique)
			unique = append(unique, t)
		}
	}
	got, err := c.embed(ctx, forDocument, unique)
	for i, t := range texts {
		if out[i].Err == nil {
			out[i] = got[position[t]]
		}
	}
	return out, err
}

// fetch embeds texts, request by request, and calls done with the index and the outcome of each text as soon as
// it is known. After an error some texts have no outcome.
func (c *Client) fetch(ctx context.Context, in input, texts []string, done func(i int, e Embedding)) error {
	r := run{client: c, in: in}
	for start := 0; start < len(texts); {
		end := start + c.batchLen(texts[start:])
		got, err := r.batch(ctx, texts[start:end])
		for i, e := range got {
			done(start+i, e)
		}
		if err != nil {
			return err
		}
		start = end
	}
	return nil
}

// batchLen returns how many of the first texts fit into one request; one always does.
func (c *Client) batchLen(texts []string) int {
	c.mu.Lock()
	items := c.items
	c.mu.Unlock()
	tokens := 0
	for i, t := range texts[:min(items, len(texts))] {
		tokens += estimate(t)
		if i > 0 && tokens > c.cfg.BatchTokens {
			return i
		}
	}
	return min(items, len(texts))
}

// estimate is near the number of tokens of the usual vocabularies: four ASCII characters or one other make one.
func estimate(text string) int {
	runes := utf8.RuneCountInString(text)
	ascii := 0
	for i := range len(text) {
		if text[i] < utf8.RuneSelf {
			ascii++
		}
	}
	return ascii/4 + runes - ascii + 1
}

// harmless is a text that only a provider refuses that refuses everything.
const harmless = "memory"

// run is the embedding of a list of texts.
type run struct {
	client *Client
	in     input
	// vouched is true if a text was accepted since the last refusal of a lone one.
	vouched bool
}

// batch embeds texts with one request, or with more if the provider refuses them together: it halves them until
// the culprits stand alone. With an error it returns the outcomes of the first texts only.
func (r *run) batch(ctx context.Context, texts []string) ([]Embedding, error) {
	vecs, err := r.client.ask(ctx, r.in, texts)
	switch {
	case err == nil:
		r.vouched = true
		out := make([]Embedding, len(vecs))
		for i, v := range vecs {
			out[i].Vector = v
		}
		return out, nil
	case verdictOf(err) != refused:
		return nil, err
	case len(texts) == 1:
		return r.culprit(ctx, err)
	}
	half := (len(texts) + 1) / 2
	out, err := r.batch(ctx, texts[:half])
	if err != nil {
		return out, err
	}
	rest, err := r.batch(ctx, texts[half:])
	out = append(out, rest...)
	if err == nil && !slices.ContainsFunc(out, func(e Embedding) bool { return e.Err != nil }) {
		r.client.limitItems(half) // it was their number, not one of them
	}
	return out, err
}

// culprit returns the outcome for a lone text that was refused: its own error, unless the provider refuses even a
// harmless text. Without this question a wrong setting would pass for thousands of bad texts.
func (r *run) culprit(ctx context.Context, refusal error) ([]Embedding, error) {
	if !r.vouched {
		_, err := r.client.ask(ctx, r.in, []string{harmless})
		if err != nil && verdictOf(err) != refused {
			return nil, err
		}
		if err != nil {
			err = faultf(terminal, "%w (it refuses every text: check the model and its settings)", refusal)
			r.client.circuit.record(r.client.cfg.Now(), err)
			return nil, unavailable(err)
		}
	}
	r.vouched = false
	return []Embedding{{Err: refusal}}, nil
}

// limitItems makes later requests carry at most n texts.
func (c *Client) limitItems(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = min(c.items, n)
}

package indexer

import (
	"strings"

	"kioku/chunker"
	"kioku/embed"
)

// embedRequest is what a provider is asked for a group of texts: the texts and their windows. Texts that differ only in white
// space at their ends are asked for once, so that a short text and its only window cost one.
type embedRequest struct {
	texts []string
	at    map[string]int // positions in texts, by the text without white space at its ends
}

// newEmbedRequest returns the request for a group of texts.
func newEmbedRequest(group []Text) *embedRequest {
	r := &embedRequest{at: map[string]int{}}
	for _, t := range group {
		if t.Vector == nil {
			r.add(t.Text)
		}
		for _, w := range chunker.Windows(t.Body) {
			r.add(w.Text)
		}
	}
	return r
}

// add adds a text to the request.
func (r *embedRequest) add(text string) {
	key := strings.TrimSpace(text)
	if _, ok := r.at[key]; !ok {
		r.at[key] = len(r.texts)
		r.texts = append(r.texts, text)
	}
}

// vectorsOf returns the vectors of a text, and the answer for the whole text, without a vector if it has none. A window that
// the provider refuses is left out. If the request failed, a text that lacks the vector of a window counts as lacking its own.
func (r *embedRequest) vectorsOf(t Text, out []embed.Embedding, failed bool) (Vectors, embed.Embedding) {
	whole := embed.Embedding{Vector: t.Vector}
	if t.Vector == nil {
		whole = r.answer(t.Text, out)
	}
	v := Vectors{Vector: whole.Vector, Windows: []embed.Window{}}
	for _, w := range chunker.Windows(t.Body) {
		e := r.answer(w.Text, out)
		switch {
		case e.Vector != nil:
			v.Windows = append(v.Windows, embed.QuantizeWindow(w.From, w.To, e.Vector))
		case failed:
			return Vectors{}, embed.Embedding{Err: e.Err}
		}
	}
	return v, whole
}

// answer returns the answer for a text of the request, zero if there is none.
func (r *embedRequest) answer(text string, out []embed.Embedding) embed.Embedding {
	if i, ok := r.at[strings.TrimSpace(text)]; ok && i < len(out) {
		return out[i]
	}
	return embed.Embedding{}
}

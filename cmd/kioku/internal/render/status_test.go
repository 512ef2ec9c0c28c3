package render

import (
	"testing"

	kiokuv1 "kioku/proto/kioku/v1"
)

// The status names the model that answers while another one is built.
func TestStatusNamesTheModelThatAnswers(t *testing.T) {
	t.Parallel()
	of := func(p *kiokuv1.Provider) *kiokuv1.StatusResponse {
		p.Provider, p.Model = "local", "minilm"
		return &kiokuv1.StatusResponse{Provider: p, EmbeddedChunkCount: 3, Index: &kiokuv1.IndexState{ChunkCount: 40}}
	}
	for name, c := range map[string]struct {
		provider *kiokuv1.Provider
		want     string
	}{
		"no vectors":    {&kiokuv1.Provider{}, ""},
		"the provider":  {&kiokuv1.Provider{ActiveProvider: "local", ActiveModel: "minilm"}, ""},
		"another model": {&kiokuv1.Provider{ActiveProvider: "local", ActiveModel: "e5"}, "local e5, until the provider has embedded the rest: 3 of 40 chunks"},
	} {
		if got := activeText(of(c.provider)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

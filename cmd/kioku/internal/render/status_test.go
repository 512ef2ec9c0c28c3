package render

import (
	"testing"

	"kioku"
	"kioku/embed"
	"kioku/memory"
	"kioku/server"
)

// The status names the model that answers while another one is built.
func TestStatusNamesTheModelThatAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		active embed.Space
		want   string
	}{
		"no vectors":    {embed.Space{}, ""},
		"the provider":  {embed.Space{Provider: "local", Model: "minilm"}, ""},
		"another model": {embed.Space{Provider: "local", Model: "e5"}, "local e5, until the provider has embedded the rest: 3 of 40 passages"},
	} {
		st := server.IndexStatus{Status: kioku.Status{
			Space: embed.Space{Provider: "local", Model: "minilm"}, Active: c.active, Embedded: 3, Index: memory.IndexStats{Chunks: 40},
		}}
		if got := activeText(st); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

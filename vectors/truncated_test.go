package vectors_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"kioku/embed"
	"kioku/vectors"
)

// short is a provider whose model reads only the beginning of a text.
type short struct {
	*provider
	limit int // in bytes
}

// Stream implements vectors.Embedder.
func (s short) Stream(ctx context.Context, texts iter.Seq[string], receive func([]embed.Outcome)) error {
	var sent []string
	tee := func(yield func(string) bool) {
		for text := range texts {
			if sent = append(sent, text); !yield(text) {
				return
			}
		}
	}
	return s.provider.Stream(ctx, tee, func(outcomes []embed.Outcome) {
		for i, o := range outcomes {
			if o.Vector != nil && len(sent[o.Number]) > s.limit {
				outcomes[i].Bytes = s.limit
			}
		}
		receive(outcomes)
	})
}

// Only a text of which a part is in no vector counts as truncated: the windows of a long one have all of its lines.
func TestFillCountsOnlyTextsWithAPartInNoVector(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit   int
		refuses string
		want    int
	}{
		"the model takes the chunk":       {limit: 10_000},
		"the model takes each window":     {limit: 400},
		"a window is longer":              {limit: 100, want: 1},
		"a window of it is refused":       {limit: 400, refuses: "harbour line 1", want: 1},
		"a refused window is in the text": {limit: 10_000, refuses: "harbour line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t, memFile{"a", 1, []string{lines("harbour", 4)}})
			f.prov.refuses = func(text string) bool { return c.refuses != "" && strings.HasPrefix(text, c.refuses) }
			f.fill = vectors.NewFill(f.cache, f.index, short{f.prov, c.limit}, nil, nil)
			if rep, err := f.fill.Run(t.Context(), nil); err != nil || rep.Embedded != 1 || rep.Truncated != c.want {
				t.Errorf("%+v, %v; want %d truncated", rep, err, c.want)
			}
		})
	}
}

package embed_test

import (
	"testing"

	"kioku/embed"
)

func TestEnglishOnlyKnowsModelsByTheirNames(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]bool{
		"all-MiniLM-L6-v2": true, "sentence-transformers/all-MiniLM-L6-v2": true, "minilm": true, "bge-small-en-v1.5": true, "bge-small-en": true,
		"e5-small-v2": true, "gte-small": true, "snowflake-arctic-embed-xs": true, "potion-base-8m": true, "wordllama": true, "nomic-embed-text": true,
		"multilingual-e5-small": false, "paraphrase-multilingual-MiniLM-L12-v2": false, "potion-multilingual-128m": false, "bge-m3": false,
		"text-embedding-3-small": false, "nomic-embed-text-v2-moe": false, "arctic-embed-l-v2.0": false, "my-own": false, "": false,
	} {
		if got := embed.EnglishOnly(embed.Space{Provider: "local", Model: model}); got != want {
			t.Errorf("%q: %v", model, got)
		}
	}
	if embed.EnglishOnly(embed.Space{Provider: "hash", Model: "hash-256"}) {
		t.Error("hash has learnt no language")
	}
}

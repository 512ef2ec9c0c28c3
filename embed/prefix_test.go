package embed_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
)

// sentTexts returns what a client sends for a document and for a query.
func sentTexts(t *testing.T, cfg embed.Config) (document, query string, space embed.Space) {
	t.Helper()
	cfg.BaseURL = "http://localhost"
	f, c := newFake(t, cfg, good)
	if _, err := c.Documents(t.Context(), []string{"tea"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Query(t.Context(), "tea"); err != nil {
		t.Fatal(err)
	}
	sent := f.seen()
	return sent[0].Input[0], sent[1].Input[0], c.Space()
}

// Models that want other prefixes for queries than for documents get them, known by the name of the model, however it is
// written.
func TestPrefixOfKnownModels(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ model, document, query string }{
		{"nomic-embed-text", "search_document: tea", "search_query: tea"},
		{"nomic-ai/nomic-embed-text-v1.5", "search_document: tea", "search_query: tea"},
		{"nomic-embed-text:latest", "search_document: tea", "search_query: tea"},
		{"text-embedding-nomic-embed-text-v1.5@q8_0", "search_document: tea", "search_query: tea"},
		{"intfloat/e5-small-v2", "passage: tea", "query: tea"},
		{"hf.co/intfloat/Multilingual-E5-base:F16", "passage: tea", "query: tea"},
		{"BAAI/bge-small-en-v1.5", "tea", "Represent this sentence for searching relevant passages: tea"},
		{"bge-base-zh-v1.5", "tea", "为这个句子生成表示以用于检索相关文章：tea"},
		{"BAAI/bge-m3", "tea", "tea"},
		{"cl-nagoya/ruri-v3-310m", "検索文書: tea", "検索クエリ: tea"},
		{"text-embedding-3-small", "tea", "tea"},
		{"all-MiniLM-L6-v2", "tea", "tea"},
	} {
		t.Run(tc.model, func(t *testing.T) {
			t.Parallel()
			document, query, _ := sentTexts(t, embed.Config{Model: tc.model})
			if diff := cmp.Diff([]string{tc.document, tc.query}, []string{document, query}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Prefixes can be set, and be turned off. Vectors of documents with another prefix are another space; those of queries are not
// stored, so that their prefix may change.
func TestPrefixCanBeSet(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	document, query, own := sentTexts(t, embed.Config{Model: "own", QueryPrefix: text("q: "), DocumentPrefix: text("d: ")})
	if document != "d: tea" || query != "q: tea" {
		t.Errorf("%q, %q", document, query)
	}
	_, _, other := sentTexts(t, embed.Config{Model: "own", DocumentPrefix: text("e: ")})
	_, _, same := sentTexts(t, embed.Config{Model: "own", DocumentPrefix: text("d: ")})
	if own.Matches(other) || !own.Matches(same) {
		t.Errorf("%+v, %+v, %+v", own, other, same)
	}
	document, query, off := sentTexts(t, embed.Config{Model: "e5-small", QueryPrefix: text(""), DocumentPrefix: text("")})
	_, _, unknown := sentTexts(t, embed.Config{Model: "e5-small"})
	if document != "tea" || query != "tea" || off.Matches(unknown) {
		t.Errorf("%q, %q, %+v", document, query, off)
	}
}

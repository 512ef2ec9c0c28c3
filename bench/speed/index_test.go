package speed

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
)

func TestTheFilesOfAFullIndexAreTheSameInEachRun(t *testing.T) {
	first, err := writeIndexCorpus(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	second, err := writeIndexCorpus(t.TempDir())
	if err != nil || !cmp.Equal(first, second) {
		t.Errorf("they differ, %v", err)
	}
	size := 0
	for _, text := range first {
		size += len(text)
	}
	if len(first) != indexFiles || size < 20e6 || size > 22e6 {
		t.Errorf("%d files, %d bytes", len(first), size)
	}
}

func TestTheProviderOfAFullIndexSendsTheVectorsOfItsYardstick(t *testing.T) {
	p := newIndexProvider()
	c, err := embed.New(embed.Config{Provider: "openai", BaseURL: "http://localhost", Transport: p})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"harbor", "lighthouse", "港"}
	got, err := c.Documents(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if len(got[i].Vector) != indexDims || len(p.blob(text)) != 4*indexDims {
			t.Errorf("%q has %d dimensions, %d bytes", text, len(got[i].Vector), len(p.blob(text)))
		}
	}
	if cmp.Equal(got[0].Vector, got[1].Vector) {
		t.Error("all texts have one vector")
	}
}

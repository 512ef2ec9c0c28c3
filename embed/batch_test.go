package embed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/embed"
)

func sizes(requests []request) []int {
	var n []int
	for _, r := range requests {
		n = append(n, len(r.Input))
	}
	return n
}

func TestDocumentsBatchByNumber(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{BatchItems: 10, Concurrency: 1}, good)
	texts := numbered(25)
	got, err := c.Documents(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, texts, got)
	if diff := cmp.Diff([]int{10, 10, 5}, sizes(f.seen())); diff != "" {
		t.Error(diff)
	}
}

func TestDocumentsBatchByTokens(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{Concurrency: 1}, good)
	texts := []string{
		strings.Repeat("word ", 40_000),  // 50,000 tokens of 100,000
		strings.Repeat("tea ", 40_000),   // 40,000
		strings.Repeat("記憶", 20_000),     // 40,000
		strings.Repeat("long ", 150_000), // more than a batch, and still sent
		"short",
	}
	got, err := c.Documents(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, texts, got)
	if diff := cmp.Diff([]int{2, 1, 1, 1}, sizes(f.seen())); diff != "" {
		t.Error(diff)
	}
}

func TestDocumentsReturnEachTextsOwnVector(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bb", "ccc", "茶", "記憶", "d d", " ", ""}), 0, 20).Draw(rt, "texts")
		f, c := newFake(t, embed.Config{BatchItems: rapid.IntRange(1, 7).Draw(rt, "items")}, good)
		got, err := c.Documents(t.Context(), texts)
		if err != nil || len(got) != len(texts) {
			rt.Fatalf("%d embeddings of %d texts, %v", len(got), len(texts), err)
		}
		for i, text := range texts {
			if strings.TrimSpace(text) == "" {
				if !errors.Is(got[i].Err, embed.ErrBlank) {
					rt.Fatalf("blank text: %v", got[i])
				}
			} else if !near(got[i].Vector, unitOf(text)) {
				rt.Fatalf("text %q: %v", text, got[i])
			}
		}
		sent := map[string]bool{}
		for _, r := range f.seen() {
			for _, text := range r.Input {
				if sent[text] {
					rt.Fatalf("text %q was sent twice", text)
				}
				sent[text] = true
			}
		}
	})
}

// Hazard E04: the client learns that a server accepts fewer texts in a request than configured.
func TestDocumentsLearnTheServersBatchSize(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		`{"error":{"message":"batch size is invalid, it should not be larger than 10."}}`,
		`{"message":"批量大小不能超过10"}`,
		`too large`,
	} {
		refusals := 0
		f, c := newFake(t, embed.Config{}, func(r request) reply {
			if len(r.Input) > 10 {
				refusals++
				return reply{status: 400, body: message}
			}
			return good(r)
		})
		for round := range 2 {
			texts := numbered(64)
			got, err := c.Documents(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			wantVectors(t, texts, got)
			if round == 0 {
				refusals = 0
			}
		}
		if refusals > 0 {
			t.Errorf("the limit was not learned: %d more refusals in %v", refusals, sizes(f.seen()))
		}
	}
}

// Hazard E04: a wrong setting costs a few requests, not two for each text.
func TestDocumentsOfAProviderThatRefusesEverything(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{}, func(request) reply {
		return reply{status: 400, body: `{"error":{"message":"this model does not support embeddings"}}`}
	})
	got, err := c.Documents(t.Context(), numbered(1000))
	if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "does not support embeddings") {
		t.Errorf("got %v", err)
	}
	for i, e := range got {
		if e.Vector != nil || !errors.Is(e.Err, embed.ErrUnavailable) {
			t.Fatalf("text %d: %v", i, e)
		}
	}
	if n := len(f.seen()); n > 8 {
		t.Errorf("%d requests", n)
	}
	if c.Health().Healthy {
		t.Error("it passes for healthy")
	}
}

// Hazard E04: a server may also begin to refuse everything in the middle of a list.
func TestDocumentsOfAProviderThatBeginsToRefuseEverything(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{}, func(r request) reply {
		if r.N > 1 {
			return reply{status: 422, body: "no"}
		}
		return good(r)
	})
	texts := numbered(1000)
	got, err := c.Documents(t.Context(), texts)
	if !errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	wantVectors(t, texts[:64], got[:64])
	if n := len(f.seen()); n > 20 {
		t.Errorf("%d requests", n)
	}
}

func TestDocumentsReturnVectorsBeforeAFailure(t *testing.T) {
	t.Parallel()
	_, c := newFake(t, embed.Config{BatchItems: 2, Concurrency: 1}, func(r request) reply {
		if r.N > 2 {
			return reply{status: 401}
		}
		return good(r)
	})
	texts := numbered(10)
	got, err := c.Documents(t.Context(), texts)
	if !errors.Is(err, embed.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	wantVectors(t, texts[:4], got[:4])
	for _, e := range got[4:] {
		if e.Vector != nil || !errors.Is(e.Err, embed.ErrUnavailable) {
			t.Errorf("after the failure: %v", e)
		}
	}
}

func TestDocumentsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, c := newFake(t, embed.Config{BatchItems: 1, Concurrency: 1}, func(r request) reply {
		if r.N == 2 {
			cancel()
			return reply{err: ctx.Err()}
		}
		return good(r)
	})
	texts := numbered(3)
	got, err := c.Documents(ctx, texts)
	if !errors.Is(err, context.Canceled) || errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	wantVectors(t, texts[:1], got[:1])
	if !errors.Is(got[2].Err, context.Canceled) || !c.Health().Healthy {
		t.Errorf("rest %v, health %+v", got[2], c.Health())
	}
}

package embed_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
)

func TestClientOfProviderNoneIsDisabled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "none"} {
		c, err := embed.New(embed.Config{Provider: name})
		if err != nil {
			t.Fatal(err)
		}
		if c.Enabled() || c.Weak() || !c.Space().IsZero() || !c.Health().Healthy {
			t.Errorf("provider %q: enabled %v, weak %v, space %v", name, c.Enabled(), c.Weak(), c.Space())
		}
		if _, err := c.Query(t.Context(), "tea"); !errors.Is(err, embed.ErrDisabled) {
			t.Errorf("Query: %v", err)
		}
		got, err := c.Documents(t.Context(), []string{"tea"})
		if !errors.Is(err, embed.ErrDisabled) || len(got) != 1 || !errors.Is(got[0].Err, embed.ErrDisabled) {
			t.Errorf("Documents: %v, %v", got, err)
		}
	}
}

func TestNewRefusesAWrongSettingWithAdvice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg  embed.Config
		want string
	}{
		"unknown provider": {embed.Config{Provider: "opanai"}, "none, hash, local, gemini, mistral, ollama, openai, voyage"},
		"no key":           {embed.Config{Provider: "openai"}, "OPENAI_API_KEY"},
		"no URL":           {embed.Config{Provider: "openai", BaseURL: "localhost:1234"}, "remote.baseUrl"},
		"odd scheme":       {embed.Config{Provider: "openai", BaseURL: "ftp://example.com"}, "remote.baseUrl"},
		"negative dims":    {embed.Config{Provider: "hash", Dims: -1}, "is negative"},
		"negative timeout": {embed.Config{Provider: "hash", TryTimeout: -time.Second}, "is negative"},
		"broken key":       {embed.Config{Provider: "openai", APIKey: "sk-one\nsk-two"}, "line break"},
		"broken header":    {embed.Config{Provider: "openai", APIKey: "k", Headers: map[string]string{"X": "a\r\nb"}}, `"X"`},
		"unknown hash":     {embed.Config{Provider: "hash", Model: "bert"}, "hash-256"},
		"two dimensions":   {embed.Config{Provider: "hash", Model: "hash-256", Dims: 128}, "hash-128"},
		"huge hash":        {embed.Config{Provider: "hash", Dims: 1 << 30}, "choose 1 to"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := embed.New(test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) || c != nil {
				t.Errorf("got %v, want an error with %q", err, test.want)
			} else if strings.Contains(err.Error(), "sk-") {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

func TestNewOfALocalServerNeedsNoKey(t *testing.T) {
	t.Parallel()
	f := &fake{answer: good}
	c, err := embed.New(embed.Config{Provider: "openai", BaseURL: "http://localhost:1234", Model: "bge-m3", Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Query(t.Context(), "tea"); err != nil {
		t.Fatal(err)
	}
	if got := f.seen()[0]; got.Header.Get("Authorization") != "" || got.Model != "bge-m3" {
		t.Errorf("sent Authorization %q, model %q", got.Header.Get("Authorization"), got.Model)
	}
}

func TestSpaceHasItsDimensionAfterTheFirstAnswer(t *testing.T) {
	t.Parallel()
	_, c := newFake(t, embed.Config{}, good)
	want := embed.Space{Provider: "openai", Model: "text-embedding-3-small"}
	if c.Space() != want {
		t.Errorf("before: %+v", c.Space())
	}
	if _, err := c.Query(t.Context(), "tea"); err != nil {
		t.Fatal(err)
	}
	want.Dims = 3
	if c.Space() != want {
		t.Errorf("after: %+v", c.Space())
	}
}

func TestSpaceMatches(t *testing.T) {
	t.Parallel()
	a := embed.Space{Provider: "openai", Model: "m", Dims: 3}
	unknown, longer, other := a, a, a
	unknown.Dims, longer.Dims, other.Endpoint = 0, 4, "abc"
	if !a.Matches(a) || !a.Matches(unknown) || !unknown.Matches(a) {
		t.Error("a space does not match itself")
	}
	if a.Matches(longer) || a.Matches(other) || unknown.Matches(other) {
		t.Error("different spaces match")
	}
}

// answerWith answers with vectors of a number of dimensions.
func answerWith(r request, dims int) reply {
	return reply{body: answerTo(r.Input, func(string) []float64 { return append(make([]float64, dims-1), 1) })}
}

// Hazard E07: a provider that returns 1,536 numbers today and 768 tomorrow is another space from the first answer on, without a
// restart, and cached queries of the old one are gone.
func TestDimensionThatChangesIsAnotherSpace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dims := 1536
		f, c := newFake(t, embed.Config{}, func(r request) reply { return answerWith(r, dims) })
		if v, err := c.Query(t.Context(), "tea"); err != nil || len(v) != 1536 {
			t.Fatal(len(v), err)
		}
		time.Sleep(24 * time.Hour)
		dims = 768
		got, err := c.Documents(t.Context(), numbered(3))
		if err != nil || len(got[0].Vector) != 768 || c.Space().Dims != 768 || !c.Health().Healthy {
			t.Errorf("%v, %+v", err, c.Space())
		}
		for range 2 { // the first finds the cached vector to be of the old space
			c.Query(t.Context(), "tea")
		}
		if v, err := c.Query(t.Context(), "tea"); err != nil || len(v) != 768 {
			t.Errorf("%d dimensions, %v", len(v), err)
		}
		if n := len(f.seen()); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}

// Hazard E07: of the vectors of one call, none is of a space that the provider has left meanwhile.
func TestDocumentsDoNotMixTwoDimensions(t *testing.T) {
	t.Parallel()
	_, c := newFake(t, embed.Config{BatchItems: 2}, func(r request) reply { return answerWith(r, 1+min(r.N, 2)) })
	got, err := c.Documents(t.Context(), numbered(4))
	if !errors.Is(err, embed.ErrUnavailable) || !c.Health().Healthy {
		t.Fatal(err)
	}
	for i, e := range got {
		if e.Vector != nil && len(e.Vector) != c.Space().Dims || (e.Err == nil) != (e.Vector != nil) {
			t.Errorf("text %d: %d dimensions, %v", i, len(e.Vector), e.Err)
		}
	}
}

// Hazard E07: a server that answers with two models in turn has no space, and is not asked again and again.
func TestDimensionsThatAlternateAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{}, func(r request) reply { return answerWith(r, 2+r.N%2) })
		var err error
		for i := range 50 {
			_, err = c.Documents(t.Context(), []string{fmt.Sprint("text ", i)})
		}
		if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "different models in turn") || len(f.seen()) > 4 {
			t.Errorf("%v after %d requests", err, len(f.seen()))
		}
	})
}

// Hazard D05: a vector that no search can use is refused.
func TestDocumentsRefuseAnUnusableVector(t *testing.T) {
	t.Parallel()
	for name, vector := range map[string]string{
		"zero":     `[0,0,0]`,
		"denormal": `[1e-42,0,1e-42]`,
		"huge":     `[1e30,1e30,1]`,
		"overflow": `[1e60,0,0]`,
		"null":     `[null,null,null]`,
		"NaN":      `"AADAfwAAwH8AAMB/"`,
		"infinite": `"AACAfwAAgD8AAIA/"`,
	} {
		t.Run(name, func(t *testing.T) {
			_, c := newFake(t, embed.Config{}, func(r request) reply {
				if len(r.Input) == 1 && r.Input[0] != "odd" {
					return good(r)
				}
				body := `{"data":[{"index":0,"embedding":` + vector + `}`
				for i := range r.Input[1:] {
					body += `,{"index":` + string(rune('1'+i)) + `,"embedding":[1,2,3]}`
				}
				return reply{body: body + `]}`}
			})
			got, err := c.Documents(t.Context(), []string{"odd", "even"})
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			if got[0].Vector != nil || got[0].Err == nil {
				t.Errorf("came through as %v", got[0].Vector)
			}
			wantVectors(t, []string{"even"}, got[1:])
		})
	}
}

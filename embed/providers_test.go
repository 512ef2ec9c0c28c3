package embed_test

import (
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
)

// Each provider gets texts and questions in its own form, with the key in its own header and never in the URL.
func TestProvidersSpeakTheirOwnForm(t *testing.T) {
	kinds := map[string][2]string{"gemini": {"RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"}, "voyage": {"document", "query"}}
	models := map[string]string{"openai": "text-embedding-3-small", "voyage": "voyage-4-large", "mistral": "mistral-embed", "ollama": "nomic-embed-text"}
	eachProvider(t, func(t *testing.T, name string, w wire) {
		s, c := newWire(t, name, embed.Config{}, goodWire)
		texts := []string{"tea", "お茶 \"<&>\""}
		got, err := c.Documents(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Query(t.Context(), "what to drink?"); err != nil {
			t.Fatal(err)
		}
		prefix := [2]string{}
		if name == "ollama" {
			prefix = [2]string{"search_document: ", "search_query: "}
		} else {
			wantVectors(t, texts, got)
		}
		requests := s.seen()
		for i, want := range [][]string{texts, {"what to drink?"}} {
			r := requests[i]
			for j := range want {
				want[j] = prefix[i] + want[j]
			}
			if diff := cmp.Diff(want, r.Texts); diff != "" {
				t.Error(diff)
			}
			if r.Kind != kinds[name][i] || !strings.HasSuffix(r.Header.Get(w.key), testKey) || strings.Contains(r.URL, "key") {
				t.Errorf("kind %q, %s, header %v", r.Kind, r.URL, r.Header)
			}
			if model, _ := r.Fields["model"].(string); model != models[name] {
				t.Errorf("model %q", model)
			}
		}
	})
}

// Shortened vectors are asked for in the provider's own words, and scaled to unit length: some providers do not.
func TestProvidersShortenVectors(t *testing.T) {
	fields := map[string]string{"openai": "dimensions", "voyage": "output_dimension", "mistral": "output_dimension", "ollama": "dimensions"}
	eachProvider(t, func(t *testing.T, name string, w wire) {
		cfg := embed.Config{Dims: 3}
		if name == "mistral" {
			cfg.Model = "codestral-embed"
		}
		s, c := newWire(t, name, cfg, goodWire)
		got, err := c.Documents(t.Context(), []string{"tea"})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, x := range got[0].Vector {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("the square of the norm is %f", sum)
		}
		r := s.seen()[0]
		asked := r.Fields[fields[name]]
		if name == "gemini" {
			asked = r.Fields["requests"].([]any)[0].(map[string]any)["outputDimensionality"]
		}
		if fmt.Sprint(asked) != "3" || c.Space().Dims != 3 {
			t.Errorf("asked for %v, space %+v", asked, c.Space())
		}
	})
}

func TestMistralEmbedHasItsOwnDimensions(t *testing.T) {
	t.Parallel()
	if _, err := embed.New(embed.Config{Provider: "mistral", APIKey: "k", Dims: 256}); err == nil || !strings.Contains(err.Error(), "unset dims") {
		t.Error(err)
	}
	if _, err := embed.New(embed.Config{Provider: "mistral", APIKey: "k", Dims: 1024}); err != nil {
		t.Error(err)
	}
}

// A server that is asked to cut long texts in silence would hide that a vector is of a beginning, so none is.
func TestProvidersAreNotAskedToTruncate(t *testing.T) {
	t.Parallel()
	for name, field := range map[string]string{"voyage": "truncation", "ollama": "truncate"} {
		s, c := newWire(t, name, embed.Config{Window: 512}, goodWire)
		if _, err := c.Query(t.Context(), "tea"); err != nil {
			t.Fatal(err)
		}
		r := s.seen()[0].Fields
		if r[field] != false {
			t.Errorf("%s: %v", name, r)
		}
		if options := fmt.Sprint(r["options"]); name == "ollama" && (options != "map[num_ctx:512]" || r["keep_alive"] != "30m") {
			t.Errorf("%v", r)
		}
	}
}

func TestOllamaSaysWhatToPull(t *testing.T) {
	t.Parallel()
	s, c := newWire(t, "ollama", embed.Config{Model: "bge-m3"}, func(*wireServer, wireRequest) reply {
		return reply{status: 404, body: `{"error":"model \"bge-m3\" not found, try pulling it first"}`}
	})
	for range 3 {
		if _, err := c.Query(t.Context(), "tea"); !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "run ollama pull bge-m3") {
			t.Error(err)
		}
	}
	if n := len(s.seen()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// Gemini's newer models want prefixes in place of task types.
func TestGeminiEmbedding2WantsPrefixes(t *testing.T) {
	t.Parallel()
	f := &geminiTwo{}
	c, err := embed.New(embed.Config{Provider: "gemini", Model: "models/gemini-embedding-2", APIKey: testKey, Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Query(t.Context(), "tea"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(f.body, `"task: search result | query: tea"`) || strings.Contains(f.body, "taskType") || !strings.Contains(f.body, `"models/gemini-embedding-2"`) {
		t.Errorf("sent %s", f.body)
	}
}

// Hazard E10: a space is known by provider, model, dimensions and address; how the address is written does not count.
func TestProvidersHaveSpacesOfTheirOwn(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		space := func(cfg embed.Config) embed.Space {
			cfg.Provider, cfg.APIKey = name, testKey
			c, err := embed.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			return c.Space()
		}
		own := space(embed.Config{})
		version := strings.TrimSuffix(strings.SplitAfter(w.path, "/")[1], "/")
		for _, base := range []string{w.base, w.base + "/", w.base + "/" + version, w.base + "/" + version + "/"} {
			if got := space(embed.Config{BaseURL: base}); got != own {
				t.Errorf("%s: %+v, want %+v", base, got, own)
			}
		}
		if own.Provider != name || own.Model == "" || own.Dims != 0 {
			t.Errorf("%+v", own)
		}
		for _, cfg := range []embed.Config{{BaseURL: "http://box"}, {Model: "codestral-embed"}, {Model: "codestral-embed", Dims: 3}} {
			if got := space(cfg); got == own {
				t.Errorf("%+v has the same space", cfg)
			}
		}
	})
}

// A request goes to the address of the provider, however the base is written.
func TestProvidersFindTheirEndpoint(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		version := strings.SplitAfter(w.path, "/")[1]
		for _, base := range []string{"", "http://box:99", "http://box:99/", "http://box:99/" + version, "http://box:99" + strings.TrimSuffix(w.path, ":batchEmbedContents")} {
			if strings.Contains(base, "gemini-embedding") {
				base = "http://box:99/v1beta/models"
			}
			s, c := newWire(t, name, embed.Config{BaseURL: base}, goodWire) // the server checks the path
			if _, err := c.Query(t.Context(), "tea"); err != nil {
				t.Errorf("%s: %v", base, err)
			}
			if got := s.seen()[0].URL; base == "" && got != w.base+w.path {
				t.Errorf("asked %s", got)
			}
		}
	})
}

// The class of a model is known by provider, name and dimensions, and can be set.
func TestClassOfModels(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		space embed.Space
		want  embed.Class
	}{
		{embed.Space{Provider: "hash", Model: "hash-256"}, embed.Weak},
		{embed.Space{Provider: "openai", Model: "text-embedding-3-small"}, embed.Large},
		{embed.Space{Provider: "openai", Model: "text-embedding-v4"}, embed.Large},
		{embed.Space{Provider: "gemini", Model: "gemini-embedding-001"}, embed.Large},
		{embed.Space{Provider: "mistral", Model: "mistral-embed"}, embed.Large},
		{embed.Space{Provider: "voyage", Model: "voyage-4-lite"}, embed.Large},
		{embed.Space{Provider: "ollama", Model: "nomic-embed-text"}, embed.Small},
		{embed.Space{Provider: "ollama", Model: "bge-m3:latest"}, embed.Large},
		{embed.Space{Provider: "ollama", Model: "qwen3-embedding:0.6b"}, embed.Large},
		{embed.Space{Provider: "ollama", Model: "hf.co/intfloat/e5-base-v2:latest"}, embed.Small},
		{embed.Space{Provider: "openai", Model: "sentence-transformers/all-MiniLM-L6-v2"}, embed.Small},
		{embed.Space{Provider: "openai", Model: "text-embedding-nomic-embed-text-v1.5@q8"}, embed.Small},
		{embed.Space{Provider: "openai", Model: "BAAI/bge-large-en-v1.5"}, embed.Large},
		{embed.Space{Provider: "local", Model: "wordllama"}, embed.Static},
		{embed.Space{Provider: "local", Model: "minishlab/potion-base-8M"}, embed.Static},
		{embed.Space{Provider: "openai", Model: "mine"}, embed.Small},
		{embed.Space{Provider: "openai", Model: "mine", Dims: 384}, embed.Small},
		{embed.Space{Provider: "openai", Model: "mine", Dims: 2048}, embed.Large},
	} {
		if got := embed.ClassOf(tc.space); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.space, got, tc.want)
		}
	}
	for name, want := range map[string]embed.Class{"": embed.Weak, "auto": embed.Weak, "large": embed.Large, "small": embed.Small, "static": embed.Static} {
		c, err := embed.New(embed.Config{Provider: "hash", Class: name})
		if err != nil || c.Class() != want || c.Weak() != (want == embed.Weak) {
			t.Errorf("%q: %s, %v", name, c.Class(), err)
		}
	}
}

// Requests stay within the known caps of a provider, and a cap that is set counts in their place.
func TestRequestsStayWithinKnownCaps(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		provider, model string
		set, items      int
	}{
		{"openai", "", 0, 64}, {"openai", "text-embedding-v4", 0, 10}, {"openai", "text-embedding-v2", 0, 25}, {"openai", "text-embedding-v4", 20, 20},
		{"gemini", "", 0, 64}, {"gemini", "", 100, 100}, {"voyage", "", 0, 64}, {"mistral", "", 0, 64}, {"ollama", "", 0, 32},
	} {
		s, c := newWire(t, tc.provider, embed.Config{Model: tc.model, BatchItems: tc.set}, (*wireServer).good)
		_, err := c.Documents(t.Context(), numbered(130))
		most := 0
		for _, r := range s.seen() {
			most = max(most, len(r.Texts))
		}
		if err != nil || most != tc.items {
			t.Errorf("%+v: requests of %d texts, %v", tc, most, err)
		}
	}
	s, c := newWire(t, "mistral", embed.Config{}, (*wireServer).good)
	texts := numbered(100)
	for i := range texts {
		texts[i] += strings.Repeat(" some tea", 400)
	}
	_, err := c.Documents(t.Context(), texts)
	longest := 0
	for _, r := range s.seen() {
		longest = max(longest, len(strings.Join(r.Texts, ""))/4)
	}
	if err != nil || longest > 16_384 || longest < 8000 {
		t.Errorf("requests of %d tokens, %v", longest, err)
	}
}

// A limit a minute is kept, and a question does not wait for the documents before it.
func TestPaceOfRequestsAndTokens(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]embed.Config{
		"requests": {RequestsPerMinute: 60, BatchItems: 1}, "few requests": {RequestsPerMinute: 3, BatchItems: 1},
		"tokens": {TokensPerMinute: 60 * 5, BatchItems: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, c := newFake(t, cfg, good)
				done := make(chan error, 1)
				go func() {
					for _, text := range numbered(200) {
						if _, err := c.Documents(t.Context(), []string{text}); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
				time.Sleep(10 * time.Second)
				asked := time.Now()
				_, err := c.Query(t.Context(), "tea?")
				if enough := cfg.RequestsPerMinute != 3; err != nil && enough || time.Since(asked) > 3*time.Second {
					t.Errorf("the question took %s: %v", time.Since(asked), err)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				most := cfg.RequestsPerMinute
				if most == 0 {
					most = 75 // of 4 tokens and more
				}
				sent := f.seen()
				for i := range sent {
					n := 0
					for _, r := range sent[i:] {
						if r.At.Sub(sent[i].At) < time.Minute {
							n++
						}
					}
					if n > most {
						t.Fatalf("%d requests in a minute", n)
					}
				}
				if took := sent[len(sent)-1].At.Sub(sent[0].At).Minutes(); took > 1.3*200/float64(most)+1 {
					t.Errorf("it took %f minutes", took)
				}
			})
		})
	}
}

// Many texts at once keep to the tokens of a minute too.
func TestPaceOfTokensInBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perMinute = 600
		f, c := newFake(t, embed.Config{TokensPerMinute: perMinute}, good)
		began := time.Now()
		if _, err := c.Documents(t.Context(), numbered(400)); err != nil { // about 1,600 tokens
			t.Fatal(err)
		}
		requests := f.seen()
		for i := range requests {
			n := 0
			for _, r := range requests[i:] {
				if r.At.Sub(requests[i].At) < time.Minute {
					n += tokensOf([]request{r})
				}
			}
			if n > perMinute*11/10 {
				t.Fatalf("%d tokens in a minute", n)
			}
		}
		if took := time.Since(began); took < 2*time.Minute || took > 5*time.Minute {
			t.Errorf("it took %s in %d requests", took, len(requests))
		}
	})
}

// Over a real server each provider gives documents and queries their vectors.
func TestProvidersOverARealServer(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		s := &wireServer{t: t, name: name}
		s.answer = s.good
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		c, err := embed.New(embed.Config{Provider: name, BaseURL: server.URL, APIKey: testKey, DocumentPrefix: new(string), BatchItems: 30})
		if err != nil {
			t.Fatal(err)
		}
		texts := numbered(100)
		got, err := c.Documents(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		wantVectors(t, texts, got)
		for range 2 { // a repeated query makes no request
			if v, err := c.Query(t.Context(), "what to drink?"); err != nil || len(v) != 3 {
				t.Error(v, err)
			}
		}
		if n := len(s.seen()); n != 5 {
			t.Errorf("%d requests", n)
		}
	})
}

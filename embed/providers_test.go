package embed_test

import (
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

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
		s, c := newWire(t, name, embed.Config{}, goodWire)
		if _, err := c.Query(t.Context(), "tea"); err != nil {
			t.Fatal(err)
		}
		r := s.seen()[0].Fields
		if r[field] != false {
			t.Errorf("%s: %v", name, r)
		}
		if name == "ollama" && r["keep_alive"] != "30m" {
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

// The class of a model is known by provider, name and dimensions.
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
}

// Requests stay within the tokens that a provider takes in one.
func TestRequestsStayWithinTheTokensOfAProvider(t *testing.T) {
	t.Parallel()
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

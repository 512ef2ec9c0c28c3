package embed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A recipe has no secret: neither the key nor headers, nor what a base URL has of either.
func TestRecipeHasNoSecret(t *testing.T) {
	c, err := New(Config{Provider: "openai", Model: "e5-small", BaseURL: "http://me:hidden1@localhost:1/v1?key=hidden2", APIKey: "hidden3",
		Headers: map[string]string{"x-key": "hidden4"}})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Recipe()
	if strings.Contains(r, "hidden") || !strings.Contains(r, "passage: ") || !strings.Contains(r, "http://localhost:1/v1") {
		t.Errorf("got %s", r)
	}
}

// A client that is opened again for stored vectors has their space. It has the key of the configured client only if that
// asks the same provider at the same address.
func TestReopenTakesTheKeyOnlyToTheSameAddress(t *testing.T) {
	open := func(model, base, key string) *Client {
		c, err := New(Config{Provider: "openai", Model: model, BaseURL: base, APIKey: key})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	old := open("old", "http://localhost:1", "")
	for base, want := range map[string]string{"http://localhost:1": "key", "http://localhost:2": ""} {
		again, err := open("new", base, "key").Reopen(old.Recipe(), old.Space())
		if err != nil {
			t.Fatal(err)
		}
		if again.cfg.APIKey != want || again.Space() != old.Space() || again.cfg.BaseURL != "http://localhost:1" {
			t.Errorf("%s: key %q, space %+v, base %q", base, again.cfg.APIKey, again.Space(), again.cfg.BaseURL)
		}
	}
	other := old.Space()
	other.Endpoint = "elsewhere"
	for name, call := range map[string]func() (*Client, error){
		"another space": func() (*Client, error) { return old.Reopen(old.Recipe(), other) },
		"no recipe":     func() (*Client, error) { return old.Reopen("", old.Space()) },
		"no key": func() (*Client, error) {
			return old.Reopen(`{"Provider":"openai","Model":"m"}`, Space{Provider: "openai", Model: "m"})
		},
	} {
		if _, err := call(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A local model that is opened again for stored vectors has their space, and embeds queries as they were embedded before: in the
// same numbers, and with the prefixes of its files, of its name, or of the settings of then.
func TestReopenOfALocalModelMakesTheSameVectors(t *testing.T) {
	copied := func(name string) func(dir string) {
		return func(dir string) {
			if err := os.CopyFS(dir, os.DirFS("local/testdata/"+name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	transformer := copied("transformer")
	for _, tc := range []struct {
		name  string
		write func(dir string)
		cfg   Config
	}{
		{"potion-tiny", copied("static"), Config{}},
		{"minilm", transformer, Config{}},
		{"e5-tiny", transformer, Config{ModelThreads: 1}},
		{"bge-small-en", transformer, Config{}},
		{"prompts", func(dir string) {
			transformer(dir)
			prompts := `{"prompts": {"query": "refund: ", "document": "laptop: "}}`
			if err := os.WriteFile(filepath.Join(dir, "config_sentence_transformers.json"), []byte(prompts), 0o644); err != nil {
				t.Fatal(err)
			}
		}, Config{}},
		{"e5-set", transformer, Config{QueryPrefix: new("garden "), DocumentPrefix: new("")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := tc.cfg
			cfg.Provider, cfg.ModelDir = "local", filepath.Join(t.TempDir(), tc.name)
			tc.write(cfg.ModelDir)
			old, again := reopened(t, cfg)
			if again.Space() != old.Space() || again.Class() != old.Class() || again.Recipe() != old.Recipe() {
				t.Errorf("%+v %v %s\nwant %+v %v %s", again.Space(), again.Class(), again.Recipe(), old.Space(), old.Class(), old.Recipe())
			}
			if before, now := queryVector(t, old), queryVector(t, again); !slices.Equal(before, now) {
				t.Errorf("the query has the vector %v, before %v", now, before)
			}
		})
	}
}

// reopened returns a client, and the one that the client of another model opens again for its vectors.
func reopened(t *testing.T, cfg Config) (old, again *Client) {
	t.Helper()
	old, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { old.Close() })
	other, err := New(Config{Provider: "hash"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err = other.Reopen(old.Recipe(), old.Space()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return old, again
}

// queryVector returns the vector of a question.
func queryVector(t *testing.T, c *Client) []float32 {
	t.Helper()
	v, err := c.Query(t.Context(), "how do I get money back for a broken laptop")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

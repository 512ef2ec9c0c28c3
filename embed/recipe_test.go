package embed

import (
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

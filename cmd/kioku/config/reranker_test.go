package config_test

import (
	"testing"
)

// A re-ranker is opt-in: a cross-encoder that was added as one, else a server that is set, else none.
func TestRerankerAuto(t *testing.T) {
	t.Parallel()
	none, one, embedder := stateWith(t), stateWith(t, "zebra", "judge"), stateWith(t, "zebra")
	for name, c := range map[string]struct{ state, file, want string }{
		"nothing":             {none, "", "none"},
		"an added one":        {one, "", "local judge"},
		"an embedding model":  {embedder, "", "none"},
		"a server":            {none, "rerank: {baseUrl: 'http://localhost:8080'}\n", "http"},
		"a model before it":   {one, "rerank: {baseUrl: 'http://localhost:8080'}\n", "local judge"},
		"the server is named": {one, "rerank: {provider: http, baseUrl: 'http://localhost:8080'}\n", "http"},
		"turned off":          {one, "rerank: {provider: none}\n", "none"},
		"named":               {one, "rerank: {provider: local, model: judge}\n", "local judge"},
		"named, not added":    {none, "rerank: {provider: local, model: ghost}\n", "local ghost"},
		"a path":              {none, "rerank: {provider: local, model: /models/x}\n", "local /models/x"},
		"local, none added":   {none, "rerank: {provider: local}\n", "local"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := write(t, c.file)
			src.Env = append(src.Env, "KIOKU_STATE="+c.state)
			conf := load(t, src)
			got := conf.Rerank.Provider
			if dir := conf.Rerank.ModelDir; dir != "" {
				got += " " + modelIn(dir, c.state)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Its settings reach the search and the client, a key is a secret, and what it sends goes through the network of the settings.
func TestRerankerSettings(t *testing.T) {
	t.Parallel()
	src := write(t, "rerank:\n  baseUrl: http://localhost:8080\n  apiKey: env:JUDGE_KEY\n  model: bge\n")
	src.Env = append(src.Env, "JUDGE_KEY=s3cret")
	c := load(t, src)
	if r := c.Rerank; r.APIKey != "s3cret" || r.Model != "bge" || r.BaseURL != "http://localhost:8080" || r.Transport == nil {
		t.Errorf("%+v", r)
	}
	if v, err := c.Value("rerank.apiKey"); err != nil || v.Text == "s3cret" {
		t.Errorf("shown: %q, %v", v.Text, err)
	}
}

package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/internal/modelstore"
	"kioku/internal/testkit"
)

// stateWith returns a state folder with models that were added in this order.
func stateWith(t *testing.T, names ...string) string {
	t.Helper()
	state, from := t.TempDir(), t.TempDir()
	for _, name := range []string{"model.safetensors", "tokenizer.json"} {
		testkit.Must(t, os.WriteFile(filepath.Join(from, name), []byte("{}"), 0o600))
	}
	for i, name := range names {
		a := modelstore.Adder{
			Store: modelstore.New(state), Now: func() time.Time { return time.Unix(int64(i), 0) },
			Open: func(context.Context, string, modelstore.Manifest) (modelstore.Facts, error) {
				return modelstore.Facts{}, nil
			},
		}
		req := modelstore.Request{Source: from, Name: name}
		if name == "judge" {
			req.Role = modelstore.Reranker
		}
		if _, err := a.Add(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// modelIn returns the name of the added model whose folder dir is, or dir.
func modelIn(dir, state string) string {
	rel, err := filepath.Rel(filepath.Join(state, "models"), dir)
	if err != nil || !filepath.IsLocal(rel) {
		return dir
	}
	name, _, _ := strings.Cut(rel, string(filepath.Separator))
	return name
}

// provider: auto is a local model that was added, else a configured key or server, else words alone; the order is local, openai,
// gemini. A key that merely lies in the environment is never used.
func TestProviderAuto(t *testing.T) {
	t.Parallel()
	none, one, two := stateWith(t), stateWith(t, "judge", "zebra"), stateWith(t, "zebra", "ant")
	damaged, judged, unlisted := stateWith(t, "zebra"), stateWith(t, "judge"), t.TempDir()
	for _, path := range []string{filepath.Join(damaged, "models", "zebra", "kioku-model.json"), filepath.Join(unlisted, "models")} {
		testkit.Must(t, os.WriteFile(path, []byte(`{"role":`), 0o600))
	}
	for name, c := range map[string]struct {
		state string
		env   []string
		file  string
		// want are the provider and, of a local model, its name; why is in the reason.
		want, why string
	}{
		"nothing":                     {none, nil, "", "none", "kioku model add minilm adds one"},
		"a local model":               {one, nil, "", "local zebra", "first local model"},
		"the first of two":            {two, nil, "", "local zebra", "first local model"},
		"a local model before a key":  {one, nil, "remote: {apiKey: secret}\n", "local zebra", "first local model"},
		"a damaged model and a key":   {damaged, nil, "remote: {apiKey: secret}\n", "local zebra", "kioku model remove zebra"},
		"damaged models and a key":    {unlisted, nil, "remote: {apiKey: secret}\n", "local .", "no service is used"},
		"a re-ranker and a key":       {judged, nil, "remote: {apiKey: secret}\n", "openai", "remote.apiKey is set by "},
		"a key":                       {none, nil, "remote: {apiKey: secret}\n", "openai", "remote.apiKey is set by "},
		"a key in a KIOKU variable":   {none, []string{"KIOKU_REMOTE_API_KEY=secret"}, "", "openai", "remote.apiKey is set by KIOKU_REMOTE_API_KEY"},
		"a server":                    {none, nil, "remote: {baseUrl: 'http://localhost:1234'}\n", "openai", "remote.baseUrl is set by "},
		"a key in the environment":    {none, []string{"OPENAI_API_KEY=secret"}, "", "none", "OPENAI_API_KEY is in the environment, and is only used after kioku config set provider openai"},
		"named by local.model":        {two, nil, "local: {model: Ant}\n", "local ant", "local.model is set by "},
		"named by model":              {two, nil, "model: ant\n", "local ant", "model is set by "},
		"model of a server":           {two, nil, "model: nomic\nremote: {baseUrl: 'http://localhost:1234'}\n", "openai", "remote.baseUrl"},
		"provider local":              {two, nil, "provider: local\n", "local zebra", ""},
		"provider local, none added":  {none, nil, "provider: local\n", "local", "no model was added; kioku model add minilm"},
		"named and not added":         {none, nil, "local: {model: ant}\n", "local ant", "local.model"},
		"provider none":               {one, nil, "provider: none\n", "none", "provider is set by "},
		"provider openai":             {one, []string{"OPENAI_API_KEY=secret"}, "provider: openai\n", "openai", "provider is set by "},
		"a path":                      {none, nil, "local: {model: /models/x}\n", "local /models/x", "local.model"},
		"another service's variable":  {none, []string{"MY=secret"}, "remote: {apiKey: 'env:MY'}\n", "openai", "remote.apiKey"},
		"Google's variable":           {none, []string{"GEMINI_API_KEY=secret"}, "remote: {apiKey: 'env:GEMINI_API_KEY'}\n", "gemini", "remote.apiKey"},
		"Google's key":                {none, nil, "remote: {apiKey: AIzasecret}\n", "gemini", "remote.apiKey"},
		"Google's server":             {none, nil, "remote: {apiKey: secret, baseUrl: 'https://generativelanguage.googleapis.com'}\n", "gemini", "remote.apiKey"},
		"Google's compatible server":  {none, nil, "remote: {apiKey: secret, baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai'}\n", "openai", "remote.apiKey"},
		"Mistral's variable":          {none, []string{"MISTRAL_API_KEY=secret"}, "remote: {apiKey: 'env:MISTRAL_API_KEY'}\n", "mistral", "remote.apiKey"},
		"keys in the environment":     {none, []string{"GEMINI_API_KEY=secret", "VOYAGE_API_KEY=secret"}, "", "none", "kioku config set provider gemini; VOYAGE_API_KEY"},
		"a service that is not known": {none, nil, "remote: {apiKey: secret, baseUrl: 'https://x.example/v1'}\n", "openai", "remote.apiKey"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := write(t, c.file)
			src.Env = append(src.Env, append(c.env, "KIOKU_STATE="+c.state)...)
			conf := load(t, src)
			got := conf.Embed.Provider
			if conf.Embed.ModelDir != "" {
				got += " " + modelIn(conf.Embed.ModelDir, c.state)
			}
			if got != c.want || !strings.Contains(conf.Embed.Reason, c.why) || strings.Contains(conf.Embed.Reason, "secret") {
				t.Errorf("%s (%s), want %s (%s)", got, conf.Embed.Reason, c.want, c.why)
			}
			if c.want == "none" && conf.Embed.APIKey != "" {
				t.Error("a key is used that nobody has configured")
			}
			if text, _ := value(t, conf, "provider"); !strings.HasPrefix(c.file, "provider") && text != "auto" {
				t.Errorf("the setting is shown as %s", text)
			}
		})
	}
}

func TestAFolderMayNameALocalModel(t *testing.T) {
	t.Parallel()
	state := stateWith(t, "zebra", "ant")
	for file, want := range map[string][]string{
		"local: {model: ant}\n": {"local", "ant"}, "local: {model: moth}\n": {"local", "zebra", "moth; kioku model list"}, "timezone: UTC\n": {"local", "zebra"},
	} {
		src := inFolder(t, "", file)
		src.Env = append(src.Env, "KIOKU_STATE="+state)
		conf := load(t, src)
		got := []string{conf.Embed.Provider, modelIn(conf.Embed.ModelDir, state)}
		if diff := cmp.Diff(want[:2], got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
		if notices := strings.Join(conf.Notices, "\n"); len(want) > 2 && !strings.Contains(notices, want[2]) || len(want) < 3 && notices != "" {
			t.Errorf("%s: notices %q", file, conf.Notices)
		}
	}
	// Other settings than that of the folder hold: a folder cannot have notes embedded that are not to be.
	src := inFolder(t, "provider: none\n", "local: {model: ant}\n")
	src.Env = append(src.Env, "KIOKU_STATE="+state)
	if conf := load(t, src); conf.Embed.Provider != "none" {
		t.Errorf("provider %s", conf.Embed.Provider)
	}
}

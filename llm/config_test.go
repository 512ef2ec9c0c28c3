package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"kioku/llm"
)

func TestNewNamesTheWrongSetting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  llm.Config
		says string
	}{
		"nothing":         {llm.Config{}, "llm.provider"},
		"unknown":         {llm.Config{Provider: "cohere"}, `"cohere" is none of`},
		"no key":          {llm.Config{Provider: "anthropic", Model: "m"}, "ANTHROPIC_API_KEY or llm.apiKey"},
		"no key, Gemini":  {llm.Config{Provider: "gemini", Model: "m"}, "GEMINI_API_KEY or llm.apiKey"},
		"no key, OpenAI":  {llm.Config{Provider: "openai", Model: "m"}, "OPENAI_API_KEY or llm.apiKey"},
		"a key elsewhere": {llm.Config{Provider: "anthropic", Model: "m", BaseURL: "https://models.example"}, "set llm.apiKey (ANTHROPIC_API_KEY is for the provider's own server, and llm.baseUrl is another one: llm.apiKey env:ANTHROPIC_API_KEY sends it there)"},
		"no model":        {llm.Config{Provider: "ollama"}, "llm.model"},
		"bad key":         {llm.Config{Provider: "anthropic", Model: "m", APIKey: "sk-secret\nX-Other: 1"}, "a character that no key has: check ANTHROPIC_API_KEY"},
		"bad URL":         {llm.Config{Provider: "openai", Model: "m", BaseURL: "localhost:1234"}, "llm.baseUrl is not a URL"},
		"http":            {llm.Config{Provider: "openai", Model: "m", BaseURL: "http://models.example/v1"}, "unencrypted to models.example: use https, or allow it with llm.allowHttp"},
		"http to a LAN":   {llm.Config{Provider: "ollama", Model: "m", BaseURL: "http://192.168.1.7:11434"}, "llm.allowHttp"},
		"negative bounds": {llm.Config{Provider: "ollama", Model: "m", Limits: llm.Limits{TokensPerDay: -1}}, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := llm.New(c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sk-secret") {
				t.Error(err)
			}
		})
	}
}

func TestNewAcceptsSettings(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]llm.Config{
		"local without key":    {Provider: "openai", Model: "m", BaseURL: "http://localhost:1234/v1"},
		"loopback":             {Provider: "openai", Model: "m", BaseURL: "http://[::1]:1234"},
		"Ollama here":          {Provider: "ollama", Model: "m"},
		"http that is allowed": {Provider: "ollama", Model: "m", BaseURL: "http://192.168.1.7:11434", AllowHTTP: true},
		"https":                {Provider: "openai", Model: "m", BaseURL: "https://models.example/v1"},
		"a key with a newline": {Provider: "anthropic", Model: "m", APIKey: "sk-1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m, err := llm.New(cfg); err != nil || m.Name() != "m" {
				t.Errorf("%v, %v", m, err)
			}
		})
	}
}

func TestNewAppliesTheLimits(t *testing.T) {
	t.Parallel()
	_, m := serve(t, llm.Config{Provider: "openai", Limits: llm.Limits{TokensPerDay: 1}}, providers["openai"])
	if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), hi(), nil); llm.KindOf(err) != llm.KindBudget {
		t.Errorf("%v", err)
	}
}

func TestWindowIsSetOrKnown(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int{
		"claude-opus-9": 200_000, "anthropic/claude-sonnet-4.5": 200_000, "gpt-4": 8192, "gpt-4o-mini": 128_000, "GPT-4.1-nano": 1_047_576,
		"openai/gpt-4-32k-0613": 32_768, "o1-mini": 128_000, "o1": 200_000, "qwen2.5-7b-instruct": 0, "my-gpt-4": 0,
	} {
		for _, provider := range []string{"openai", "anthropic"} {
			if got := newModel(t, llm.Config{Provider: provider, Model: model}).Window(); got != want {
				t.Errorf("%s: %d, want %d", model, got, want)
			}
			if got := newModel(t, llm.Config{Provider: provider, Model: model, Window: 5000}).Window(); got != 5000 {
				t.Errorf("%s: %d though 5000 is set", model, got)
			}
		}
	}
}

func TestStringShowsNoKey(t *testing.T) {
	t.Parallel()
	cfg := llm.Config{Provider: "openai", Model: "m", APIKey: testKey, BaseURL: "https://me:hunter22@models.example"}
	m := newModel(t, cfg)
	for _, v := range []any{cfg, &cfg, m} {
		for _, form := range []string{"%v", "%+v", "%s"} {
			if s := fmt.Sprintf(form, v); strings.Contains(s, testKey) || strings.Contains(s, "hunter22") {
				t.Errorf("%s: %s", form, s)
			}
		}
	}
}

func TestServerTellsServersApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, same := range [][]llm.Config{
		{{Provider: "openai"}, {Provider: "openai", BaseURL: "https://API.openai.com:443/v1/"}},
		{{Provider: "ollama"}, {Provider: "ollama", BaseURL: "http://localhost:11434/api"}},
		{{Provider: "gemini"}, {Provider: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/"}},
		{{Provider: "anthropic"}},
		{{Provider: "openai", BaseURL: "http://localhost:1234"}, {Provider: "openai", BaseURL: "http://me:secret@LOCALHOST:1234/v1/chat/completions?key=abc"}},
		{{Provider: "openai", BaseURL: "http://localhost:1235/v1"}},
		{{Provider: "openai", BaseURL: "https://localhost:1234/v1"}},
		{{Provider: "openai", BaseURL: "http://localhost:1234/other/v1"}},
		{{Provider: "ollama", BaseURL: "http://localhost:1234"}},
	} {
		want := same[0].Server()
		if other, ok := seen[want]; ok {
			t.Errorf("%s and %s are both %s", other, same[0].BaseURL, want)
		}
		seen[want] = same[0].BaseURL
		for _, cfg := range same[1:] {
			if got := cfg.Server(); got != want {
				t.Errorf("%s: %s, want %s", cfg.BaseURL, got, want)
			}
		}
		if strings.Contains(want, "localhost") || strings.Contains(want, "secret") {
			t.Errorf("%s has a part of the address", want)
		}
	}
}

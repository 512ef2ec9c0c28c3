package host

import (
	"log/slog"
	"strings"
	"testing"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/llm"
	"kioku/memory"
	"kioku/server"
)

// asking returns settings in which derivation asks a model.
func asking(change func(*config.Config)) *config.Config {
	conf, err := config.Load(config.Sources{Dir: "/", Env: []string{"HOME=/nobody"}})
	if err != nil {
		panic(err)
	}
	conf.Derive.Enabled, conf.Derive.Model = true, config.DeriveDefaultModel
	conf.LLM.Provider, conf.LLM.Model = "ollama", "big"
	change(conf)
	return conf
}

func TestCeilingOfAModelOnThisMachineIsPrivate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		llm     llm.Config
		setting string
		want    memory.Sensitivity
	}{
		"ollama":           {llm.Config{Provider: "ollama"}, "auto", memory.Private},
		"ollama elsewhere": {llm.Config{Provider: "ollama", BaseURL: "http://10.0.0.7:11434"}, "auto", memory.Normal},
		"openai":           {llm.Config{Provider: "openai"}, "auto", memory.Normal},
		"loopback":         {llm.Config{Provider: "openai", BaseURL: "http://127.0.0.1:8080/v1"}, "auto", memory.Private},
		"localhost":        {llm.Config{Provider: "openai", BaseURL: "localhost:8080"}, "auto", memory.Private},
		"IPv6":             {llm.Config{Provider: "openai", BaseURL: "http://[::1]:8080"}, "auto", memory.Private},
		"looks like it":    {llm.Config{Provider: "openai", BaseURL: "https://localhost.example.org"}, "auto", memory.Normal},
		"set to normal":    {llm.Config{Provider: "ollama"}, "normal", memory.Normal},
		"set to private":   {llm.Config{Provider: "openai"}, "private", memory.Private},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ceilingOf(asking(func(conf *config.Config) { conf.LLM, conf.Derive.MaxSensitivity = c.llm, c.setting }))
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestDeriveModelIsTheOneOfTheSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change        func(*config.Config)
		want, problem string
	}{
		"none":    {func(c *config.Config) { c.Derive.Model = config.DeriveNoModel }, "", ""},
		"default": {func(*config.Config) {}, "big", ""},
		"another": {func(c *config.Config) { c.Derive.Model = "small" }, "small", ""},
		"no llm":  {func(c *config.Config) { c.LLM.Provider = "none" }, "", "llm.provider is none"},
		"echo":    {func(c *config.Config) { c.LLM.Provider = "echo" }, "", "only chats"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := deriveModel(asking(c.change))
			got := ""
			if m != nil {
				got = m.Name()
			}
			if got != c.want || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.problem)
			}
		})
	}
}

// Acceptance check 1: while derivation is off there is no service, so that no model is made and searches are those of the memory itself.
func TestAcceptance01DerivationIsOffByDefault(t *testing.T) {
	t.Parallel()
	conf, err := config.Load(config.Sources{Dir: "/", Env: []string{"HOME=/nobody"}})
	if err != nil {
		t.Fatal(err)
	}
	if conf.Derive.Enabled {
		t.Error("derivation is on by default")
	}
	for name, conf := range map[string]*config.Config{
		"by default": conf, "with a model": asking(func(c *config.Config) { c.Derive.Enabled = false }),
	} {
		models := 0
		d := derivers{counted: func(_ string, m llm.Model) llm.Model { models++; return m }}
		s, err := d.of(conf, config.Place{Agent: "main", Workspace: t.TempDir()}, nil, slog.New(slog.DiscardHandler))
		if s != nil || err != nil || models != 0 {
			t.Errorf("%s: a service: %v, %d models, %v", name, s != nil, models, err)
		}
		m := &kioku.Memory{}
		if got := recallingFrom(conf, m, s); got != server.Memory(m) {
			t.Errorf("%s: searches go through %T", name, got)
		}
	}
}

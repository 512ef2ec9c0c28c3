package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"kioku/cmd/kioku/internal/modelstore"
)

// Models returns the store of the models that were added.
func (c *Config) Models() *modelstore.Store { return modelstore.New(c.State) }

// chooseProvider turns the setting provider into the provider that it stands for, and says why that is.
func (c *Config) chooseProvider(env map[string]string) {
	e := &c.Embed
	switch c.Provider {
	case "auto":
		if !c.chooseLocal() && !c.chooseRemote() {
			e.Provider, e.Reason = "none", c.whyNone(env)
		}
	case "local":
		if !c.chooseLocal() {
			e.Provider, e.Reason = "local", "provider is local, and no model was added; kioku model add minilm adds one"
		}
	default:
		e.Provider, e.Reason = c.Provider, fmt.Sprintf("provider is set by %s", c.origins["provider"].where)
	}
}

// chooseLocal chooses a local model, and returns whether there is one. One that the user names counts also if it is not there, and
// one that cannot be read if there is no other: the embedder reports it, and notes are not sent to a service in its place.
func (c *Config) chooseLocal() bool {
	name, why := c.namedModel()
	if name != "" {
		c.useLocal(c.modelDir(name), why)
		return true
	}
	if c.Embed.Model != "" && c.Provider != "local" {
		return false
	}
	if m, ok := c.Models().First(modelstore.Embedder); ok {
		c.useLocal(m.Dir, "the first local model that was added")
		return true
	}
	m, ok := c.Models().Unreadable()
	if ok {
		c.useLocal(m.Dir, whyUnreadable(m))
	}
	return ok
}

// useLocal makes the model of a folder the provider.
func (c *Config) useLocal(dir, why string) {
	c.Embed.Provider, c.Embed.Reason, c.Embed.ModelDir = "local", why, dir
}

// whyUnreadable says why a model that cannot be read is chosen, and how to have another provider.
func whyUnreadable(m modelstore.Model) string {
	if m.Name == "" {
		return fmt.Sprintf("no service is used in place of a local model that may be there: %v", m.Err)
	}
	return fmt.Sprintf("no service is used in place of the local model %s, which cannot be read (%v); kioku model remove %s removes it",
		m.Name, m.Err, m.Name)
}

// modelDir returns the folder of a model by its name or path. It need not exist.
func (c *Config) modelDir(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if m, err := c.Models().Find(name); err == nil {
		return m.Dir
	}
	return c.Models().Dir(name)
}

// namedModel returns the local model that the settings name, and by which one; "" if they name none. The setting model counts if it
// is the name of a model that was added.
func (c *Config) namedModel() (name, why string) {
	from := c.origins["local.model"]
	if c.LocalModel != "" {
		_, err := c.Models().Find(c.LocalModel)
		if err == nil || from.layer != byFolder {
			return c.LocalModel, "local.model is set by " + from.where
		}
		c.Notices = append(c.Notices, fmt.Sprintf("%s: local.model has no effect: %v", from.where, err))
	}
	if c.Embed.Model == "" {
		return "", ""
	}
	if _, err := c.Models().Find(c.Embed.Model); err == nil || c.Provider == "local" {
		return strings.ToLower(c.Embed.Model), "model is set by " + c.origins["model"].where
	}
	return "", ""
}

// chooseRemote chooses the service that the settings have a key or an address of, and returns whether they have one.
func (c *Config) chooseRemote() bool {
	for _, key := range []string{"remote.apiKey", "remote.baseUrl"} {
		v, err := c.Value(key)
		if err != nil || v.Text == "" {
			continue
		}
		c.Embed.Provider = c.service()
		c.Embed.Reason = fmt.Sprintf("no local model was added, and %s is set by %s", key, v.Origin)
		return true
	}
	return false
}

// sign is what tells a service from those that are compatible with OpenAI's: the host of its address, the variable that its key is
// kept in, and how its keys begin.
type sign struct{ provider, host, variable, key string }

var signs = []sign{
	{"gemini", "generativelanguage.googleapis.com", "GEMINI_API_KEY", "AIza"},
	{"gemini", "", "GOOGLE_API_KEY", ""},
	{"voyage", "api.voyageai.com", "VOYAGE_API_KEY", "pa-"},
	{"mistral", "api.mistral.ai", "MISTRAL_API_KEY", ""},
}

// service returns the provider that the address or the key in the settings belongs to.
func (c *Config) service() string {
	if c.Embed.BaseURL != "" {
		u, err := url.Parse(strings.TrimSpace(c.Embed.BaseURL))
		for _, s := range signs {
			if err == nil && s.host != "" && u.Hostname() == s.host && !strings.Contains(u.Path, "/openai") {
				return s.provider
			}
		}
		return "openai"
	}
	written := c.writtenSecret("remote.apiKey")
	for _, s := range signs {
		if written == "env:"+s.variable || s.key != "" && strings.HasPrefix(written, s.key) {
			return s.provider
		}
	}
	return "openai"
}

// writtenSecret returns a secret as it is written, which may be a reference. It may never be shown.
func (c *Config) writtenSecret(key string) string {
	for _, s := range c.registry.secrets {
		if s.key == key {
			return s.written
		}
	}
	return ""
}

// whyNone says what would give vectors. A key that only lies in the environment is not used: nobody has said that notes may be sent.
func (c *Config) whyNone(env map[string]string) string {
	why := "no local model was added and no service is set; kioku model add minilm adds one"
	for _, s := range append([]sign{{provider: "openai", variable: "OPENAI_API_KEY"}}, signs...) {
		if env[s.variable] != "" {
			why += fmt.Sprintf("; %s is in the environment, and is only used after kioku config set provider %s", s.variable, s.provider)
		}
	}
	return why
}

// chooseReranker turns the setting rerank.provider into the re-ranker that it stands for.
func (c *Config) chooseReranker() {
	r := &c.Rerank
	added, ok := c.Models().First(modelstore.Reranker)
	if r.Provider = c.RerankProvider; r.Provider == "auto" {
		switch {
		case ok:
			r.Provider = "local"
		case r.BaseURL != "":
			r.Provider = "http"
		default:
			r.Provider = "none"
		}
	}
	switch {
	case r.Provider != "local":
	case r.Model != "":
		r.ModelDir = c.modelDir(r.Model)
	case ok:
		r.ModelDir = added.Dir
	}
}

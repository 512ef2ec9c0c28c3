package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku/agent/transcripts"
	"kioku/embed"
	"kioku/internal/text" // text is a kind of setting
	"kioku/memory"
)

// loader fills in a Config from one source after the other and collects the errors.
type loader struct {
	conf *Config
	env  map[string]string
	home string
	errs []error
}

func newLoader(src Sources) *loader {
	l := &loader{conf: Default(), env: map[string]string{}}
	for _, entry := range src.Env {
		name, value, _ := strings.Cut(entry, "=")
		l.env[name] = value
	}
	l.home = l.env["HOME"]
	l.conf.src, l.conf.home, l.conf.registry.home = src, l.home, l.home
	l.conf.temporary = l.env["TMPDIR"]
	return l
}

func (l *loader) fail(where, key string, err error) {
	l.errs = append(l.errs, &Error{Where: where, Key: key, Problem: err.Error()})
}

// spares reports whether an error takes away only the language model: it is about a setting of the model in the user's file or in a
// variable. A flag of this run must be right, and a workspace may not set such settings at all.
func (l *loader) spares(err error) bool {
	e := (*Error)(nil)
	if !errors.As(err, &e) || !strings.HasPrefix(e.Key, "llm.") || strings.HasPrefix(e.Where, "-") {
		return false
	}
	return l.conf.FolderFile == "" || !strings.HasPrefix(e.Where, l.conf.FolderFile+":")
}

// put sets one value, in which paths are relative to base, and remembers where it came from.
func (l *loader) put(by layer, where, base string, f Field, items ...string) {
	l.conf.registry.base = base
	if err := f.value.set(items); err != nil {
		l.fail(where, f.Key, err)
		return
	}
	l.conf.origins[f.Key] = origin{by, where}
	if f.Key == "agents" {
		for _, item := range items {
			id, _, _ := strings.Cut(item, "=")
			l.conf.origins["agents."+id+".workspace"] = origin{by, where}
		}
	}
}

// setText sets a value that is written in one line: a list is separated by commas.
func (l *loader) setText(by layer, where, key, value string) {
	f, ok := l.conf.lookup(key)
	if !ok {
		l.unknown(where, key)
		return
	}
	l.put(by, where, l.conf.src.Dir, f, split(f.value.kind, value)...)
}

// unknown reports a key that is no setting.
func (l *loader) unknown(where, key string) {
	l.errs = append(l.errs, l.conf.registry.unknown(where, key))
}

// configVariable names the config file. It is not a setting, because a file cannot name itself.
const configVariable = "KIOKU_CONFIG"

// readEnv reads the variables KIOKU_...; an empty one counts as unset, an unknown one is a notice.
func (l *loader) readEnv() {
	keys := map[string]string{configVariable: ""}
	for _, f := range l.conf.registry.fields {
		keys[f.Env()] = f.Key
	}
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		if !strings.HasPrefix(name, "KIOKU_") || name == configVariable || l.env[name] == "" {
			continue
		}
		if key, ok := keys[name]; ok {
			l.setText(byEnv, name, key, l.env[name])
			continue
		}
		notice := "the environment variable " + shorten(name) + " has no effect"
		if why := goneVariables()[name]; why != "" {
			notice += ": " + why
		} else if near := text.Nearest(name, slices.Sorted(maps.Keys(keys))); near != "" {
			notice += "; did you mean " + near + "?"
		}
		l.conf.Notices = append(l.conf.Notices, notice)
	}
}

// finish checks the settings together and fills in what depends on the environment.
func (l *loader) finish() {
	l.agree()
	if l.conf.State == "" {
		l.conf.State = l.folder("XDG_STATE_HOME", ".local/state")
	}
	if tz, ok := l.env["TZ"]; ok && l.conf.Location == time.Local {
		if _, err := SystemZone(tz); err != nil {
			l.conf.Notices = append(l.conf.Notices, fmt.Sprintf("the environment variable TZ has no effect, and days are those of UTC: %v", err))
		}
	}
	l.conf.ClaudeCodeDir = cmp.Or(l.conf.ClaudeCodeDir, transcripts.ClaudeCode.Folder(l.conf.src.Env))
	l.conf.CodexDir = cmp.Or(l.conf.CodexDir, transcripts.Codex.Folder(l.conf.src.Env))
	l.conf.chooseProvider(l.env)
	l.conf.chooseReranker()
	l.reveal()
}

// agree checks the settings that depend on each other.
func (l *loader) agree() {
	c := l.conf
	if !slices.Contains(c.Sources, memory.SourceMemory) {
		l.disagree("sources", "", "memory is always indexed; write memory,sessions")
	}
	if c.TokenFile != "" && c.Explicit("tokens") {
		l.disagree("tokens", "tokenFile", "tokens and tokenFile are both set; set one")
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		l.disagree("tls.cert", "tls.key", "tls.cert and tls.key belong together; set both or none")
	}
	if c.TLS.ClientCA != "" && c.TLS.Cert == "" {
		l.disagree("tls.clientCA", "", "needs tls.cert and tls.key")
	}
	if (c.Client.Cert == "") != (c.Client.Key == "") {
		l.disagree("client.cert", "client.key", "client.cert and client.key belong together; set both or none")
	}
	c.Chunking.Overlap = c.Chunking.Tokens / 5
	c.Index.MaxWait = max(c.Index.MaxWait, c.Index.Debounce)
	if joined, ok := c.Flush.Check().(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			key, problem, _ := strings.Cut(err.Error(), " ")
			l.disagree(key, "", problem)
		}
	}
}

// disagree reports an error in a setting, a block of settings, or a setting and another one. It names the place of that value
// of them which goes before the others: without it, the others might agree.
func (l *loader) disagree(key, other, problem string) {
	var from origin
	for _, f := range l.conf.registry.fields {
		o := l.conf.origins[f.Key]
		if (f.Key == key || f.Key == other || strings.HasPrefix(f.Key, key+".")) && o.layer > from.layer {
			from = o
		}
	}
	l.errs = append(l.errs, &Error{Where: from.where, Key: key, Problem: problem})
}

// reveal reads the secrets that the settings refer to.
func (l *loader) reveal() {
	c := l.conf
	for _, s := range c.registry.secrets {
		text, err := reveal(s.written, l.env)
		if err != nil {
			l.fail(c.origins[s.key].where, s.key, err)
		}
		*s.at = text
	}
	l.embeddingKey()
	if own := (map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"})[c.LLM.Provider]; own != "" &&
		c.LLM.APIKey == "" && c.LLM.BaseURL == "" {
		c.LLM.APIKey = l.env[own]
	}
	c.Embed.Headers = l.revealHeaders("remote.headers", c.headers)
	c.Tracing.Headers = l.revealHeaders("tracing.headers", c.traceHeaders)
}

// embeddingKey finds the key of the embedding provider, and says where it is from. The variable of a provider counts only if that
// provider is set, and never for another server than its own.
func (l *loader) embeddingKey() {
	e := &l.conf.Embed
	if e.APIKey != "" {
		e.KeySource = "remote.apiKey (" + l.conf.origins["remote.apiKey"].where + ")"
		return
	}
	if name := embed.KeyVariable(e.Provider); name != "" && e.BaseURL == "" && l.env[name] != "" {
		e.APIKey, e.KeySource = l.env[name], "the environment variable "+name
	}
}

// folder returns Kioku's folder in the one that a variable names, else in one of the user's home, "" if there is no home.
func (l *loader) folder(variable, inHome string) string {
	if dir := l.env[variable]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "kioku")
	}
	if l.home == "" {
		return ""
	}
	return filepath.Join(l.home, inHome, "kioku")
}

// filePath returns the config file, "" if the environment names no home. named is true if the file was named; then it must
// exist.
func (l *loader) filePath(src Sources) (path string, named bool) {
	if file := cmp.Or(src.File, l.env[configVariable]); file != "" {
		r := registry{base: src.Dir, home: l.home}
		return r.abs(file), true
	}
	dir := l.folder("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return "", false
	}
	return filepath.Join(dir, "config.yaml"), false
}

// FilePath returns the path of the user's config file, which need not exist; "" without a home.
func FilePath(src Sources) string {
	path, _ := newLoader(src).filePath(src)
	return path
}

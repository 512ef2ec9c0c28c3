package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/internal/text" // text is a kind of setting
)

// loader fills in a Config from one source after the other and collects the faults.
type loader struct {
	conf *Config
	env  map[string]string
	home string
	errs []error
}

func newLoader(src Sources) *loader {
	l := &loader{conf: Default(), env: environment(src.Env)}
	l.conf.dir, l.home = src.Dir, l.env["HOME"]
	l.conf.registry.home = l.home
	return l
}

// environment returns the variables by their names.
func environment(list []string) map[string]string {
	env := map[string]string{}
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

func (l *loader) fail(where, key string, err error) {
	l.errs = append(l.errs, &Error{Where: where, Key: key, Problem: err.Error()})
}

// put sets one value, in which paths are relative to base, and remembers where it came from.
func (l *loader) put(by layer, where, base string, f Field, items ...string) {
	l.conf.registry.base = base
	if err := f.value.set(items); err != nil {
		l.fail(where, f.Key, err)
		return
	}
	l.conf.origins[f.Key] = origin{by, where}
}

// setText sets a value that is written in one line: a list is separated by commas.
func (l *loader) setText(by layer, where, key, value string) {
	f, ok := l.conf.lookup(key)
	if !ok {
		l.unknown(where, key)
		return
	}
	l.put(by, where, l.conf.dir, f, split(f.value.kind, value)...)
}

// unknown reports a key that is no setting: as an error, or as a notice if the setting once existed.
func (l *loader) unknown(where, key string) {
	err := l.conf.registry.unknown(where, key)
	if removed()[key] != "" {
		l.conf.Notices = append(l.conf.Notices, err.Error())
		return
	}
	l.errs = append(l.errs, err)
}

// configVariable names the config file. It is not a setting, because a file cannot name itself.
const configVariable = "KIOKU_CONFIG"

// readEnv reads the variables KIOKU_...; an empty one counts as unset, an unknown one is a notice.
func (l *loader) readEnv() {
	keys := map[string]string{configVariable: ""}
	for _, f := range l.conf.registry.fields {
		keys[f.Env()] = f.Key
	}
	for key := range removed() {
		keys[Field{Key: key}.Env()] = key
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
		if near := text.Nearest(name, slices.Sorted(maps.Keys(keys))); near != "" {
			notice += "; did you mean " + near + "?"
		}
		l.conf.Notices = append(l.conf.Notices, notice)
	}
}

// finish checks the settings together and fills in what depends on the environment.
func (l *loader) finish() {
	l.agree()
	if l.conf.State == "" {
		l.conf.State = l.defaultState()
	}
	l.reveal()
}

// agree checks the settings that depend on each other.
func (l *loader) agree() {
	c := l.conf
	if c.Chunking.Overlap >= c.Chunking.Tokens {
		l.cross("chunking.overlap", "chunking.tokens", fmt.Errorf("%d is not less than chunking.tokens, %d", c.Chunking.Overlap, c.Chunking.Tokens))
	}
	if *c.Search.VectorWeight+*c.Search.TextWeight == 0 {
		l.cross("query.hybrid.vectorWeight", "query.hybrid.textWeight", fmt.Errorf("vectorWeight and textWeight are both 0"))
	}
	if c.Index.MaxWait < c.Index.Debounce {
		l.cross("sync.maxWaitMs", "sync.watchDebounceMs", fmt.Errorf("%d is less than sync.watchDebounceMs, %d", c.Index.MaxWait.Milliseconds(), c.Index.Debounce.Milliseconds()))
	}
	l.agreeAgentSide()
}

// agreeAgentSide checks the settings of the agent side that depend on each other.
func (l *loader) agreeAgentSide() {
	if err := l.conf.Prune.Check(); err != nil {
		name, problem, _ := strings.Cut(err.Error(), ": ")
		l.wrong("contextPruning."+name, problem)
	}
	if faults, ok := l.conf.Flush.Check().(interface{ Unwrap() []error }); ok {
		for _, fault := range faults.Unwrap() {
			key, problem, _ := strings.Cut(fault.Error(), " ")
			l.wrong(key, problem)
		}
	}
}

// wrong reports a fault in a setting or a block of settings, at the place where it was set.
func (l *loader) wrong(key, problem string) {
	where := l.conf.origins[key].where
	for _, f := range l.conf.registry.fields {
		if where == "" && strings.HasPrefix(f.Key, key+".") {
			where = l.conf.origins[f.Key].where
		}
	}
	l.fail(where, key, errors.New(problem))
}

// cross reports a fault between two settings at the one that was set.
func (l *loader) cross(key, other string, err error) {
	l.fail(cmp.Or(l.conf.origins[key].where, l.conf.origins[other].where), key, err)
}

// reveal reads the secrets that the settings refer to.
func (l *loader) reveal() {
	c := l.conf
	c.Embed.APIKey = l.secret("remote.apiKey", c.apiKey)
	if c.apiKey == "" && c.Embed.Provider == "openai" && c.Embed.BaseURL == "" {
		c.Embed.APIKey = l.env["OPENAI_API_KEY"]
	}
	c.LLM.APIKey = l.secret("llm.apiKey", c.llmKey)
	if own := (map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"})[c.LLM.Provider]; own != "" &&
		c.llmKey == "" && c.LLM.BaseURL == "" {
		c.LLM.APIKey = l.env[own]
	}
	c.Sidecar.Token = l.secret("sidecar.token", c.sidecarToken)
	for name, value := range c.headers {
		text, err := reveal(value, l.env)
		if err != nil {
			l.fail(c.origins["remote.headers"].where, "remote.headers."+name, err)
			continue
		}
		if c.Embed.Headers == nil {
			c.Embed.Headers = map[string]string{}
		}
		c.Embed.Headers[http.CanonicalHeaderKey(name)] = text
	}
}

// secret reads one secret.
func (l *loader) secret(key, written string) string {
	text, err := reveal(written, l.env)
	if err != nil {
		l.fail(l.conf.origins[key].where, key, err)
	}
	return text
}

// defaultState returns the state folder of the user, "" if the environment names no home.
func (l *loader) defaultState() string {
	if dir := l.env["XDG_STATE_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "kioku")
	}
	if l.home == "" {
		return ""
	}
	return filepath.Join(l.home, ".local", "state", "kioku")
}

// FilePath returns the config file that a run with these sources reads, "" if the environment names no home. named is true
// if the file was named; then it must exist.
func FilePath(src Sources) (path string, named bool) {
	env := environment(src.Env)
	switch {
	case src.File != "", env[configVariable] != "":
		r := registry{base: src.Dir, home: env["HOME"]}
		return r.abs(cmp.Or(src.File, env[configVariable])), true
	case filepath.IsAbs(env["XDG_CONFIG_HOME"]):
		return filepath.Join(env["XDG_CONFIG_HOME"], "kioku", "config.yaml"), false
	case env["HOME"] != "":
		return filepath.Join(env["HOME"], ".config", "kioku", "config.yaml"), false
	}
	return "", false
}

// isFolder reports whether a path is a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

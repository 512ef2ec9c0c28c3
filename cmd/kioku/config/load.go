package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	names "kioku/internal/text" // text is a kind of setting
)

// loader fills in a Config, place by place, and collects what is wrong.
type loader struct {
	conf *Config
	env  map[string]string
	errs []error
}

func newLoader(src Sources) *loader {
	l := &loader{conf: Default(), env: map[string]string{}}
	for _, entry := range src.Env {
		name, value, _ := strings.Cut(entry, "=")
		l.env[name] = value
	}
	l.conf.dir, l.conf.home = src.Dir, l.env["HOME"]
	return l
}

func (l *loader) fail(where, key string, err error) {
	l.errs = append(l.errs, &Error{Where: where, Key: key, Problem: err.Error()})
}

// put sets one value and remembers where it came from.
func (l *loader) put(by layer, where string, f Field, in input) {
	if err := f.set(l.conf, in); err != nil {
		l.fail(where, f.Key, err)
		return
	}
	l.conf.origins[f.Key] = origin{by, where}
}

// setText sets a value that is written in one line: a list is separated by commas.
func (l *loader) setText(by layer, where, key, value string) {
	f, ok := lookup(key)
	if !ok {
		l.errs = append(l.errs, unknown(where, key))
		return
	}
	l.put(by, where, f, input{items: split(f.kind, value), base: l.conf.dir, home: l.conf.home})
}

func split(k kind, value string) []string {
	if k != aList && k != aMap {
		return []string{value}
	}
	var items []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// configVariable names the config file; it is no setting, since a file cannot name itself.
const configVariable = "KIOKU_CONFIG"

// readEnv reads the variables KIOKU_...; an empty one counts as unset, an unknown one is a notice.
func (l *loader) readEnv() {
	byName := map[string]Field{}
	known := []string{configVariable}
	for _, f := range Fields() {
		byName[f.Env()] = f
		known = append(known, f.Env())
	}
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		if !strings.HasPrefix(name, "KIOKU_") || name == configVariable || l.env[name] == "" {
			continue
		}
		if f, ok := byName[name]; ok {
			l.setText(byEnv, name, f.Key, l.env[name])
			continue
		}
		notice := "the environment variable " + shorten(name) + " has no effect"
		if near := names.Nearest(name, known); near != "" {
			notice += "; did you mean " + near + "?"
		}
		l.conf.Notices = append(l.conf.Notices, notice)
	}
}

// finish checks what no setting can know alone, and fills in what depends on the environment.
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

// cross reports a fault between two settings at the one that somebody set.
func (l *loader) cross(key, other string, err error) {
	l.fail(cmp.Or(l.conf.origins[key].where, l.conf.origins[other].where), key, err)
}

// reveal looks up the secrets that the settings refer to.
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

// secret looks up one secret.
func (l *loader) secret(key, written string) string {
	text, err := reveal(written, l.env)
	if err != nil {
		l.fail(l.conf.origins[key].where, key, err)
	}
	return text
}

// defaultState is the state folder of a user, empty where the environment names no home.
func (l *loader) defaultState() string {
	if dir := l.env["XDG_STATE_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "kioku")
	}
	if l.conf.home == "" {
		return ""
	}
	return filepath.Join(l.conf.home, ".local", "state", "kioku")
}

// FilePath returns the config file that a run with these sources reads, empty where the environment names no home.
// Whether it must exist is told by the second result: it was named, rather than looked for.
func FilePath(src Sources) (path string, named bool) {
	env := newLoader(src).env
	switch {
	case src.File != "":
		return input{base: src.Dir, home: env["HOME"]}.abs(src.File), true
	case env[configVariable] != "":
		return input{base: src.Dir, home: env["HOME"]}.abs(env[configVariable]), true
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

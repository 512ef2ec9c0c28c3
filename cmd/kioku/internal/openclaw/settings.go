package openclaw

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kioku/cmd/kioku/config"
)

// Left is a setting of OpenClaw that is not taken over.
type Left struct {
	// Key is its name in OpenClaw's configuration.
	Key string `json:"key"`
	// Why says why, and what to do instead.
	Why string `json:"why"`
}

// taker collects what is taken over and what is not.
type taker struct {
	home    *Home
	changes []config.Change
	left    []Left
}

// Settings returns OpenClaw's settings of memory as changes of Kioku's, in the order of their keys, and those that are left.
func (h *Home) Settings() (changes []config.Change, left []Left) {
	t := &taker{home: h}
	search := map[string]any{}
	defaults := block(h.settings, "agents", "defaults")
	for _, from := range []map[string]any{block(defaults, "memorySearch"), block(defaults, "memory", "search"), block(h.settings, "memory", "search")} {
		maps.Copy(search, from)
	}
	t.provider(search)
	t.search("memory.search", search, "")
	for key, name := range others {
		if value, ok := at(defaults, key); ok {
			t.take("agents.defaults."+key, name, value)
		}
	}
	for _, a := range h.Agents() {
		for _, name := range []string{"memory", "memorySearch"} {
			if len(block(a.settings, name)) > 0 {
				t.leave("agents.entries."+a.ID+"."+name, "settings of one agent stand in .kioku.yaml of its workspace; kioku config set --folder writes them")
			}
		}
	}
	if _, ok := h.settings["$include"]; ok {
		t.leave("$include", "included files are not read; kioku config set has the settings")
	}
	slices.SortFunc(t.changes, func(a, b config.Change) int { return strings.Compare(a.Key, b.Key) })
	slices.SortFunc(t.left, func(a, b Left) int { return strings.Compare(a.Key, b.Key) })
	return t.changes, t.left
}

// others are settings of agents.defaults beside the search, and Kioku's names.
var others = map[string]string{
	"userTimezone":                               "timezone",
	"bootstrapMaxChars":                          "bootstrapMaxChars",
	"compaction.reserveTokensFloor":              "compaction.reserveTokensFloor",
	"compaction.memoryFlush.enabled":             "compaction.memoryFlush.enabled",
	"compaction.memoryFlush.softThresholdTokens": "compaction.memoryFlush.softThresholdTokens",
}

// sameName are the providers that both know by one name, and compatible those that Kioku reaches as "openai" at an address.
var (
	sameName   = []string{"none", "openai", "gemini", "voyage", "mistral", "ollama"}
	compatible = map[string]string{
		"openai-compatible": "", "lmstudio": "http://127.0.0.1:1234/v1", "deepinfra": "https://api.deepinfra.com/v1/openai",
	}
)

// provider takes over what computes embeddings and takes it out of the block.
func (t *taker) provider(search map[string]any) {
	name, _ := search["provider"].(string)
	delete(search, "provider")
	if name == "" || name == "auto" {
		return
	}
	remote := maps.Clone(block(search, "remote"))
	custom := block(t.home.settings, "models", "providers", name)
	kind, address := name, ""
	if at, ok := compatible[name]; ok {
		kind, address = "openai", at
	} else if api, _ := custom["api"].(string); api == "ollama" || strings.HasPrefix(api, "openai") {
		kind, _, _ = strings.Cut(api, "-")
	}
	if !slices.Contains(sameName, kind) {
		t.leave("memory.search.provider", fmt.Sprintf("Kioku has no provider %s; kioku model add has local models", name))
		for _, key := range []string{"model", "remote", "outputDimensionality", "local"} {
			delete(search, key)
		}
		return
	}
	if own, _ := custom["baseUrl"].(string); own != "" {
		address = own
	}
	if remote == nil {
		remote = map[string]any{}
	}
	if remote["baseUrl"] == nil && address != "" {
		remote["baseUrl"] = address
	}
	if remote["apiKey"] == nil && custom["apiKey"] != nil {
		remote["apiKey"] = custom["apiKey"]
	}
	search["remote"] = remote
	t.take("memory.search.provider", "provider", kind)
}

// search takes over the settings of a block. prefix is the name of the block inside of memory.search, with a dot.
func (t *taker) search(where string, settings map[string]any, prefix string) {
	for name, value := range settings {
		key := prefix + name
		ours := key
		if key == "outputDimensionality" {
			ours = "dims"
		}
		inner, isBlock := value.(map[string]any)
		switch why := config.OpenClawIgnores(key); {
		case why != "":
			t.leave(where+"."+name, why)
		case key == "extraPaths":
			t.extraPaths(value)
		case key == "remote.apiKey" || key == "remote.headers":
			t.secret(where+"."+name, key, value)
		case isBlock && !config.Known(ours):
			t.search(where+"."+name, inner, key+".")
		default:
			t.take(where+"."+name, ours, value)
		}
	}
}

// take takes over one setting, if Kioku has it.
func (t *taker) take(key, ours string, value any) {
	text := fmt.Sprint(value)
	if n, ok := value.(float64); ok {
		text = strconv.FormatFloat(n, 'f', -1, 64) // 1000000, where Sprint has 1e+06
	}
	if !config.Known(ours) {
		t.leave(key, "Kioku has no such setting")
		return
	}
	if err := config.Check(ours, text); err != nil {
		t.leave(key, err.Error())
		return
	}
	t.changes = append(t.changes, config.Change{Key: ours, Value: text})
}

// leave remembers a setting that is not taken over.
func (t *taker) leave(key, why string) { t.left = append(t.left, Left{key, why}) }

// reference matches a value that names an environment variable.
var reference = regexp.MustCompile(`^\$\{(\w+)\}$`)

// secret takes over a reference to a secret, and no secret itself.
func (t *taker) secret(key, ours string, value any) {
	if text, ok := value.(string); ok {
		if m := reference.FindStringSubmatch(text); m != nil {
			t.take(key, ours, "env:"+m[1])
			return
		}
	}
	if ref, ok := value.(map[string]any); ok && ref["source"] == "env" {
		t.take(key, ours, fmt.Sprint("env:", ref["id"]))
		return
	}
	t.leave(key, fmt.Sprintf("secrets are not copied; put it into a variable and run kioku config set %s env:NAME", ours))
}

// extraPaths takes over folders and files outside of the workspace. OpenClaw reads them relative to the workspace.
func (t *taker) extraPaths(value any) {
	var paths []string
	list, _ := value.([]any)
	for _, item := range list {
		path, _ := item.(string)
		if entry, ok := item.(map[string]any); ok {
			path, _ = entry["path"].(string)
			if pattern, _ := entry["pattern"].(string); pattern != "" {
				path = strings.TrimSuffix(path, "/") + "/" + pattern
			}
		}
		if path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") {
			path = filepath.Join(t.home.Agents()[0].Workspace, path)
		}
		if path != "" {
			paths = append(paths, path)
		}
	}
	text, err := json.Marshal(paths)
	if err != nil || len(paths) == 0 {
		return
	}
	t.take("memory.search.extraPaths", "extraPaths", string(text))
}

// at returns the value at a path of names that dots separate.
func at(in map[string]any, path string) (any, bool) {
	names := strings.Split(path, ".")
	value, ok := block(in, names[:len(names)-1]...)[names[len(names)-1]]
	return value, ok
}

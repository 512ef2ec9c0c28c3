// Package openclaw reads what OpenClaw keeps on this machine: its configuration and the workspaces of its agents. It changes
// nothing.
package openclaw

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxConfig is the maximum size of a configuration.
const maxConfig = 16 << 20

// Home is the state folder of OpenClaw with its configuration.
type Home struct {
	// Dir is the state folder, ~/.openclaw unless another one is named.
	Dir string
	// Config is the path of the configuration. The file may be missing.
	Config string
	// settings are the content of the configuration.
	settings map[string]any
	env      map[string]string
}

// Agent is an agent of OpenClaw.
type Agent struct {
	// ID of the agent.
	ID string
	// Workspace is the folder of its notes. It may be missing.
	Workspace string
	// settings are its own.
	settings map[string]any
}

// Open reads the configuration in a state folder; an empty one means that of the environment.
func Open(dir string, env []string) (*Home, error) {
	h := &Home{env: map[string]string{}}
	for _, item := range env {
		name, value, _ := strings.Cut(item, "=")
		h.env[name] = value
	}
	named := dir != ""
	h.Dir = h.path(cmp.Or(dir, h.env["OPENCLAW_STATE_DIR"], "~/.openclaw"))
	h.Config = filepath.Join(h.Dir, "openclaw.json")
	if other := h.env["OPENCLAW_CONFIG_PATH"]; other != "" && !named {
		h.Config = h.path(other)
	}
	if info, err := os.Stat(h.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("OpenClaw has no state in %s; name its folder with --from", h.Dir)
	}
	text, err := os.ReadFile(h.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("%s is larger than %d MiB", h.Config, maxConfig>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration of OpenClaw: %w", err)
	}
	if h.settings, err = decode(text); err != nil {
		return nil, fmt.Errorf("%s: %w", h.Config, err)
	}
	return h, nil
}

// Agents returns the agents, the default one first.
func (h *Home) Agents() []Agent {
	entries := h.entries()
	first := "main"
	ids := slices.Sorted(maps.Keys(entries))
	for _, id := range ids {
		if entries[id]["default"] == true {
			first = id
		}
	}
	if entries[first] == nil && len(ids) > 0 {
		first = ids[0]
	}
	ids = append([]string{first}, slices.DeleteFunc(ids, func(id string) bool { return id == first })...)
	agents := make([]Agent, 0, len(ids))
	for i, id := range ids {
		agents = append(agents, Agent{ID: id, Workspace: h.workspace(id, entries[id], i == 0), settings: entries[id]})
	}
	return agents
}

// entries returns the settings of each agent: agents.entries, or agents.list of earlier versions.
func (h *Home) entries() map[string]map[string]any {
	found := map[string]map[string]any{}
	agents := block(h.settings, "agents")
	for id, entry := range block(agents, "entries") {
		found[strings.ToLower(id)], _ = entry.(map[string]any)
	}
	list, _ := agents["list"].([]any)
	for _, item := range list {
		entry, _ := item.(map[string]any)
		if id, ok := entry["id"].(string); ok {
			found[strings.ToLower(id)] = entry
		}
	}
	return found
}

// workspace returns the folder of an agent's notes.
func (h *Home) workspace(id string, entry map[string]any, isDefault bool) string {
	if own, _ := entry["workspace"].(string); own != "" {
		return h.path(own)
	}
	all, _ := block(h.settings, "agents", "defaults")["workspace"].(string)
	switch {
	case all != "" && isDefault:
		return h.path(all)
	case all != "":
		return filepath.Join(h.path(all), id)
	case isDefault:
		return filepath.Join(h.Dir, "workspace")
	}
	return filepath.Join(h.Dir, "workspace-"+id)
}

// path returns a path as OpenClaw understands it: "~" is the home folder, and ${NAME} a variable.
func (h *Home) path(p string) string {
	p = os.Expand(p, func(name string) string { return h.env[name] })
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = filepath.Join(h.env["HOME"], p[1:])
	}
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// block returns the block at a path of names; nil if there is none.
func block(in map[string]any, path ...string) map[string]any {
	for _, name := range path {
		in, _ = in[name].(map[string]any)
	}
	return in
}

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	names "kioku/internal/text" // text is also a kind of setting
)

// Field describes one setting.
type Field struct {
	// Key is the name in the config file, "query.maxResults".
	Key string
	// Group is the heading under which the documentation lists the setting.
	Group string
	// Type is what a value looks like: "text", "path", "secret", "integer", "number", "true or false", "list",
	// "globs", "paths", "pairs", "blocks", or the choices, "passage | chunk".
	Type string
	// Default is the value of a run that nobody configured, as text.
	Default string
	// Doc is one or more sentences for people.
	Doc string

	value *value
	// memory settings may also stand in a block memorySearch.
	memory bool
	// inFolder settings may also stand in the file of a workspace.
	inFolder bool
}

// Env returns the name of the environment variable: "query.maxResults" is KIOKU_QUERY_MAX_RESULTS, "tls.clientCA" is
// KIOKU_TLS_CLIENT_CA.
func (f Field) Env() string {
	var b strings.Builder
	b.WriteString("KIOKU_")
	inCapitals := false
	for _, r := range f.Key {
		capital := r >= 'A' && r <= 'Z'
		if capital && !inCapitals {
			b.WriteByte('_')
		}
		inCapitals = capital
		b.WriteRune(r)
	}
	return strings.ToUpper(strings.ReplaceAll(b.String(), ".", "_"))
}

// Choices returns the values that the setting can have, none if they cannot be listed.
func (f Field) Choices() []string {
	switch {
	case f.Type == toggleType:
		return []string{"true", "false"}
	case strings.Contains(f.Type, " | "):
		return strings.Split(f.Type, " | ")
	}
	return nil
}

// FieldOf returns the setting with a key, and whether there is one.
func FieldOf(key string) (Field, bool) { return Default().lookup(key) }

// OfMemory reports whether the setting belongs to indexing and searching rather than to the command or daemon.
func (f Field) OfMemory() bool { return f.memory }

// InFolder reports whether the setting may also stand in the file of a workspace, [FolderFile].
func (f Field) InFolder() bool { return f.inFolder }

// Fields returns every setting, in the order of the documentation.
func Fields() []Field { return Default().registry.fields }

// registry contains the settings of one Config, whose values point into it.
type registry struct {
	// fields are the settings in the order of the documentation.
	fields []Field
	// group, memory and inFolder are those of the fields that are added next.
	group            string
	memory, inFolder bool
	// base is the folder that relative paths start from, home replaces "~" in the value that is set next.
	base, home string
	secrets    []*secretSetting
}

// register registers a setting.
func (r *registry) register(key, doc string, v *value) {
	r.fields = append(r.fields, Field{Key: key, Group: r.group, Type: v.typ, Default: v.get(), Doc: doc, value: v, memory: r.memory, inFolder: r.inFolder})
}

// lookup finds a setting by its key. The settings of one agent, agents.<id>.workspace and the like, are found too.
func (c *Config) lookup(key string) (Field, bool) {
	i := slices.IndexFunc(c.registry.fields, func(f Field) bool { return f.Key == key })
	if i >= 0 {
		return c.registry.fields[i], true
	}
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "agents" {
		return c.agentField(parts[1], parts[2])
	}
	return Field{}, false
}

// keys returns the keys of all settings.
func (r *registry) keys() []string {
	var all []string
	for _, f := range r.fields {
		all = append(all, f.Key)
	}
	return all
}

// isBlock reports whether key contains settings, of today or of earlier versions, rather than being one.
func (r *registry) isBlock(key string) bool {
	return slices.ContainsFunc(slices.AppendSeq(r.keys(), maps.Keys(gone)), func(k string) bool { return strings.HasPrefix(k, key+".") })
}

// unknown returns the error for a key that is no setting.
func (r *registry) unknown(where, key string) *Error {
	problem := "no such setting"
	if why, ok := gone[key]; ok {
		return &Error{Where: where, Key: key, Problem: "is no longer a setting: " + why + "; kioku config unset " + key + " removes it from the file"}
	}
	candidates := r.keys()
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "agents" {
		candidates = nil
		for _, name := range agentSettings() {
			candidates = append(candidates, "agents."+parts[1]+"."+name)
		}
	}
	if near := names.Nearest(key, candidates); near != "" {
		problem += fmt.Sprintf("; did you mean %s?", near)
	} else {
		problem += "; kioku config list shows all"
	}
	return &Error{Where: where, Key: shorten(key), Problem: problem}
}

// agents adds the map of agents as text, "id=folder,id=folder". Agents named before keep their other settings.
func (r *registry) agents(c *Config, key, doc string) {
	r.register(key, doc, &value{
		kind: aMap, typ: blocksType,
		set: func(items []string) error {
			for _, item := range items {
				id, dir, ok := strings.Cut(item, "=")
				if !ok || dir == "" {
					return fmt.Errorf("%q is not id=folder", shorten(item))
				}
				f, _ := c.agentField(id, "workspace")
				if err := f.value.set([]string{dir}); err != nil {
					return err
				}
			}
			return nil
		},
		get: func() string { return pairs(c.Agents, func(a Agent) string { return a.Workspace }) },
	})
}

// agentSettings returns the names of what an agent can have of its own.
func agentSettings() []string { return []string{"workspace", "extraPaths", "agentDir", "projects"} }

// agentField returns one setting of one agent.
func (c *Config) agentField(id, name string) (Field, bool) {
	a := c.Agents[id]
	r := &registry{}
	switch name {
	case "workspace":
		r.add(&a.Workspace, name, pathType, "Folder of this agent.")
	case "extraPaths":
		r.add(&a.ExtraPaths, name, listType, "Additional files or folders of this agent.", r.inHome)
	case "agentDir":
		r.add(&a.AgentDir, name, pathType, "Folder whose files replace those of this agent's workspace.")
	case "projects":
		r.add(&a.Projects, name, pathsType, "Folders whose conversations with Claude Code and Codex are this agent's.")
	default:
		return Field{}, false
	}
	f := r.fields[0]
	f.Key = "agents." + id + "." + name
	set := f.value.set
	f.value.set = func(items []string) error {
		if err := CheckAgent(id); err != nil {
			return err
		}
		r.base, r.home = c.registry.base, c.registry.home
		err := set(items)
		c.Agents[id] = a
		return err
	}
	return f, true
}

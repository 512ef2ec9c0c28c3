package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// agentFolders is the map of agents as text, "id=folder,id=folder". Agents named before keep their other settings.
func agentFolders(key, doc string) Field {
	return Field{
		Key: key, Type: "blocks", Doc: doc, kind: aMap,
		set: func(c *Config, in input) error {
			for _, item := range in.items {
				id, dir, ok := strings.Cut(item, "=")
				if !ok || dir == "" {
					return fmt.Errorf("%q is not id=folder", shorten(item))
				}
				if err := CheckAgent(id); err != nil {
					return err
				}
				a := c.Agents[id]
				a.Workspace = in.abs(dir)
				c.Agents[id] = a
			}
			return nil
		},
		get: func(c *Config) string {
			var all []string
			for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
				all = append(all, id+"="+c.Agents[id].Workspace)
			}
			return strings.Join(all, ",")
		},
	}
}

// agentSettings are the names of what an agent can have of its own.
func agentSettings() []string { return []string{"workspace", "extraPaths", "agentDir"} }

// agentField is one setting of one agent.
func agentField(id, name string) (Field, bool) {
	var f Field
	key := "agents." + id + "." + name
	keep := func(c *Config, in input, put func(*Agent)) error {
		if err := CheckAgent(id); err != nil {
			return err
		}
		a := c.Agents[id]
		put(&a)
		c.Agents[id] = a
		return nil
	}
	switch name {
	case "workspace":
		f = path(key, "Folder of this agent.", nil)
		f.get = func(c *Config) string { return c.Agents[id].Workspace }
		f.set = func(c *Config, in input) error {
			return keep(c, in, func(a *Agent) { a.Workspace = in.abs(in.text()) })
		}
	case "extraPaths":
		f = list(key, "Further files or folders of this agent.", nil)
		f.get = func(c *Config) string { return strings.Join(c.Agents[id].ExtraPaths, ",") }
		f.set = func(c *Config, in input) error {
			return keep(c, in, func(a *Agent) { a.ExtraPaths = in.expanded() })
		}
	case "agentDir":
		f = path(key, "Folder whose files replace those of this agent's workspace.", nil)
		f.get = func(c *Config) string { return c.Agents[id].AgentDir }
		f.set = func(c *Config, in input) error {
			return keep(c, in, func(a *Agent) { a.AgentDir = in.abs(in.text()) })
		}
	default:
		return Field{}, false
	}
	return f, true
}

package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Errors of places that are not set; test for them with errors.Is.
var (
	// ErrNoWorkspace: nothing says which folder is the memory.
	ErrNoWorkspace = errors.New("no workspace: name one with --workspace, or create one with kioku init")
	// ErrNoState: there is no home to keep the index in.
	ErrNoState = errors.New("no folder for the index: HOME is not set; name a folder with --state")
)

// Place is the folder of an agent.
type Place struct {
	Agent, Workspace string // the agent's id and its folder
	// ExtraPaths are indexed in addition to the workspace; nil for none.
	ExtraPaths []string
	// AgentDir is a folder whose bootstrap files replace those of the workspace, empty for none.
	AgentDir string
	// Assumed is true if no workspace is set and the working directory, which looks like one, is used.
	Assumed bool
}

// StateDir returns the folder of the index, or ErrNoState.
func (c *Config) StateDir() (string, error) {
	if c.State == "" {
		return "", ErrNoState
	}
	return c.State, nil
}

// Place returns the folder of an agent: the workspace of a flag or variable, the agent's own in the file, the file's common
// one if it belongs to this agent, else the working directory if it contains MEMORY.md or memory/. If there is none,
// it returns ErrNoWorkspace and the place without a folder.
func (c *Config) Place(agent string) (Place, error) {
	if err := CheckAgent(agent); err != nil {
		return Place{}, &Error{Key: "agent", Problem: err.Error()}
	}
	own := c.Agents[agent]
	p := Place{Agent: agent, ExtraPaths: c.Index.ExtraPaths, AgentDir: cmp.Or(own.AgentDir, c.AgentDir)}
	if own.ExtraPaths != nil {
		p.ExtraPaths = own.ExtraPaths
	}
	switch {
	case c.Workspace != "" && c.ByFlagOrEnv("workspace") && agent == c.Agent:
		p.Workspace = c.Workspace
	case own.Workspace != "":
		p.Workspace = own.Workspace
	case c.Workspace != "" && agent == c.fileAgent:
		p.Workspace = c.Workspace
	case agent == c.Agent && looksLikeWorkspace(c.dir):
		p.Workspace, p.Assumed = c.dir, true
	default:
		return p, ErrNoWorkspace
	}
	return p, nil
}

// looksLikeWorkspace reports whether a folder contains MEMORY.md or memory/.
func looksLikeWorkspace(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "MEMORY.md"))
	folder, none := os.Stat(filepath.Join(dir, "memory"))
	return err == nil || none == nil && folder.IsDir()
}

// Places returns the folders that a daemon serves, sorted by agent: those of Agents, and that of Agent if a workspace is set
// or there are no other agents.
func (c *Config) Places() ([]Place, error) {
	ids := slices.Sorted(maps.Keys(c.Agents))
	if len(ids) == 0 || c.Workspace != "" {
		ids = append(ids, c.Agent)
	}
	slices.Sort(ids)
	var places []Place
	for _, id := range slices.Compact(ids) {
		p, err := c.Place(id)
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", id, err)
		}
		places = append(places, p)
	}
	return places, nil
}

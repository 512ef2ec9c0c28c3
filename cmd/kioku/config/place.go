package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"kioku/internal/files"
)

// Errors of places that are not set; test for them with errors.Is.
var (
	// ErrNoWorkspace: nothing says which folder is the memory.
	ErrNoWorkspace = errors.New("no workspace: the current folder is in none, and holds no Markdown or, like home, /tmp or /var, all kinds of " +
		"things; name one with --workspace FOLDER, or create one with kioku init")
	// ErrNoState: there is no home to keep the index in.
	ErrNoState = errors.New("no folder for the index: HOME is not set; name a folder with --state")
)

// Place is the folder of an agent.
type Place struct {
	Agent, Workspace string // the agent's id and its folder
	// AgentDir is a folder whose bootstrap files replace those of the workspace, empty for none.
	AgentDir string
	// Found is how the folder was found from the working directory. It is NotFound if the folder is named.
	Found Found
}

// StateDir returns the folder of the index, or ErrNoState.
func (c *Config) StateDir() (string, error) {
	if c.State == "" {
		return "", ErrNoState
	}
	return c.State, nil
}

// Named reports whether the agent of a command is named: by a flag, a variable or the config file.
func (c *Config) Named() bool { return c.Explicit("agent") }

// WorkspaceNamed reports whether the workspace of a command is named by a flag or variable.
func (c *Config) WorkspaceNamed() bool { return c.Workspace != "" && c.ByFlagOrEnv("workspace") }

// Here returns the place of a command. If no agent is named, it is the agent whose folder is the named workspace, or contains
// the working directory; else agent main in the named workspace, in the file's, or in the one that is found from the working
// directory. A workspace with a file of settings goes before the one that the user's config file names. If there is no folder,
// Here returns ErrNoWorkspace and the place without a folder.
func (c *Config) Here() (Place, error) {
	if c.Named() {
		return c.Place(c.Agent)
	}
	if c.WorkspaceNamed() {
		for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
			if files.SameFolder(c.Agents[id].Workspace, c.Workspace) {
				return c.Place(id)
			}
		}
		return c.Place(c.Agent)
	}
	found, how := c.findWorkspace()
	folders := map[string]string{}
	for id, a := range c.Agents {
		folders[id] = a.Workspace
	}
	if id := c.AgentHere(folders, found, how); id != "" {
		return c.Place(id)
	}
	if how != ByFolderFile && (c.Workspace != "" || c.Agents[c.Agent].Workspace != "") {
		return c.Place(c.Agent)
	}
	p := Place{Agent: c.Agent, Workspace: found, AgentDir: c.agentDir(c.Agent), Found: how}
	if how == NotFound {
		return p, ErrNoWorkspace
	}
	return p, nil
}

// AgentHere returns the agent with the innermost of folders, by agent, that contains the working directory; "" if there is none,
// or if the workspace that was found is further inside.
func (c *Config) AgentHere(folders map[string]string, found string, how Found) string {
	best, inside := "", found
	if !how.marked() {
		inside = ""
	}
	for _, id := range slices.Sorted(maps.Keys(folders)) {
		dir := folders[id]
		if dir == "" || !contains(dir, c.src.Dir) {
			continue
		}
		if files.SameFolder(dir, inside) && best == "" || contains(inside, dir) && !files.SameFolder(dir, inside) {
			best, inside = id, dir
		}
	}
	return best
}

// Place returns the folder of an agent: the workspace of a flag or variable, the agent's own in the file, the file's common
// one if it belongs to this agent, else for the agent of the command the one that is found from the working directory. If there
// is none, it returns ErrNoWorkspace and the place without a folder.
func (c *Config) Place(agent string) (Place, error) {
	if err := CheckAgent(agent); err != nil {
		return Place{}, &Error{Key: "agent", Problem: err.Error()}
	}
	p := Place{Agent: agent, AgentDir: c.agentDir(agent)}
	switch own := c.Agents[agent]; {
	case c.WorkspaceNamed() && agent == c.Agent:
		p.Workspace = c.Workspace
	case own.Workspace != "":
		p.Workspace = own.Workspace
	case c.Workspace != "" && agent == c.fileAgent:
		p.Workspace = c.Workspace
	case agent == c.Agent:
		p.Workspace, p.Found = c.findWorkspace()
	}
	if p.Workspace == "" {
		return p, ErrNoWorkspace
	}
	return p, nil
}

// agentDir returns the folder whose bootstrap files replace those of an agent's workspace.
func (c *Config) agentDir(agent string) string { return cmp.Or(c.Agents[agent].AgentDir, c.AgentDir) }

// ExtraPaths returns what is indexed of an agent in addition to its workspace: what a flag, a variable or the workspace's file
// sets, else the agent's own paths, else the common ones, and the memories of other programs if they are the agent's.
func (c *Config) ExtraPaths(agent string) []string {
	paths := c.Index.ExtraPaths
	if own := c.Agents[agent].ExtraPaths; own != nil && c.origins["extraPaths"].layer <= byFile {
		paths = own
	}
	if c.HasHosts(agent) {
		paths = append(slices.Clone(paths), c.HostMemories()...)
	}
	return paths
}

// SourceHosts, among the sources, has the memories indexed that other programs keep for themselves.
const SourceHosts = "hosts"

// HasHosts reports whether the memories of other programs are an agent's, if they are among the sources: they belong to the agent that the
// settings mean by the workspace, as transcripts do, and to no other of a daemon.
func (c *Config) HasHosts(agent string) bool { return c.Has(SourceHosts) && agent == c.fileAgent }

// HostMemories returns the memories that Claude Code, Codex and OpenClaw have now, as extra paths. They are read, and never written.
func (c *Config) HostMemories() (paths []string) {
	var globs []string
	if c.ClaudeCodeDir != "" {
		globs = append(globs, filepath.Join(c.ClaudeCodeDir, "*", "memory"))
	}
	if c.CodexDir != "" {
		globs = append(globs, filepath.Join(filepath.Dir(c.CodexDir), "memories"))
	}
	if c.home != "" {
		openclaw := filepath.Join(c.home, ".openclaw", "workspace")
		globs = append(globs, filepath.Join(openclaw, "MEMORY.md"), filepath.Join(openclaw, "memory"))
	}
	for _, glob := range globs {
		found, _ := filepath.Glob(glob) // a home with characters of patterns has none
		paths = append(paths, found...)
	}
	return paths
}

// ProjectsOf returns the folders of whose conversations with other agents the transcripts belong to the memory of a place: its own
// projects, else those of the settings, if a setting names its workspace and no other agent is meant, else the workspace. A folder
// that was found from the working directory gets no others: it may be anybody's.
func (c *Config) ProjectsOf(p Place) []string {
	if own := c.Agents[p.Agent].Projects; own != nil {
		return own
	}
	if len(c.Projects) > 0 && p.Found == NotFound && p.Agent == c.fileAgent {
		return c.Projects
	}
	return []string{p.Workspace}
}

// Include returns the globs of files that are indexed beside the curated ones, without those of the workspace's own file: these
// the indexer reads itself, so that it knows of changes at once.
func (c *Config) Include() []string {
	if c.origins["include"].layer == byFolder {
		return nil
	}
	return c.Index.Include
}

// Exclude returns the globs of files that are not indexed, without those of the workspace's own file, as Include does.
func (c *Config) Exclude() []string {
	if c.origins["exclude"].layer == byFolder {
		return nil
	}
	return c.Index.Exclude
}

// Places returns the folders that a daemon serves, sorted by agent: those of Agents, and that of Agent if a workspace is set
// or there are no other agents.
func (c *Config) Places() ([]Place, error) {
	ids := slices.Sorted(maps.Keys(c.Agents))
	if len(ids) == 0 {
		p, err := c.Here()
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", p.Agent, err)
		}
		return []Place{p}, nil
	}
	if c.Workspace != "" {
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

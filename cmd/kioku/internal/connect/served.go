package connect

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/server"
)

// served returns the agent of a daemon that has the memory, nil if none has it. A named agent is known by its name. Otherwise
// the folder says which one it is: of the agents whose workspace contains the working directory the innermost one, unless
// another folder is named.
func (k *Connector) served(agents []server.Agent, w wanted, n Need) (*server.Agent, error) {
	if w.named {
		return k.servedByName(agents, w.place, n)
	}
	folder := w.place.Workspace
	if !k.Conf.WorkspaceNamed() {
		if id := k.Conf.AgentHere(workspaces(agents), folder, w.place.Found); id != "" {
			return byID(agents, id), nil
		}
	}
	if folder != "" {
		if found := byFolder(agents, folder, w.place.Agent); found != nil || w.place.Found == config.NotFound || n != ToAppend {
			return found, nil
		}
	}
	if n == ToAppend {
		return nil, k.refuseToAppend(agents, folder)
	}
	return k.servedAnywhere(agents, w.place.Agent), nil
}

// servedByName returns an agent by its name. It returns an error if its folder is not the one that was named, and for a note to an
// agent that the daemon does not have if only the working directory says which folder is meant: the name may be misspelt.
func (k *Connector) servedByName(agents []server.Agent, place config.Place, n Need) (*server.Agent, error) {
	served := byID(agents, place.Agent)
	if served == nil && n == ToAppend && place.Workspace != "" && place.Found != config.NotFound {
		return nil, render.Misuse("the daemon has no agent %s%s%s; nothing was written. If a new agent is meant, add --workspace %s",
			place.Agent, nearest(agents, place.Agent), others(agents), place.Workspace)
	}
	if served == nil || place.Workspace == "" || place.Found != config.NotFound || files.SameFolder(place.Workspace, served.Workspace) {
		return served, nil
	}
	return nil, fmt.Errorf("the daemon serves agent %s from %s, not from %s; omit --workspace, name another --agent, "+
		"or use another --state", place.Agent, served.Workspace, filepath.Clean(place.Workspace))
}

// servedAnywhere returns the agent of a daemon that answers if there is no workspace: agent, or the only one.
func (k *Connector) servedAnywhere(agents []server.Agent, agent string) *server.Agent {
	served := byID(agents, agent)
	if served == nil && len(agents) == 1 {
		served = &agents[0]
	}
	if served != nil {
		k.Out.Notice("the daemon answers for agent %s from %s; name another with --agent or --workspace", served.ID, cmp.Or(served.Workspace, "its cluster"))
	}
	return served
}

// refuseToAppend returns an error for a note that might be meant for another memory than the one in which it would be written.
func (k *Connector) refuseToAppend(agents []server.Agent, folder string) error {
	var named []string
	for _, a := range agents {
		named = append(named, fmt.Sprintf("--agent %s for %s", a.ID, a.Workspace))
	}
	where := "the current folder is in no workspace"
	if folder != "" {
		where = "the daemon does not serve this folder"
		named = append(named, fmt.Sprintf("--workspace %s for this one", folder))
	}
	return render.Misuse("%s, so it is not clear where the note belongs; nothing was written. Add %s", where, strings.Join(named, ", or "))
}

// byID returns the agent with an id, nil if there is none.
func byID(agents []server.Agent, id string) *server.Agent {
	if i := slices.IndexFunc(agents, func(a server.Agent) bool { return a.ID == id }); i >= 0 {
		return &agents[i]
	}
	return nil
}

// byFolder returns an agent with this workspace, preferred if that is one, nil if there is none.
func byFolder(agents []server.Agent, folder, preferred string) *server.Agent {
	var found *server.Agent
	for _, a := range agents {
		if files.SameFolder(a.Workspace, folder) && (found == nil || a.ID == preferred) {
			found = &a
		}
	}
	return found
}

// workspaces returns the folders of agents.
func workspaces(agents []server.Agent) map[string]string {
	folders := map[string]string{}
	for _, a := range agents {
		folders[a.ID] = a.Workspace
	}
	return folders
}

// nearest asks for the agent whose id is like another one, if there is one.
func nearest(agents []server.Agent, id string) string {
	if near := text.Nearest(id, slices.Sorted(maps.Keys(workspaces(agents)))); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// others names the agents that could be meant.
func others(agents []server.Agent) string {
	var ids []string
	for _, a := range agents {
		ids = append(ids, a.ID)
	}
	if len(ids) == 0 {
		return ""
	}
	return "; it serves " + strings.Join(ids, ", ")
}

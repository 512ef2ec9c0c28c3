package connect

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	kiokuv1 "kioku/proto/kioku/v1"
)

// MemoryPath returns a path as the memory names it: without "./", and relative if it is in the workspace. A path that names
// no file is returned unchanged; the service refuses it.
func (c *Client) MemoryPath(ctx context.Context, name string) string {
	if name == "" || strings.HasSuffix(name, "/") {
		return name
	}
	if name = path.Clean(name); !filepath.IsAbs(name) {
		return name
	}
	resp, err := c.ListAgents(ctx, &kiokuv1.ListAgentsRequest{})
	if err != nil {
		return name // the next call fails too, and tells
	}
	for _, agent := range resp.GetAgents() {
		if rel, ok := inFolder(agent.GetWorkspace(), name); ok && agent.GetId() == c.Agent {
			return filepath.ToSlash(rel)
		}
	}
	return name
}

// inFolder returns the path of a file relative to a folder that contains it, also through symbolic links.
func inFolder(folder, file string) (rel string, ok bool) {
	if rel, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	realFolder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", false
	}
	realParent, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", false
	}
	rel, err = filepath.Rel(realFolder, filepath.Join(realParent, filepath.Base(file)))
	return rel, err == nil && filepath.IsLocal(rel)
}

package connect

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"kioku"
	"kioku/cmd/kioku/config"
)

// CheckFolder returns an error if the index belongs to another folder that still exists: a sync would empty it. Only kioku
// index may do that. If the index cannot be read, there is no error; Open reports why.
func CheckFolder(ctx context.Context, conf *config.Config, place config.Place, n Need) error {
	state, err := conf.StateOf(ctx, place.Agent, place.Workspace)
	if err != nil || n == ToTakeOver {
		return nil
	}
	indexed, err := kioku.IndexedWorkspace(ctx, state, place.Agent)
	if err != nil || indexed == "" || config.SameFolder(indexed, place.Workspace) {
		return nil
	}
	for _, dir := range []string{indexed, place.Workspace} {
		if _, err := os.Stat(dir); err != nil {
			return nil
		}
	}
	return fmt.Errorf("the index of agent %s belongs to %s, not to %s; choose another state folder with --state, another --agent, "+
		"or run kioku index to give it to this folder", place.Agent, indexed, place.Workspace)
}

// MemoryPath returns a path as the memory names it, relative if it is in the workspace. A path that begins with "./" or "../"
// counts from the working directory if that is in the workspace. A path that names no file is returned unchanged; the service
// refuses it.
func (c *Client) MemoryPath(name string) string {
	if name == "" || strings.HasSuffix(name, "/") {
		return name
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		if rel, ok := inFolder(c.Workspace, filepath.Join(c.from.Conf.Dir(), name)); ok {
			return filepath.ToSlash(rel)
		}
	}
	if name = path.Clean(name); !filepath.IsAbs(name) {
		return name
	}
	if rel, ok := inFolder(c.Workspace, name); ok {
		return filepath.ToSlash(rel)
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

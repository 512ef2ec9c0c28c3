package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kioku"
)

// defaultAgent is the agent if none is named.
const defaultAgent = "main"

// StateOf returns the folder that contains an agent's index and sessions. Of an agent with a name of its own that is the state
// folder. Agent main has one for each workspace, <state>/folders/<name>-<hash>, so that workspaces need no names.
//
// Earlier versions kept the index of agent main in the state folder itself. The workspace that it was made from keeps it there: a
// link in folders/ says so, which StateOf makes.
func (c *Config) StateOf(ctx context.Context, agent, workspace string) (string, error) {
	state, err := c.StateDir()
	if err != nil || agent != defaultAgent || workspace == "" {
		return state, err
	}
	own := filepath.Join(state, "folders", FolderKey(workspace))
	if real, err := filepath.EvalSymlinks(own); err == nil && SameFolder(real, state) {
		return state, nil
	} else if err == nil {
		return own, nil
	}
	before, err := kioku.IndexedWorkspace(ctx, state, agent)
	if err != nil || before == "" || !SameFolder(before, workspace) {
		return own, nil // an index that cannot be read is nobody's
	}
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err == nil {
		_ = os.Symlink("..", own) // without the link, the index is looked at again next time
	}
	return state, nil
}

// MovedFrom returns the folders of the state folder whose workspaces had the name of this one and are gone: it may be one of them,
// moved. own is the folder of this workspace; both are empty if agent main is not the one with an index for each folder.
func (c *Config) MovedFrom(ctx context.Context, workspace string) (own string, gone []string) {
	own, err := c.StateOf(ctx, defaultAgent, workspace)
	if err != nil || own == c.State {
		return "", nil
	}
	entries, _ := os.ReadDir(filepath.Dir(own)) // what cannot be read is not told
	for _, e := range entries {
		dir := filepath.Join(filepath.Dir(own), e.Name())
		if dir == own || len(dir) != len(own) || !strings.HasPrefix(dir, own[:strings.LastIndex(own, "-")+1]) {
			continue
		}
		before, err := kioku.IndexedWorkspace(ctx, dir, defaultAgent)
		if err == nil && before != "" && !exists(before) {
			gone = append(gone, dir)
		}
	}
	return own, gone
}

// FolderKey returns the name that a workspace has in the state folder: its own, and a hash of its path.
func FolderKey(workspace string) string {
	path := workspace
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, filepath.Base(path))
	name = strings.Trim(name[:min(len(name), 32)], "-")
	if name == "" {
		name = "folder"
	}
	return fmt.Sprintf("%s-%.4x", name, sha256.Sum256([]byte(path)))
}

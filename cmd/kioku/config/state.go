package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"kioku"
)

// defaultAgent is the agent if none is named.
const defaultAgent = "main"

// StateOf returns the folder that contains an agent's index and sessions; see [kioku.StateOf].
func (c *Config) StateOf(ctx context.Context, agent, workspace string) (string, error) {
	state, err := c.StateDir()
	if err != nil {
		return "", err
	}
	return kioku.StateOf(ctx, state, agent, workspace), nil
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

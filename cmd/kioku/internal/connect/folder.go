package connect

import (
	"context"
	"fmt"
	"os"

	"kioku"
	"kioku/cmd/kioku/config"
)

// otherFolder returns the folder from which an agent's index was made if that is not the agent's folder and still exists,
// else "". If the index cannot be read, it returns "" too, and Open reports why.
func otherFolder(ctx context.Context, conf *config.Config, place config.Place) string {
	state, err := conf.StateDir()
	if err != nil {
		return ""
	}
	held, err := kioku.IndexedWorkspace(ctx, state, place.Agent)
	if err != nil || held == "" || SameFolder(held, place.Workspace) {
		return ""
	}
	for _, dir := range []string{held, place.Workspace} {
		if _, err := os.Stat(dir); err != nil {
			return ""
		}
	}
	return held
}

// CheckFolder returns an error if the index belongs to another folder, which a sync would empty. Only kioku index may.
func CheckFolder(ctx context.Context, conf *config.Config, place config.Place, n Need) error {
	if n == ToTakeOver {
		return nil
	}
	held := otherFolder(ctx, conf, place)
	if held == "" {
		return nil
	}
	return fmt.Errorf("the index of agent %s belongs to %s, not to %s; choose another place for it with --state, another --agent, "+
		"or run kioku index to give it to this folder", place.Agent, held, place.Workspace)
}

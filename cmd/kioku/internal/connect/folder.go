package connect

import (
	"context"
	"fmt"
	"os"

	"kioku"
	"kioku/cmd/kioku/config"
)

// otherFolder returns the folder that the index at an agent's place was made from, where that is not the agent's and
// exists still; else it is empty. An index that cannot be asked is left to Open, which tells of it.
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

// CheckFolder keeps a command about one folder from emptying the index of another; kioku index alone may do that.
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

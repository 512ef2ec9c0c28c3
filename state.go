package kioku

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kioku/internal/files"
)

// defaultAgent is the agent if none is named.
const defaultAgent = "main"

// DefaultState returns the state folder of this user, that of the command kioku if it is not told another: kioku in
// $XDG_STATE_HOME or ~/.local/state. The error says that there is neither.
func DefaultState() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "kioku"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no folder for the index: name one, or set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(home, ".local", "state", "kioku"), nil
}

// StateOf returns the folder below a state folder that contains an agent's index and sessions, for Options.StateDir. Of an agent
// with a name of its own that is the state folder. Agent main has one for each workspace, <state>/folders/<name>-<hash>, so that
// workspaces need no names.
//
// Earlier versions kept the index of agent main in the state folder itself. The workspace that it was made from keeps it there: a
// link in folders/ says so, which StateOf makes.
func StateOf(ctx context.Context, state, agent, workspace string) string {
	if agent != defaultAgent || workspace == "" {
		return state
	}
	own := filepath.Join(state, "folders", FolderKey(workspace))
	if real, err := filepath.EvalSymlinks(own); err == nil && files.SameFolder(real, state) {
		return state
	} else if err == nil {
		return own
	}
	before, err := IndexedWorkspace(ctx, state, agent)
	if err != nil || before == "" || !files.SameFolder(before, workspace) {
		return own // an index that cannot be read is nobody's
	}
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err == nil {
		_ = os.Symlink("..", own) // without the link, the index is looked at again next time
	}
	return state
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

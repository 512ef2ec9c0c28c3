package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
)

// made is the output of kioku init --json.
type made struct {
	Workspace string   `json:"workspace"`
	Created   []string `json:"created"`
}

func (a *app) initCmd() *cobra.Command {
	return &cobra.Command{
		Use: "init [FOLDER]", Short: "Create a workspace: MEMORY.md, USER.md and memory/",
		Long: "Create a workspace in a folder, by default the one of --workspace or the current one. Existing files are not changed.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.initFolder(args)
			if err != nil {
				return err
			}
			created, err := makeWorkspace(dir)
			if err != nil {
				return err
			}
			m := made{dir, created}
			return a.Write(m, m.tell)
		},
	}
}

// initFolder returns the absolute path of the folder to create.
func (a *app) initFolder(args []string) (string, error) {
	dir := a.dir
	if len(args) == 1 {
		dir = args[0]
	} else if conf, err := config.Load(a.sources()); err != nil {
		return "", err
	} else if conf.ByFlagOrEnv("workspace") {
		dir = conf.Workspace
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.dir, dir)
	}
	return dir, nil
}

// makeWorkspace creates what is missing, readable for its owner only, and returns what it created.
func makeWorkspace(dir string) ([]string, error) {
	created := []string{}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	for _, file := range []struct{ name, text string }{{"MEMORY.md", "# Memory\n"}, {"USER.md", "# User\n"}} {
		ok, err := writeNew(filepath.Join(dir, file.name), file.text)
		if err != nil {
			return nil, fmt.Errorf("make the workspace: %w", err)
		}
		if ok {
			created = append(created, file.name)
		}
	}
	switch err := os.Mkdir(filepath.Join(dir, "memory"), 0o700); {
	case err == nil:
		created = append(created, "memory/")
	case !errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	return created, nil
}

// writeNew writes a file that does not exist yet. If it exists, writeNew returns false.
func writeNew(path, text string) (bool, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(text)
	return true, errors.Join(err, f.Close())
}

// tell adds what was created and what to do next.
func (m made) tell(p *render.Page) {
	if len(m.Created) == 0 {
		p.Linef("%s is already a workspace; nothing was changed.", m.Workspace)
	} else {
		p.Linef("Created %s in %s.", strings.Join(m.Created, ", "), m.Workspace)
	}
	p.Linef("")
	p.Linef("MEMORY.md is for what the agent should always know, USER.md for the person it works for,")
	p.Linef("files like memory/2026-01-20.md for single days. Next:")
	p.Linef("")
	dir := shellQuote(m.Workspace)
	p.Linef("  kioku append --workspace %s \"The first thing to remember\"", dir)
	p.Linef("  kioku search --workspace %s \"what was first?\"", dir)
	p.Linef("  kioku serve --workspace %s          # gRPC for agents", dir)
	p.Linef("  kioku config set workspace %s       # makes --workspace unnecessary", dir)
}

// shellQuote quotes a text as one word of a shell command.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

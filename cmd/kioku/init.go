package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
)

// made is the output of kioku init --json.
type made struct {
	Workspace string   `json:"workspace"`
	Created   []string `json:"created"`
	// Unindexed is the number of Markdown files of the folder that are not indexed. If More is true, there are more.
	Unindexed int  `json:"unindexed"`
	More      bool `json:"unindexed_more"`
}

func (a *app) initCmd() *cobra.Command {
	var yes, noModel bool
	cmd := &cobra.Command{
		Use: "init [FOLDER]", Short: "Create a workspace: MEMORY.md, USER.md and memory/",
		Long: "Create a workspace in a folder, by default the one of --workspace or the current one. Existing files are not changed.\n" +
			"A folder that was indexed whole, because it had neither MEMORY.md nor memory/, stays so: " + config.FolderFile + " says it.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, dir, err := a.initFolder(args)
			if err != nil {
				return err
			}
			m, err := makeWorkspace(cmd.Context(), conf, dir)
			if err != nil {
				return err
			}
			if err := a.Write(m, m.tell); err != nil || noModel {
				return err
			}
			return a.offerModel(cmd.Context(), conf, dir, yes, false)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "add a model without a question, so that notes are found by what they mean")
	cmd.Flags().BoolVar(&noModel, "no-model", false, "do not offer a model")
	cmd.MarkFlagsMutuallyExclusive("yes", "no-model")
	return cmd
}

// initFolder returns the settings, and the absolute path of the folder to create.
func (a *app) initFolder(args []string) (*config.Config, string, error) {
	conf, err := config.Load(a.sources())
	if err != nil {
		return nil, "", err
	}
	dir := a.dir
	if len(args) == 1 {
		dir = args[0]
	} else if conf.WorkspaceNamed() {
		dir = conf.Workspace
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.dir, dir)
	}
	conf, err = conf.ForFolder(dir)
	return conf, dir, err
}

// makeWorkspace creates what is missing, and reports what it created and which files of the folder are not indexed.
func makeWorkspace(ctx context.Context, conf *config.Config, dir string) (made, error) {
	m := made{Workspace: dir, Created: []string{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return m, fmt.Errorf("make the workspace: %w", err)
	}
	files := connect.Files(conf, dir)
	if hides, err := files.HidesFiles(ctx); err != nil {
		return m, err
	} else if hides && !conf.IsShared(dir) {
		if err := kioku.IncludeAll(ctx, dir); err != nil {
			return m, err
		}
		m.Created = append(m.Created, config.FolderFile)
	}
	created, err := makeFiles(dir)
	if err != nil {
		return m, err
	}
	m.Created = append(m.Created, created...)
	beside, err := files.Beside(ctx, time.Second)
	m.Unindexed, m.More = beside.Files, beside.More
	return m, err
}

// makeFiles creates the files and the folder that are missing, readable for their owner only, and returns what it created.
func makeFiles(dir string) ([]string, error) {
	created := []string{}
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
	dir := render.ShellQuote(m.Workspace)
	if m.Unindexed > 0 {
		p.Linef("Markdown files beside MEMORY.md and memory/ that are not indexed: %s", indexer.Beside{Files: m.Unindexed, More: m.More}.String())
		p.Linef("kioku index --all --workspace %s takes them in.", dir)
	}
	p.Linef("")
	p.Linef("MEMORY.md is for what the agent should always know, USER.md for the person it works for,")
	p.Linef("files like memory/2026-01-20.md for single days. Next:")
	p.Linef("")
	p.Linef("  kioku append --workspace %s \"The first thing to remember\"", dir)
	p.Linef("  kioku search --workspace %s \"what was first?\"", dir)
	p.Linef("  kioku serve --workspace %s          # the page, HTTP and gRPC at 127.0.0.1:7600", dir)
	p.Linef("  kioku setup claude-code --workspace %s   # or another agent; kioku setup lists them", dir)
	p.Linef("  kioku config set workspace %s       # makes --workspace unnecessary", dir)
}

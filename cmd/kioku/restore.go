package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/backup"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/files"
)

// restoreReport is the output of kioku restore --json.
type restoreReport struct {
	// Agent is the id of the agent, and Workspace the folder that has the notes now.
	Agent     string `json:"agent"`
	Workspace string `json:"workspace"`
	// Notes counts the notes that were written, Same those that were there already, and AgentFiles the files of sessions and flushes.
	Notes      int `json:"notes"`
	Same       int `json:"same"`
	AgentFiles int `json:"agent_files"`
	// Aside is the folder with the files that were in the way, "" if there were none.
	Aside string `json:"aside"`
}

func (a *app) restoreCmd() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put the memory of a backup into its place", Args: cobra.ExactArgs(1),
		Long: "Unpack and verify a backup of kioku backup, and put its notes, sessions and embeddings into their places: those of --workspace and\n" +
			"--agent, else those that the backup was made of, if the settings name them. Nothing is embedded again; the next command\n" +
			"indexes the notes. If other notes, embeddings or sessions are\n" +
			"there already, nothing is changed; with --force they are moved aside. A daemon that has the index must be stopped first, unless\n" +
			"a client has started it in the background.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), args[0], force) },
	}
	cmd.Flags().BoolVar(&force, "force", false, "move what is in the way aside, into the state folder")
	return cmd
}

// knows returns a function that reports whether the settings name a workspace.
func knows(conf *config.Config) func(workspace string) bool {
	var known []string
	if here, err := conf.Here(); err == nil {
		known = append(known, here.Workspace)
	}
	if places, err := conf.Places(); err == nil {
		for _, p := range places {
			known = append(known, p.Workspace)
		}
	}
	return func(workspace string) bool {
		return slices.ContainsFunc(known, func(dir string) bool { return dir == workspace || files.SameFolder(dir, workspace) })
	}
}

func (a *app) restore(ctx context.Context, archive string, force bool) error {
	if a.readOnly {
		return render.Misuse("kioku restore writes; omit --read-only")
	}
	conf, err := a.commonConfig()
	if err != nil {
		return err
	}
	taken := func() {}
	defer func() { taken() }()
	stateOf := func(ctx context.Context, agent, workspace string) (state string, err error) {
		if taken, err = connect.TakeOver(ctx, conf, config.Place{Agent: agent, Workspace: workspace}, a.Notice); err != nil {
			return "", err
		}
		return conf.StateOf(ctx, agent, workspace)
	}
	t := backup.Target{StateOf: stateOf, Known: knows(conf), Force: force, Now: time.Now()}
	if t.Root, err = conf.StateDir(); err != nil {
		return err
	}
	if conf.Named() {
		t.Agent = conf.Agent
	}
	if conf.WorkspaceNamed() {
		t.Workspace = conf.Workspace
	}
	done, err := metered(a, func(p progress) (*backup.Restored, error) { t.Progress = p; return backup.Restore(ctx, archive, t) })
	if done != nil && done.Aside != "" {
		a.Notice("what was in the way is in %s", done.Aside)
	}
	if errors.Is(err, backup.ErrNoWorkspace) {
		return render.Misuse("restore: %w", err)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	r := restoreReport{Agent: done.Agent, Workspace: done.Workspace, Notes: done.Notes, Same: done.Same,
		AgentFiles: done.Manifest.AgentFiles(), Aside: done.Aside}
	return a.Write(r, func(p *render.Page) {
		p.Linef("restored agent %s in %s: embeddings of %s, %s of sessions, %s; %d were there already", r.Agent, r.Workspace,
			done.Manifest.Time.Local().Format(time.DateTime), render.Count(r.AgentFiles, "file"), render.Count(r.Notes, "note"), r.Same)
	})
}

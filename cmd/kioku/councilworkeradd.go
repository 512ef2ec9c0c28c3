package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/server"
)

// workerAdded is the output of kioku council workers add --json.
type workerAdded struct {
	// Worker is the id of its agent.
	Worker string `json:"worker"`
	// Added is false if council.yaml had the worker already.
	Added bool `json:"added"`
	// Files are those of its persona that were written; null without --template.
	Files []string `json:"files"`
	// Key is the path of the new key with which commands to it are signed, "" without --key.
	Key string `json:"key"`
	// Token of the worker, with its rights; null with --no-token.
	Token *tokenReport `json:"token"`
}

// workerFlags are those of kioku council workers add.
type workerFlags struct {
	server.TokenEntry
	bridges              []string
	key, quiet, template bool
}

func (a *app) workersAddCmd() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Add a worker, with a token that may suggest tasks and read its commands",
		Long: "Add a worker to council.yaml, make a token with the right worker:NAME, and print it; it is stored nowhere, so copy it now. With --key\n" +
			"commands to the worker are signed (HMAC-SHA256) with a key that you hand to it. With --template its persona is written to workers/NAME in\n" +
			"the folder: SOUL.md, IDENTITY.md and AGENTS.md with rules against injection, impersonation and gradual extraction. With --bridge the token also vouches for the ids of\n" +
			"people on a platform: only a bot that has checked with the platform who writes should have it.",
		Example: "  kioku council workers add buddy\n  kioku council workers add buddy --key --bridge discord --agents council",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			done, err := a.addWorker(cmd.Context(), args[0], f)
			if err != nil {
				return err
			}
			return a.Write(done, func(p *render.Page) {
				for _, file := range done.Files {
					p.Row("file", "%s", file)
				}
				if done.Key != "" {
					p.Row("key", "%s", done.Key)
				}
				if done.Token != nil {
					p.Row("token", "%s", done.Token.Token)
				}
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Name, "token-name", "", "`name` of the token (default: that of the worker)")
	fl.StringSliceVar(&f.bridges, "bridge", nil, "`platforms` whose ids of people it vouches for: discord, slack, github, telegram")
	fl.StringSliceVar(&f.Agents, "agents", nil, "`ids` of agents whose memory it may search too")
	fl.BoolVar(&f.Write, "write", false, "the token may write notes of these agents")
	fl.BoolVar(&f.template, "template", false, "write a persona for it, to be edited")
	fl.BoolVar(&f.key, "key", false, "make a key with which commands to it are signed")
	fl.BoolVar(&f.quiet, "no-token", false, "make no token")
	return cmd
}

// addWorker adds a worker to the council of the command.
func (a *app) addWorker(ctx context.Context, name string, f workerFlags) (done workerAdded, err error) {
	done.Worker = name
	conf, err := a.config()
	if err != nil {
		return done, err
	}
	folder, err := a.findCouncil(conf)
	if err != nil {
		return done, err
	}
	for _, platform := range f.bridges {
		if !slices.Contains(council.Platforms, platform) {
			return done, render.Misuse("--bridge: %q is no platform; platforms are %s", platform, strings.Join(council.Platforms, ", "))
		}
	}
	if done.Added, err = host.AddWorker(folder, name); err != nil {
		return done, err
	}
	if done.Added {
		a.Notice("added %s to the workers of %s; a daemon that runs the council knows it once it is started again", name, folder)
	}
	if f.template {
		if done.Files, err = host.WritePersona(folder, name); err != nil {
			return done, err
		}
	}
	if f.key {
		if done.Key, err = host.NewKey(folder, name); err != nil {
			return done, err
		}
	}
	if f.quiet {
		return done, nil
	}
	if f.Name == "" {
		f.Name = name
	}
	f.Council = []string{"worker:" + name}
	for _, platform := range f.bridges {
		f.Council = append(f.Council, "bridge:"+platform)
	}
	made, err := a.makeToken(ctx, f.TokenEntry)
	done.Token = &made
	return done, err
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
)

func (a *app) configCmd() *cobra.Command {
	return group(&cobra.Command{Use: "config", Short: "Show and change settings"},
		a.configGetCmd(), a.configSetCmd(), a.configUnsetCmd(), a.configListCmd(), a.importOpenClawCmd())
}

func (a *app) configGetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print the value of a setting",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeKey,
		RunE: func(_ *cobra.Command, args []string) error {
			conf, err := a.config()
			if err != nil {
				return err
			}
			v, err := conf.Value(args[0])
			if err != nil {
				return err
			}
			return a.Write(shown(v), func(p *render.Page) { p.Linef("%s", v.Text) })
		},
	}
}

func (a *app) configSetCmd() *cobra.Command {
	var folder bool
	cmd := &cobra.Command{
		Use: "set KEY VALUE", Short: "Write a setting into the config file",
		Long: "Write a setting into the config file, and keep its comments and order. A list is separated by commas. With --folder, the\n" +
			"setting is written into " + config.FolderFile + " of the workspace, where it counts for this folder.",
		Example: "  kioku config set query.maxResults 10\n  kioku config set remote.apiKey env:MY_KEY\n  kioku config set --folder timezone Asia/Tokyo",
		Args:    cobra.ExactArgs(2), ValidArgsFunction: a.completeKeyAndValue,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.setSetting(cmd.Context(), args[0], args[1], folder)
		},
	}
	addFolderFlag(cmd, &folder)
	return cmd
}

// setSetting writes a setting into the config file, or into that of the workspace.
func (a *app) setSetting(ctx context.Context, key, value string, folder bool) error {
	src, err := a.edited(folder)
	if err != nil {
		return err
	}
	path, err := config.Edit(src, key, value)
	if err != nil {
		return err
	}
	a.Notice("%s is set in %s", key, path)
	a.tellDaemon(ctx, key)
	return nil
}

func (a *app) configUnsetCmd() *cobra.Command {
	var folder bool
	cmd := &cobra.Command{
		Use: "unset KEY", Short: "Remove a setting from the config file",
		Long: "Remove a setting, or a block of settings, from the config file, so that it has its default again. Comments and order of\n" +
			"the others are kept.",
		Example: "  kioku config unset query.maxResults\n  kioku config unset --folder chunking",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := a.edited(folder)
			if err != nil {
				return err
			}
			path, removed, err := config.Unset(src, args[0])
			switch {
			case err != nil:
				return err
			case removed:
				a.Notice("%s is no longer set in %s", args[0], path)
				a.tellDaemon(cmd.Context(), args[0])
			default:
				a.Notice("%s was not set in %s; nothing was changed", args[0], path)
			}
			return nil
		},
	}
	addFolderFlag(cmd, &folder)
	return cmd
}

// tellDaemon says how the daemon of the memory, if one runs, takes over a setting that was changed.
func (a *app) tellDaemon(ctx context.Context, key string) {
	if strings.HasPrefix(key, "client.") {
		return
	}
	k, err := a.connector()
	if err != nil {
		return // the next command says what is wrong with the settings
	}
	socket := k.Running(ctx)
	if socket == "" {
		return
	}
	how := "takes it over by itself"
	if !host.Reloadable(key) {
		how = "takes it over by itself if a client started it in the background, else after kioku restart"
	}
	a.Notice("the daemon on %s %s", socket, how)
}

// addFolderFlag adds --folder to a command that edits a file of settings.
func addFolderFlag(cmd *cobra.Command, folder *bool) {
	cmd.Flags().BoolVar(folder, "folder", false, "edit "+config.FolderFile+" of the workspace instead of the config file")
}

// edited returns the sources whose file a command edits: the user's file, or that of the workspace.
func (a *app) edited(folder bool) (config.Sources, error) {
	src := a.sources()
	if !folder {
		return src, nil
	}
	conf, err := config.Load(src)
	if err != nil {
		return src, err
	}
	place, err := conf.Here()
	src.Folder = place.Workspace
	return src, err
}

func (a *app) configListCmd() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use: "list", Short: "Print all settings and where each value came from",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if markdown {
				_, err := fmt.Fprint(a.Stdout, config.Markdown())
				return err
			}
			conf, err := a.config()
			if err != nil {
				return err
			}
			return a.listSettings(conf)
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/settings.md")
	return cmd
}

// shownSetting is a setting as kioku config --json writes it.
type shownSetting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Env    string `json:"env"`
	Doc    string `json:"doc"`
	// Meaning is what a value such as auto stands for now.
	Meaning string `json:"meaning,omitempty"`
}

func shown(v config.Value) shownSetting {
	return shownSetting{v.Key, v.Text, v.Origin, v.Env(), v.Doc, v.Meaning}
}

func (a *app) listSettings(conf *config.Config) error {
	var all []shownSetting
	for _, v := range conf.Values() {
		all = append(all, shown(v))
	}
	return a.Write(all, func(p *render.Page) {
		width := 0
		for _, v := range all {
			width = min(max(width, render.Width(v.Key+"="+v.Value)), 60)
		}
		for _, v := range all {
			origin := v.Origin
			if v.Meaning != "" {
				origin += "; now " + v.Meaning
			}
			p.Linef("%s  %s", render.Pad(v.Key+"="+v.Value, width), render.Dim(origin))
		}
	})
}

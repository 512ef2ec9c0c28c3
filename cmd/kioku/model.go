package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/modelstore"
	"kioku/cmd/kioku/internal/render"
)

func (a *app) modelCmd() *cobra.Command {
	return group(&cobra.Command{
		Use: "model", Short: "Add, list and check local models, which find notes by what they mean",
		Long: "Add, list and check local models, which find notes by what they mean. A model is a folder of files as Hugging Face publishes\n" +
			"them. It computes in this program: no server, no key, and no text leaves this machine.",
	}, a.modelAddCmd(), a.modelListCmd(), a.modelUseCmd(), a.modelRemoveCmd(), a.modelCheckCmd())
}

// completeModel completes the names of models that were added.
func (a *app) completeModel(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	conf, err := a.config()
	if len(args) > 0 || err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	models, _ := conf.Models().List() // a shell has no place for an error
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// shownModel is a model as kioku model list --json writes it.
type shownModel struct {
	modelstore.Manifest
	// Bytes of all files.
	Bytes int64 `json:"bytes"`
	// Used is true for the model that embeds in the workspace of the command.
	Used bool `json:"used"`
	// Problem says why it cannot be used; empty if it can, as far as a look at its files tells.
	Problem string `json:"problem,omitempty"`
}

func (a *app) modelListCmd() *cobra.Command {
	var known bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the models that were added",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if known {
				return a.Write(modelstore.Catalog(), tellKnown)
			}
			conf, err := a.config()
			if err != nil {
				return err
			}
			models, err := shownModels(conf)
			if err != nil {
				return err
			}
			return a.Write(models, func(p *render.Page) { tellModels(p, models, conf) })
		},
	}
	cmd.Flags().BoolVar(&known, "known", false, "list the models that can be added by a short name")
	return cmd
}

// shownModels returns the models that were added; none is an empty list.
func shownModels(conf *config.Config) ([]shownModel, error) {
	models, err := conf.Models().List()
	shown := []shownModel{}
	for _, m := range models {
		s := shownModel{Manifest: m.Manifest, Bytes: m.Manifest.Bytes(), Used: isUsed(conf, m)}
		if m.Err != nil {
			s.Problem = m.Err.Error()
		}
		shown = append(shown, s)
	}
	return shown, err
}

// isUsed reports whether the settings stand for a model.
func isUsed(conf *config.Config, m modelstore.Model) bool {
	return conf.Embed.Provider == "local" && conf.Embed.ModelDir == m.Dir
}

// tellModels adds a table of the models that were added.
func tellModels(p *render.Page, models []shownModel, conf *config.Config) {
	if len(models) == 0 {
		p.Linef("No model was added. kioku model list --known shows which there are; kioku model add minilm is where to start.")
		return
	}
	table := bench.Table{Head: []string{"model", "kind", "dimensions", "size", "license", "languages", ""}}
	for _, m := range models {
		state := ""
		switch {
		case m.Problem != "":
			state = "broken"
		case m.Used:
			state = "used"
		case m.Role == modelstore.Reranker:
			state = "re-ranker"
		}
		table.Rows = append(table.Rows, bench.TableRow{Cells: []string{
			m.Name, m.Kind, dimensions(m.Dims), render.Size(m.Bytes), m.License, m.Languages, state}, Strong: m.Used})
	}
	p.Table(table)
	for _, m := range models {
		if m.Problem != "" {
			p.Linef("%s cannot be used: %s", m.Name, m.Problem)
		}
	}
	if !slices.ContainsFunc(models, func(m shownModel) bool { return m.Used }) {
		p.Linef("The provider is %s (%s).", conf.Embed.Provider, conf.Embed.Reason)
	}
}

// dimensions returns a number of dimensions as text.
func dimensions(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// tellKnown adds a table of the known models.
func tellKnown(p *render.Page) {
	table := bench.Table{Head: []string{"model", "kind", "download", "license", "languages"}}
	for _, k := range modelstore.Catalog() {
		table.Rows = append(table.Rows, bench.TableRow{Cells: []string{k.Name, k.Kind, fmt.Sprintf("%d MB", k.MB), k.License, k.Languages}})
	}
	p.Table(table)
	p.Linef("")
	for _, k := range modelstore.Catalog() {
		p.Linef("%s is %s/%s: %s.", k.Name, modelstore.Hub, k.Repository, k.Note)
	}
}

func (a *app) modelUseCmd() *cobra.Command {
	var folder bool
	cmd := &cobra.Command{
		Use: "use NAME", Short: "Have a model embed the notes",
		Long: "Have a model embed the notes: local.model says so in the config file or, with --folder, in " + config.FolderFile + " of the\n" +
			"workspace. The old vectors answer until those of the model are whole; switching back costs nothing.",
		Example: "  kioku model use minilm\n  kioku model use --folder multilingual-e5-small",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeModel,
		RunE: func(_ *cobra.Command, args []string) error { return a.useModel(args[0], folder) },
	}
	addFolderFlag(cmd, &folder)
	return cmd
}

// useModel writes the setting that chooses a model, and the provider if another one is set.
func (a *app) useModel(name string, folder bool) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	m, err := conf.Models().Find(name)
	switch {
	case err != nil:
		return render.Misuse("%w", err)
	case m.Role == modelstore.Reranker:
		return render.Misuse("%s is a re-ranker, which has no vectors", m.Name)
	case m.Err != nil:
		return fmt.Errorf("%s: %w", m.Name, m.Err)
	}
	src, err := a.edited(folder)
	if err != nil {
		return err
	}
	path, err := config.Edit(src, "local.model", m.Name)
	if err != nil {
		return err
	}
	a.Notice("local.model is %s in %s", m.Name, path)
	if other := conf.Provider; other != "auto" && other != "local" {
		if folder {
			a.Notice("it has no effect while provider is %s: kioku config set provider auto", other)
			return nil
		}
		if _, err := config.Edit(src, "provider", "local"); err != nil {
			return err
		}
		a.Notice("provider was %s and is local now", other)
	}
	a.Notice("kioku index embeds the notes; a running daemon uses it after a restart")
	return nil
}

func (a *app) modelRemoveCmd() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a model and its files",
		Long: "Remove a model and its files. Vectors that it has made stay in the cache for a while, for when it is added again.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeModel,
		RunE: func(_ *cobra.Command, args []string) error {
			conf, err := a.config()
			if err != nil {
				return err
			}
			m, err := conf.Models().Find(args[0])
			if err != nil {
				return render.Misuse("%w", err)
			}
			if err := conf.Models().Remove(m.Name); err != nil {
				return err
			}
			a.Notice("%s is removed", m.Name)
			if v, err := conf.Value("local.model"); err == nil && v.Text == m.Name {
				a.Notice("local.model still names it, set by %s: kioku config unset local.model", v.Origin)
			}
			return nil
		},
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/modelcheck"
	"kioku/cmd/kioku/internal/modelstore"
	"kioku/cmd/kioku/internal/render"
	"kioku/embed/local"
	"kioku/memory"
)

// speedWait is for how long the speed of a model is measured.
const speedWait = 2 * time.Second

// checkedModel is the output of kioku model check --json.
type checkedModel struct {
	// Name of the model.
	Name string `json:"name"`
	// Problem says why it cannot be used; empty if it can.
	Problem string `json:"problem,omitempty"`
	// PerSecond is how many texts of about 250 characters it embeds in a second on this machine.
	PerSecond float64 `json:"texts_per_second"`
	// Languages that were tested.
	Languages []modelcheck.Language `json:"languages"`
	// Workspace are the languages of the notes; none if there is no workspace.
	Workspace []modelcheck.Share `json:"workspace"`
	// Unknown are those of the workspace that the model does not know, Untested those that could not be tested.
	Unknown  []string `json:"unknown"`
	Untested []string `json:"untested"`
}

func (a *app) modelCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use: "check [NAME]", Short: "Check the files of a model, and whether it knows the languages of the workspace",
		Long: "Check a model, by default the one that is used: compare its files with their checksums, embed pairs of sentences in ten\n" +
			"languages, measure its speed, and say whether it knows the languages of the notes here. Exit code 1 means that it cannot be used.",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := a.config()
			if err != nil {
				return err
			}
			m, err := modelToCheck(conf, args)
			if err != nil {
				return err
			}
			return a.checkModel(cmd.Context(), m)
		},
	}
}

// modelToCheck returns the model of a name, or the one that is used.
func modelToCheck(conf *config.Config, args []string) (modelstore.Model, error) {
	if len(args) == 1 {
		m, err := conf.Models().Find(args[0])
		if err != nil {
			return m, render.Misuse("%w", err)
		}
		return m, nil
	}
	m, err := conf.Models().At(conf.Embed.ModelDir)
	if conf.Embed.Provider != "local" || errors.Is(err, modelstore.ErrNotAdded) {
		return m, render.Misuse("no local model is used (%s); name one", conf.Embed.Reason)
	}
	return m, err
}

func (a *app) checkModel(ctx context.Context, m modelstore.Model) error {
	checked := checkedModel{Name: m.Name, Languages: []modelcheck.Language{}, Workspace: a.workspaceLanguages(ctx)}
	err := m.Verify(ctx)
	if err == nil {
		_, err = modelstore.Open(ctx, m.Dir, m.Manifest)
	}
	if err == nil && m.Role == modelstore.Embedder {
		err = checked.embed(ctx, m.Dir)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		checked.Problem = err.Error()
	}
	if err := a.Write(checked, checked.tell); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s cannot be used: %w", m.Name, err)
	}
	return nil
}

// workspaceLanguages returns the languages of the notes in the index, none if there is no workspace on this machine.
func (a *app) workspaceLanguages(ctx context.Context) []modelcheck.Share {
	shares := []modelcheck.Share{}
	a.readOnly = true
	_ = a.with(ctx, connect.ToGet, func(c *connect.Client) error {
		list, err := c.AllFiles(ctx, memory.FileQuery{})
		var paths []string
		for _, f := range list.Files {
			paths = append(paths, f.Path)
		}
		if found, lookErr := modelcheck.WorkspaceLanguages(c.Workspace, paths); lookErr == nil && found != nil {
			shares = found
		}
		return err
	}) // a model can be checked without a workspace
	return shares
}

// embed has the model of a folder embed the pairs.
func (c *checkedModel) embed(ctx context.Context, dir string) (err error) {
	model, err := local.Open(dir, local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	embed := modelcheck.With(model)
	if c.Languages, err = modelcheck.Languages(ctx, embed); err != nil {
		return err
	}
	c.Unknown, c.Untested = modelcheck.Unknown(c.Workspace, c.Languages)
	c.PerSecond, err = modelcheck.Speed(ctx, embed, speedWait)
	return err
}

// tell adds what was found.
func (c checkedModel) tell(p *render.Page) {
	if c.Problem != "" {
		return // the command ends with it
	}
	p.Linef("%s: its files are as they were when it was added.", c.Name)
	if len(c.Languages) == 0 {
		p.Linef("It scores passages.")
		return
	}
	p.Linef("%s texts of about 250 characters a second on this machine.", render.Rounded(c.PerSecond))
	table := bench.Table{Head: []string{"language", "right", "paraphrase", "stranger", ""}}
	for _, l := range c.Languages {
		known := "known"
		if !l.Known {
			known = "not known"
		}
		table.Rows = append(table.Rows, bench.TableRow{Cells: []string{l.Language, fmt.Sprintf("%d of %d", l.Right, l.Sentences),
			fmt.Sprintf("%.2f", l.Near), fmt.Sprintf("%.2f", l.Far), known}})
	}
	p.Table(table)
	for _, line := range c.verdict() {
		p.Linef("%s", line)
	}
}

// verdict says whether the model fits the workspace.
func (c checkedModel) verdict() []string {
	if len(c.Workspace) == 0 {
		return nil
	}
	lines := []string{"The notes here: " + modelcheck.Percent(c.Workspace) + "."}
	switch {
	case len(c.Unknown) > 0:
		lines = append(lines, fmt.Sprintf("The model does not know %s: notes in it are found by their words only. kioku model add multilingual-e5-small adds one for 100 languages.",
			strings.Join(c.Unknown, ", ")))
	case len(c.Untested) == 0:
		lines = append(lines, "The model knows the languages of the notes.")
	}
	if len(c.Untested) > 0 {
		lines = append(lines, fmt.Sprintf("There are no sentences here to test it in %s.", strings.Join(c.Untested, ", ")))
	}
	return lines
}

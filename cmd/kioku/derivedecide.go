package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/derive/unit"
	"kioku/memory"
	"kioku/server"
)

// upper returns a type of entities as it is stored.
func upper(text string) string { return strings.ToUpper(strings.TrimSpace(text)) }

// decisionCmd returns a command that makes the decision that its arguments say.
func (a *app) decisionCmd(cmd *cobra.Command, decide func(ctx context.Context, c *connect.Client, args []string) (unit.DecisionRequest, error)) *cobra.Command {
	note := ""
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.withDecisions(cmd.Context(), func(c *connect.Client) error {
			req, err := decide(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			req.Note = note
			done, err := server.Derive.Decide.Call(cmd.Context(), c.Conn, server.Decision{OfAgent: c.Of(), DecisionRequest: req})
			if err != nil {
				return err
			}
			return a.tellDecided(done)
		})
	}
	cmd.Flags().StringVar(&note, "note", "", "`why`, for people: it is kept with the decision")
	return cmd
}

// tellDecided writes what was decided.
func (a *app) tellDecided(done unit.Decided) error {
	err := a.Write(done, func(p *render.Page) {
		switch {
		case done.Unit != nil:
			p.Units([]memory.Unit{*done.Unit})
		case done.Entity != nil:
			p.Entities(unit.EntityList{Entities: []unit.Entity{*done.Entity}})
		}
		for _, place := range done.Remaining {
			p.Linef("%s", place)
		}
	})
	if err != nil {
		return err
	}
	if n := len(done.Remaining); n > 0 {
		a.Notice("%s may still say it, and nothing is changed there: edit the notes if they are wrong", render.Count(n, "place"))
	}
	a.Notice("derived/decisions.md: %s", done.Line)
	return nil
}

// verbCmd returns a command whose name is a verb that needs an id only.
func (a *app) verbCmd(verb, short string) *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeUnits,
	}, func(_ context.Context, _ *connect.Client, args []string) (unit.DecisionRequest, error) {
		return unit.DecisionRequest{Verb: verb, ID: args[0]}, nil
	})
}

func (a *app) deriveForgetCmd() *cobra.Command {
	cmd := a.verbCmd(unit.DecideForget, "Forget a fact, loop or summary for good")
	cmd.Long = "Forget a fact, loop or summary: it, its versions, its quotes and the cached answers about them are removed, and it does not come back\n" +
		"when notes are derived again. Notes are not changed; the lines that still say it are listed, and where older versions of these notes are\n" +
		"kept, with how to remove them."
	return cmd
}

func (a *app) deriveUndoCmd() *cobra.Command {
	cmd := a.verbCmd(unit.DecideUndo, "Take the last decision about a unit back")
	cmd.Long = "Take the last decision about a unit back: a pin, a correction, or that it is closed. Then it says what it said before. What has changed\n" +
		"with the notes is no decision: pin what is right, or correct it."
	return cmd
}

func (a *app) deriveCorrectCmd() *cobra.Command {
	var from, to, due, sensitivity string
	cmd := &cobra.Command{
		Use: "correct ID [TEXT]", Short: "Correct what a unit says, since when it holds, or who may see it",
		Long: "Correct a unit: TEXT is the new object of a fact (\"Lisbon\"), or the new text of a loop or summary. What is not given stays.",
		Example: "  kioku derive correct 9f3c21ab Lisbon\n  kioku derive correct 9f3c21ab --from 2026-10\n" +
			"  kioku derive correct 9f3c21ab --sensitivity private",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeUnits,
	}
	a.decisionCmd(cmd, func(_ context.Context, _ *connect.Client, args []string) (unit.DecisionRequest, error) {
		req := unit.DecisionRequest{Verb: unit.DecideCorrect, ID: args[0], Set: unit.Correction{Text: strings.Join(args[1:], " ")}}
		for _, bound := range []struct {
			flag  string
			value *string
			field **string
		}{{"from", &from, &req.Set.From}, {"to", &to, &req.Set.To}, {"due", &due, &req.Set.Due}} {
			if cmd.Flags().Changed(bound.flag) {
				*bound.field = bound.value
			}
		}
		if sensitivity != "" {
			level, ok := memory.ParseSensitivity(sensitivity)
			if !ok {
				return req, render.Misuse("--sensitivity must be normal, private or secret, not %q", sensitivity)
			}
			req.Set.Sensitivity = &level
		}
		return req, nil
	})
	fl := cmd.Flags()
	fl.StringVar(&from, "from", "", "`day`, month or year from which a fact holds; \"\" removes it")
	fl.StringVar(&to, "to", "", "`day`, month or year before which it holds; \"\" removes it")
	fl.StringVar(&due, "due", "", "`day` when a loop is due; \"\" removes it")
	fl.StringVar(&sensitivity, "sensitivity", "", "`who` may see it: normal, private or secret")
	completeFlag(cmd, "sensitivity", "normal", "private", "secret")
	return cmd
}

func (a *app) deriveMergeCmd() *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: "merge ENTITY INTO", Short: "Make one entity another name of a second one",
		Long:    "Make one entity another name of a second one, which stays: their facts meet. Both are named by id, name or alias; split takes it back.",
		Example: "  kioku derive merge \"Dario Rossi\" Dario", Args: cobra.ExactArgs(2), ValidArgsFunction: cobra.NoFileCompletions,
	}, func(ctx context.Context, c *connect.Client, args []string) (unit.DecisionRequest, error) {
		id, err := entityID(ctx, c, args[0], "secret")
		if err != nil {
			return unit.DecisionRequest{}, err
		}
		into, err := entityID(ctx, c, args[1], "secret")
		return unit.DecisionRequest{Verb: unit.DecideMerge, ID: id, Into: into}, err
	})
}

func (a *app) deriveSplitCmd() *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: "split ENTITY", Short: "Take the merge of an entity back",
		Long: "Take the merge of an entity back. It is named by the id that kioku derive entities shows.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
	}, func(ctx context.Context, c *connect.Client, args []string) (unit.DecisionRequest, error) {
		id, err := mergedID(ctx, c, args[0])
		return unit.DecisionRequest{Verb: unit.DecideSplit, ID: id}, err
	})
}

// mergedID returns the id of an entity that was merged and has a name, or the id that the name is.
func mergedID(ctx context.Context, c *connect.Client, name string) (string, error) {
	list, err := entitiesCalled(ctx, c, name, "secret")
	if err != nil {
		return "", err
	}
	var merged []unit.Entity
	for _, e := range list {
		if e.MergedInto != "" && isCalled(e, name) {
			merged = append(merged, e)
		}
	}
	switch {
	case len(merged) == 1:
		return merged[0].UID, nil
	case len(merged) > 1:
		return "", render.Misuse("several merged entities are called %q: %s; name one by its id", name, candidates(merged))
	case isID(name):
		return name, nil
	}
	return "", render.Misuse("no merged entity is called %q; kioku derive entities lists them", name)
}

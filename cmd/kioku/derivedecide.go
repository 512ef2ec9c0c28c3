package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

// upper returns a type of entities as it is stored.
func upper(text string) string { return strings.ToUpper(strings.TrimSpace(text)) }

// decisionCmd returns a command that makes a decision about what its first argument names.
func (a *app) decisionCmd(cmd *cobra.Command, decide func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error)) *cobra.Command {
	note := ""
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.withDecisions(cmd.Context(), func(c *connect.Client) error {
			done, err := decide(cmd.Context(), c, args, note)
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
func (a *app) tellDecided(done *kiokuv1.Decided) error {
	err := a.Write(done, func(p *render.Page) {
		switch {
		case done.GetUnit() != nil:
			p.Units([]*kiokuv1.Unit{done.GetUnit()})
		case done.GetEntity() != nil:
			p.Entities(&kiokuv1.ListEntitiesResponse{Entities: []*kiokuv1.Entity{done.GetEntity()}})
		}
		for _, place := range done.GetRemaining() {
			p.Linef("%s", place)
		}
	})
	if err != nil {
		return err
	}
	if n := len(done.GetRemaining()); n > 0 {
		a.Notice("%s may still say it, and nothing is changed there: edit the notes if they are wrong", render.Count(n, "place"))
	}
	a.Notice("derived/decisions.md: %s", done.GetDecision())
	return nil
}

func (a *app) pinCmd(name, short string, unpin bool) *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: name + " ID", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeUnits,
	}, func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error) {
		resp, err := c.Derive.Pin(ctx, &kiokuv1.PinRequest{Agent: c.Agent, Id: args[0], Unpin: unpin, Note: note})
		return resp.GetDecided(), err
	})
}

func (a *app) loopCmd(name, short string, reopen bool) *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: name + " ID", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeUnits,
	}, func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error) {
		resp, err := c.Derive.CloseLoop(ctx, &kiokuv1.CloseLoopRequest{Agent: c.Agent, Id: args[0], Reopen: reopen, Note: note})
		return resp.GetDecided(), err
	})
}

func (a *app) deriveForgetCmd() *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: "forget ID", Short: "Forget a fact, loop or summary for good",
		Long: "Forget a fact, loop or summary: it, its versions, its quotes and the cached answers about them are removed, and it does not come back\n" +
			"when notes are derived again. Notes are not changed; the lines that still say it are listed, and where older versions of these notes are\n" +
			"kept, with how to remove them.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeUnits,
	}, func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error) {
		resp, err := c.Derive.Forget(ctx, &kiokuv1.ForgetRequest{Agent: c.Agent, Id: args[0], Note: note})
		return resp.GetDecided(), err
	})
}

func (a *app) deriveUndoCmd() *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: "undo ID", Short: "Give a unit what it said in its version before",
		Long: "Give a unit what it said in its version before, as a correction: derive history lists the versions. Pins are taken away with unpin,\n" +
			"and closed loops opened with reopen.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeUnits,
	}, func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error) {
		resp, err := c.Derive.Undo(ctx, &kiokuv1.UndoRequest{Agent: c.Agent, Id: args[0], Note: note})
		return resp.GetDecided(), err
	})
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
	a.decisionCmd(cmd, func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error) {
		req := &kiokuv1.CorrectRequest{Agent: c.Agent, Id: args[0], Text: strings.Join(args[1:], " "), Sensitivity: sensitivity, Note: note}
		for _, bound := range []struct {
			flag  string
			value *string
			field **string
		}{{"from", &from, &req.ValidFrom}, {"to", &to, &req.ValidTo}, {"due", &due, &req.Due}} {
			if cmd.Flags().Changed(bound.flag) {
				*bound.field = bound.value
			}
		}
		resp, err := c.Derive.Correct(ctx, req)
		return resp.GetDecided(), err
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
	}, func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error) {
		id, err := entityID(ctx, c, args[0], "secret")
		if err != nil {
			return nil, err
		}
		into, err := entityID(ctx, c, args[1], "secret")
		if err != nil {
			return nil, err
		}
		resp, err := c.Derive.MergeEntities(ctx, &kiokuv1.MergeEntitiesRequest{Agent: c.Agent, Id: id, Into: into, Note: note})
		return resp.GetDecided(), err
	})
}

func (a *app) deriveSplitCmd() *cobra.Command {
	return a.decisionCmd(&cobra.Command{
		Use: "split ENTITY", Short: "Take the merge of an entity back",
		Long: "Take the merge of an entity back. It is named by the id that kioku derive entities shows.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
	}, func(ctx context.Context, c *connect.Client, args []string, note string) (*kiokuv1.Decided, error) {
		id, err := mergedID(ctx, c, args[0])
		if err != nil {
			return nil, err
		}
		resp, err := c.Derive.SplitEntity(ctx, &kiokuv1.SplitEntityRequest{Agent: c.Agent, Id: id, Note: note})
		return resp.GetDecided(), err
	})
}

// mergedID returns the id of an entity that was merged and has a name, or the id that the name is.
func mergedID(ctx context.Context, c *connect.Client, name string) (string, error) {
	resp, err := c.Derive.ListEntities(ctx, &kiokuv1.ListEntitiesRequest{Agent: c.Agent, Name: name, Limit: 1000, MaxSensitivity: "secret"})
	if err != nil {
		return "", err
	}
	var merged []*kiokuv1.Entity
	for _, e := range resp.GetEntities() {
		if e.GetMergedInto() != "" && isCalled(e, name) {
			merged = append(merged, e)
		}
	}
	switch {
	case len(merged) == 1:
		return merged[0].GetId(), nil
	case len(merged) > 1:
		return "", render.Misuse("several merged entities are called %q: %s; name one by its id", name, candidates(merged))
	case isID(name):
		return name, nil
	}
	return "", render.Misuse("no merged entity is called %q; kioku derive entities lists them", name)
}

package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/derive/unit"
	"kioku/memory"
	"kioku/server"
	"kioku/server/op"
)

// unitFlags select units.
type unitFlags struct {
	unit.ListRequest
	// about is a name or id, asOf and believed are days or times.
	about, asOf, believed string
}

// ceilingFlag adds the flag for the ceiling.
func ceilingFlag(cmd *cobra.Command, at *string, byDefault string) {
	cmd.Flags().StringVar(at, "max-sensitivity", byDefault, "`ceiling` of what is shown: normal, private or secret")
	completeFlag(cmd, "max-sensitivity", "normal", "private", "secret")
}

func (f *unitFlags) addFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.Kinds, "kind", nil, "only these `kinds`: fact, loop, summary")
	completeFlag(cmd, "kind", memory.KindFact, memory.KindLoop, memory.KindSummary)
	fl.StringVar(&f.about, "about", "", "only units about, or that mention, this person, place or topic, by `name` or id")
	fl.StringVar(&f.Predicate, "predicate", "", "only facts with this `predicate`: lives_in, works_at, likes ...")
	fl.StringSliceVar(&f.States, "only", nil, "only units in these `states`: validated, conflict, superseded, archived")
	completeFlag(cmd, "only", memory.StateValidated, memory.StateConflict, memory.StateSuperseded, memory.StateArchived)
	fl.StringVar(&f.asOf, "as-of", "", "what held in the world on this `day`: 2026-01-20 or 2026-01-20T15:04:05Z")
	fl.StringVar(&f.believed, "believed", "", "what was derived by this `day`")
	fl.BoolVarP(&f.IncludeSuperseded, "all", "a", false, "also what is superseded, closed or expired")
	fl.IntVar(&f.Limit, "limit", 100, "maximum `number` of units, at most 1,000")
	ceilingFlag(cmd, &f.MaxSensitivity, "private")
}

// request returns the request of the flags.
func (f *unitFlags) request(ctx context.Context, c *connect.Client, zone *time.Location) (req unit.ListRequest, err error) {
	req = f.ListRequest
	req.Agent = c.Agent
	if f.about != "" {
		if req.Entity, err = entityID(ctx, c, f.about, f.MaxSensitivity); err != nil {
			return req, err
		}
	}
	if req.AsOf, err = flagTime("as-of", f.asOf, zone); err != nil {
		return req, err
	}
	req.Believed, err = flagTime("believed", f.believed, zone)
	return req, err
}

// flagTime returns the time of a flag, zero if it is not given. A day means its end for --believed and its noon otherwise.
func flagTime(flag, text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		if flag == "believed" {
			return d.AddDate(0, 0, 1).Add(-time.Second), nil
		}
		return d.Add(12 * time.Hour), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, render.Misuse("--%s must be a day like 2026-01-20 or a time like 2026-01-20T15:04:05Z, not %q", flag, text)
	}
	return t, nil
}

func (a *app) deriveListCmd() *cobra.Command {
	var f unitFlags
	cmd := &cobra.Command{
		Use: "list [WORDS]", Short: "List facts, open loops and summaries",
		Long: "List facts, open loops and summaries with their ids, confidence and sources: conflicts first, then pinned ones, then the newest; with\n" +
			"words, the units that share them, best first.",
		Example: "  kioku derive list --about Dario\n  kioku derive list --kind loop\n  kioku derive list --predicate lives_in --as-of 2026-01-20",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if f.Query, err = a.argumentText(args); err != nil {
				return err
			}
			return a.withUnits(cmd.Context(), func(c *connect.Client) error { return a.listUnits(cmd.Context(), c, &f) })
		},
	}
	f.addFlags(cmd)
	return cmd
}

func (a *app) listUnits(ctx context.Context, c *connect.Client, f *unitFlags) error {
	req, err := f.request(ctx, c, a.conf.Location)
	if err != nil {
		return err
	}
	list, err := server.Derive.List.Call(ctx, c.Conn, req)
	if err != nil {
		return err
	}
	if err := a.Write(list, func(p *render.Page) { p.Units(list.Units) }); err != nil {
		return err
	}
	n := len(list.Units)
	switch {
	case n == 0:
		a.Notice("no facts, loops or summaries are selected; kioku derive status tells what is derived")
	case n < list.Total:
		a.Notice("%d of %d units; --limit shows more", n, list.Total)
	case !a.JSON:
		a.Notice("%s", render.Count(n, "unit"))
	}
	if w := list.Withheld; w > 0 {
		a.Notice("%s above the ceiling; --max-sensitivity secret shows all", render.Count(w, "unit"))
	}
	return nil
}

// ofUnit makes a command ask about the unit that its argument names.
func ofUnit[Out any](a *app, cmd *cobra.Command, o op.Op[server.UnitID, Out], show func(*render.Page, Out)) *cobra.Command {
	ceiling := ""
	cmd.Args, cmd.ValidArgsFunction = cobra.ExactArgs(1), a.completeUnits
	ceilingFlag(cmd, &ceiling, "private")
	return ask(a, cmd, a.withUnits, o, func(c *connect.Client, args []string) (server.UnitID, error) {
		return server.UnitID{OfAgent: c.Of(), ID: args[0], MaxSensitivity: ceiling}, nil
	}, show)
}

func (a *app) deriveShowCmd() *cobra.Command {
	return ofUnit(a, &cobra.Command{Use: "show ID", Short: "Show all of a unit: what it says, since when, and the lines that it is from"},
		server.Derive.Show, (*render.Page).Unit)
}

func (a *app) deriveHistoryCmd() *cobra.Command {
	return ofUnit(a, &cobra.Command{Use: "history ID", Short: "List the versions of a unit, newest first"},
		server.Derive.History, (*render.Page).UnitVersions)
}

func (a *app) deriveEntitiesCmd() *cobra.Command {
	req := server.EntityRequest{}
	cmd := ask(a, &cobra.Command{
		Use: "entities [NAME]", Short: "List people, places, projects and topics, and those that are likely the same",
		Example: "  kioku derive entities --type person\n  kioku derive entities da",
		Args:    cobra.MaximumNArgs(1),
	}, a.withUnits, server.Derive.Entities, func(c *connect.Client, args []string) (server.EntityRequest, error) {
		req.OfAgent, req.Type, req.Name = c.Of(), upper(req.Type), strings.Join(args, "")
		return req, nil
	}, func(p *render.Page, list unit.EntityList) {
		p.Entities(list)
		if len(list.Entities) == 0 {
			a.Notice("nobody and nothing is known")
		}
	})
	cmd.Flags().StringVar(&req.Type, "type", "", "only this `type`: person, place, project, work, topic, org, other")
	completeFlag(cmd, "type", "person", "place", "project", "work", "topic", "org", "other")
	cmd.Flags().IntVar(&req.Limit, "limit", 100, "maximum `number`, at most 1,000")
	ceilingFlag(cmd, &req.MaxSensitivity, "private")
	return cmd
}

func (a *app) deriveReflectionsCmd() *cobra.Command {
	req := server.ReflectionRequest{}
	cmd := ask(a, &cobra.Command{
		Use: "reflections", Short: "Show the mood of each day, and what a model thinks of what was written",
		Example: "  kioku derive reflections --from 2026-11-16 --to 2026-11-22",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}, a.withUnits, server.Derive.Reflections, func(c *connect.Client, _ []string) (server.ReflectionRequest, error) {
		req.OfAgent = c.Of()
		return req, nil
	}, func(p *render.Page, all unit.Reflections) {
		p.Reflections(all)
		if len(all.Reflections) == 0 {
			a.Notice("there are no reflections; they need a model (derive.llm.model) and the setting derive.reflect")
		}
	})
	cmd.Flags().StringVar(&req.From, "from", "", "the first `day`, such as 2026-11-16")
	cmd.Flags().StringVar(&req.To, "to", "", "the last `day`")
	cmd.Flags().IntVar(&req.Limit, "limit", 100, "maximum `number` of sections, at most 1,000")
	ceilingFlag(cmd, &req.MaxSensitivity, "private")
	return cmd
}

func (a *app) deriveExportCmd() *cobra.Command {
	ceiling := ""
	cmd := &cobra.Command{
		Use: "export", Short: "Write all units as JSON, one on each line",
		Long: "Write all facts, loops and summaries with their sources as JSON, one on each line, those too that are superseded, closed or expired.\n" +
			"The Markdown views in derived/ are written by kioku derive run and by the daemon.",
		Example: "  kioku derive export > units.jsonl",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withUnits(cmd.Context(), func(c *connect.Client) error { return a.exportUnits(cmd.Context(), c, ceiling) })
		},
	}
	ceilingFlag(cmd, &ceiling, "normal")
	return cmd
}

// exportUnits writes all units, page by page.
func (a *app) exportUnits(ctx context.Context, c *connect.Client, ceiling string) error {
	req := unit.ListRequest{Agent: c.Agent, IncludeSuperseded: true, MaxSensitivity: ceiling, Limit: 500}
	for {
		list, err := server.Derive.List.Call(ctx, c.Conn, req)
		if err != nil {
			return err
		}
		for _, u := range list.Units {
			if err := a.WriteJSON(u, ""); err != nil {
				return err
			}
		}
		if req.After = list.Next; req.After == "" {
			if w := list.Withheld; w > 0 {
				a.Notice("%s above the ceiling not exported; --max-sensitivity raises it", render.Count(w, "unit"))
			}
			return nil
		}
	}
}

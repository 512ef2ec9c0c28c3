package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/derive/unit"
	"kioku/memory"
	"kioku/server"
)

func (a *app) deriveCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "derive", Short: "Facts, open loops, people and summaries that are derived from notes",
		Long: "Show and correct what is derived from notes: names, facts with evidence, open loops and summaries. It is off unless derive.enabled\n" +
			"is set; then rules derive, and a language model too if derive.llm.model names one. Notes are never changed: decisions are lines of\n" +
			"derived/decisions.md. An id may be shortened to its first digits, at least six.",
		Example: "  kioku config set derive.enabled true\n  kioku derive run\n  kioku derive list --about Dario\n  kioku derive forget 9f3c21ab --note \"wrong person\"",
	}
	group(cmd,
		a.deriveStatusCmd(), a.deriveEstimateCmd(), a.deriveRunCmd(), a.deriveRetryCmd(),
		a.deriveListCmd(), a.deriveShowCmd(), a.deriveHistoryCmd(), a.deriveEntitiesCmd(), a.deriveReflectionsCmd(), a.deriveExportCmd(),
		a.deriveForgetCmd(), a.deriveCorrectCmd(), a.deriveMergeCmd(), a.deriveSplitCmd(),
		a.verbCmd(unit.DecidePin, "Pin a unit: no machine replaces or expires it"), a.verbCmd(unit.DecideUnpin, "Take the pin of a unit away"),
		a.verbCmd(unit.DecideClose, "Close an open loop"), a.verbCmd(unit.DecideReopen, "Open a closed or expired loop again"),
		a.deriveUndoCmd(),
	)
	return cmd
}

// withUnits connects to the memory for a command that reads what is derived, and brings that up to date by rules.
func (a *app) withUnits(ctx context.Context, f func(*connect.Client) error) error {
	return a.with(ctx, connect.ToSearch, func(c *connect.Client) error {
		if err := c.FreshenUnits(ctx); err != nil {
			return a.deriveError(err)
		}
		return a.deriveError(f(c))
	})
}

// withDecisions connects to the memory for a command that decides, derives or retries.
func (a *app) withDecisions(ctx context.Context, f func(*connect.Client) error) error {
	return a.with(ctx, connect.ToWrite, func(c *connect.Client) error {
		if err := c.FreshenUnits(ctx); err != nil {
			return a.deriveError(err)
		}
		return a.deriveError(f(c))
	})
}

// Errors of what is derived, as a person at a terminal can act on them.
var (
	errDeriveOff = errors.New("derivation is off; turn it on with: kioku config set derive.enabled true (a daemon that runs has to be started again), " +
		"and derive with: kioku derive run")
	errNoUnit = errors.New("there is no such fact, loop, summary or entity; kioku derive list --all and kioku derive entities show their ids")
)

// deriveError returns an error about what is derived in the words of the commands.
func (a *app) deriveError(err error) error {
	switch {
	case errors.Is(err, memory.ErrDeriveOff):
		return errDeriveOff
	case errors.Is(err, memory.ErrNoUnit):
		return errNoUnit
	}
	return err
}

// entityID returns the id of an entity below a ceiling that is named by its id, the beginning of one, its name or an alias.
func entityID(ctx context.Context, c *connect.Client, name, ceiling string) (string, error) {
	list, err := entitiesCalled(ctx, c, name, ceiling)
	if err != nil {
		return "", err
	}
	var exact, named []unit.Entity
	for _, e := range list {
		if isCalled(e, name) && e.MergedInto == "" {
			exact = append(exact, e)
		}
		if strings.EqualFold(e.Name, name) && e.MergedInto == "" {
			named = append(named, e)
		}
	}
	if len(named) == 1 { // a name says more than an alias of another one
		exact = named
	}
	switch {
	case len(exact) == 1:
		return exact[0].UID, nil
	case len(exact) > 1:
		return "", render.Misuse("%q is the name of several: %s; name one by its id", name, candidates(exact))
	case isID(name):
		return name, nil
	case len(list) > 0:
		return "", render.Misuse("nobody and nothing is called %q; did you mean %s?", name, candidates(list))
	}
	return "", render.Misuse("nobody and nothing is called %q; kioku derive entities lists who and what is known", name)
}

// entitiesCalled returns the entities whose names or aliases begin with a name.
func entitiesCalled(ctx context.Context, c *connect.Client, name, ceiling string) ([]unit.Entity, error) {
	list, err := server.Derive.Entities.Call(ctx, c.Conn, server.EntityRequest{OfAgent: c.Of(), Name: name, Limit: 1000, MaxSensitivity: ceiling})
	return list.Entities, err
}

// isCalled reports whether a text is the name or an alias of an entity, in any case.
func isCalled(e unit.Entity, name string) bool {
	for _, n := range append([]string{e.Name}, e.Aliases...) {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// isID reports whether a text may be an id or the beginning of one.
func isID(text string) bool {
	return len(text) >= 6 && strings.Trim(strings.ToLower(text), "0123456789abcdef") == ""
}

// candidates names at most five entities with their ids.
func candidates(list []unit.Entity) string {
	ids := make([]string, 0, len(list))
	for _, e := range list {
		ids = append(ids, e.UID)
	}
	var named []string
	for i, short := range render.ShortIDs(ids) {
		if i == 5 {
			named = append(named, "...")
			break
		}
		named = append(named, fmt.Sprintf("%s %s (%s)", short, list[i].Name, strings.ToLower(list[i].Type)))
	}
	return strings.Join(named, ", ")
}

// completeUnits completes the ids of units.
func (a *app) completeUnits(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.readOnly, a.Stderr = true, discard{}
	var ids []string
	_ = a.with(cmd.Context(), connect.ToGet, func(c *connect.Client) error {
		list, err := server.Derive.List.Call(cmd.Context(), c.Conn, unit.ListRequest{Agent: c.Agent, Limit: 1000})
		for _, u := range list.Units {
			if short := u.UID[:min(len(u.UID), 8)]; strings.HasPrefix(short, begun) {
				ids = append(ids, short+"\t"+render.CleanLine(u.Text))
			}
		}
		return err
	}) // a shell has no place for an error
	return ids, cobra.ShellCompDirectiveNoFileComp
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
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
		a.deriveListCmd(), a.deriveShowCmd(), a.deriveHistoryCmd(), a.deriveEntitiesCmd(), a.deriveExportCmd(),
		a.deriveForgetCmd(), a.deriveCorrectCmd(), a.deriveMergeCmd(), a.deriveSplitCmd(),
		a.pinCmd("pin", "Pin a unit: no machine replaces or expires it", false), a.pinCmd("unpin", "Take the pin of a unit away", true),
		a.loopCmd("close", "Close an open loop", false), a.loopCmd("reopen", "Open a closed or expired loop again", true),
		a.deriveUndoCmd(),
	)
	return cmd
}

// withUnits connects to the memory for a command that reads what is derived, and brings that up to date by rules.
func (a *app) withUnits(ctx context.Context, f func(*connect.Client) error) error {
	return a.with(ctx, connect.ToWatch, func(c *connect.Client) error {
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
	case errors.Is(err, memory.ErrDeriveOff) || reasonOf(err) == memory.Reason(memory.ErrDeriveOff):
		return errDeriveOff
	case errors.Is(err, memory.ErrNoUnit) || reasonOf(err) == memory.Reason(memory.ErrNoUnit):
		return errNoUnit
	}
	return err
}

// reasonOf returns the name that a daemon gives an error, "" for none.
func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == memory.ErrorDomain {
			return info.GetReason()
		}
	}
	return ""
}

// entityID returns the id of an entity below a ceiling that is named by its id, the beginning of one, its name or an alias.
func entityID(ctx context.Context, c *connect.Client, name, ceiling string) (string, error) {
	resp, err := c.Derive.ListEntities(ctx, &kiokuv1.ListEntitiesRequest{Agent: c.Agent, Name: name, Limit: 1000, MaxSensitivity: ceiling})
	if err != nil {
		return "", err
	}
	var exact, named []*kiokuv1.Entity
	for _, e := range resp.GetEntities() {
		if isCalled(e, name) && e.GetMergedInto() == "" {
			exact = append(exact, e)
		}
		if strings.EqualFold(e.GetName(), name) && e.GetMergedInto() == "" {
			named = append(named, e)
		}
	}
	if len(named) == 1 { // a name says more than an alias of another one
		exact = named
	}
	switch {
	case len(exact) == 1:
		return exact[0].GetId(), nil
	case len(exact) > 1:
		return "", render.Misuse("%q is the name of several: %s; name one by its id", name, candidates(exact))
	case isID(name):
		return name, nil
	case len(resp.GetEntities()) > 0:
		return "", render.Misuse("nobody and nothing is called %q; did you mean %s?", name, candidates(resp.GetEntities()))
	}
	return "", render.Misuse("nobody and nothing is called %q; kioku derive entities lists who and what is known", name)
}

// isCalled reports whether a text is the name or an alias of an entity, in any case.
func isCalled(e *kiokuv1.Entity, name string) bool {
	for _, n := range append([]string{e.GetName()}, e.GetAliases()...) {
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
func candidates(list []*kiokuv1.Entity) string {
	ids := make([]string, 0, len(list))
	for _, e := range list {
		ids = append(ids, e.GetId())
	}
	var named []string
	for i, short := range render.ShortIDs(ids) {
		if i == 5 {
			named = append(named, "...")
			break
		}
		named = append(named, fmt.Sprintf("%s %s (%s)", short, list[i].GetName(), strings.ToLower(list[i].GetType())))
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
		list, err := c.Derive.ListUnits(cmd.Context(), &kiokuv1.ListUnitsRequest{Agent: c.Agent, Limit: 1000})
		for _, u := range list.GetUnits() {
			if short := u.GetId()[:min(len(u.GetId()), 8)]; strings.HasPrefix(short, begun) {
				ids = append(ids, short+"\t"+render.CleanLine(u.GetText()))
			}
		}
		return err
	}) // a shell has no place for an error
	return ids, cobra.ShellCompDirectiveNoFileComp
}

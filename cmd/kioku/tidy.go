package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

func (a *app) tidyCmd() *cobra.Command {
	var accept []string
	cmd := &cobra.Command{
		Use: "tidy", Short: "Propose changes of MEMORY.md: what is said twice, otherwise since, or not yet",
		Long: "Propose changes of MEMORY.md and USER.md, one by one: entries that say what another one says, or another value of the same thing, go; what\n" +
			"the notes of the last seven days say otherwise takes the place of an entry; and what they call a decision, a preference or a rule, or\n" +
			"say on two days, comes to the end. Each with where it stands, and only if you say yes. kioku undo takes it back.",
		Example: "  kioku tidy\n  kioku tidy --json\n  kioku tidy --accept MEMORY.md#L5:1a2b3c4d",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), connect.ToAppend, func(c *connect.Client) error {
				ask := func(accept []string) (memory.Tidied, error) {
					return server.Notes.Tidy.Call(cmd.Context(), c.Conn, server.TidyNotes{OfAgent: c.Of(), Accept: accept})
				}
				found, err := ask(accept)
				if err != nil {
					return err
				}
				if in, ok := a.stdin.(*os.File); len(accept) > 0 || a.JSON || !ok || !render.IsTerminal(in) {
					return a.Write(found, func(p *render.Page) { a.tellTidied(p, found) })
				}
				if accept = a.acceptedOf(found.Entries); len(accept) == 0 {
					a.Notice("nothing was changed")
					return nil
				}
				done, err := ask(accept)
				if err != nil {
					return err
				}
				done.Entries = nil
				return a.Write(done, func(p *render.Page) { a.tellTidied(p, done) })
			})
		},
	}
	cmd.Flags().StringSliceVar(&accept, "accept", nil, "`ids` of --json to be done, without a question")
	return cmd
}

// tellTidied writes proposals, and what was removed.
func (a *app) tellTidied(p *render.Page, t memory.Tidied) {
	for _, u := range t.Entries {
		showUntidy(p, u)
	}
	for _, id := range t.Revisions {
		a.Notice("kioku undo %s takes that back", id)
	}
	switch n := len(t.Entries); {
	case n > 0:
		a.Notice("%s; at a terminal kioku tidy asks for each, and --accept takes their ids of --json", render.Count(n, "proposal"))
	case len(t.Revisions) == 0:
		a.Notice("nothing is said twice or otherwise, and nothing is missing")
	}
}

// showUntidy writes a proposal as a difference.
func showUntidy(p *render.Page, u memory.Untidy) {
	switch u.Kind {
	case memory.UntidyDuplicate:
		p.Linef("%s:%d  says what line %d says", u.Path, u.Line, u.OtherLine)
	case memory.UntidyContradiction:
		p.Linef("%s:%d  line %d says otherwise", u.Path, u.Line, u.OtherLine)
	case memory.UntidyOutdated:
		p.Linef("%s:%d  %s:%d says otherwise", u.Path, u.Line, u.OtherPath, u.OtherLine)
	default:
		p.Linef("%s  lacks what %s:%d says", u.Path, u.OtherPath, u.OtherLine)
	}
	if u.Text != "" {
		p.Linef("  - %s", render.CleanLine(u.Text))
	}
	if u.OtherPath == "" {
		p.Linef("    %s", render.CleanLine(u.Other)) // it stays
	} else if u.Source == "" {
		p.Linef("  + %s", render.CleanLine(u.Other))
	} else {
		p.Linef("  + %s  (written by a model)", render.CleanLine(u.Other))
	}
}

// acceptedOf shows proposals one by one, and returns the ids of those that somebody accepts.
func (a *app) acceptedOf(entries []memory.Untidy) (ids []string) {
	in := bufio.NewReader(a.stdin)
	for _, u := range entries {
		_ = a.Write(u, func(p *render.Page) { showUntidy(p, u) })
		fmt.Fprint(a.Stderr, "Do that? [y/N/q] ")
		answer, _ := in.ReadString('\n') // the end of input means no
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			ids = append(ids, u.ID)
		case "q":
			return ids
		}
	}
	return ids
}

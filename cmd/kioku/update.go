package main

import (
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

func (a *app) updateCmd() *cobra.Command {
	req := memory.Update{Source: memory.NoteFromUser}
	cmd := &cobra.Command{
		Use: "update OLD NEW", Short: "Correct a text in MEMORY.md",
		Long: "Correct a text in MEMORY.md, in USER.md or in a file in memory/ that is not of a day. The old text occurs once in the file; an empty new " +
			"text removes it. The text before is kept, and kioku undo brings it back.",
		Example: "  kioku update \"Ines prefers tea\" \"Ines prefers coffee\" --reason \"she said so\"\n  kioku update \"The boiler is new.\" \"\"",
		Args:    cobra.ExactArgs(2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), connect.ToAppend, func(c *connect.Client) error {
				req.OldText, req.NewText = args[0], args[1]
				done, err := c.Update(cmd.Context(), req)
				if err != nil {
					return err
				}
				return a.Write(done, func(p *render.Page) {
					p.Linef("%s:%d", done.Path, done.StartLine)
					a.noticeSecrets(done.Secrets, "update the reference with --keep-secrets")
					a.Notice("kioku undo %s takes this back", done.Revision)
				})
			})
		},
	}
	cmd.Flags().StringVar(&req.Path, "file", "", "`path` of the file; MEMORY.md by default")
	completeFlag(cmd, "file", "MEMORY.md", "USER.md")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`, kept with the text before")
	cmd.Flags().BoolVar(&req.KeepSecrets, "keep-secrets", false, "write passwords and keys too")
	return cmd
}

func (a *app) undoCmd() *cobra.Command {
	list := false
	revisions := ask(a, &cobra.Command{}, a.to(connect.ToGet), server.Notes.Revisions, ofAgent, (*render.Page).Revisions)
	undo := ask(a, &cobra.Command{}, a.to(connect.ToAppend), server.Notes.Undo, func(c *connect.Client, args []string) (server.UndoUpdate, error) {
		return server.UndoUpdate{OfAgent: c.Of(), Revision: strings.Join(args, "")}, nil
	}, func(p *render.Page, done memory.Updated) {
		p.Linef("%s:%d", done.Path, done.StartLine)
		a.Notice("revision %s was taken back", done.Revision)
	})
	var writes writesFlags
	cmd := &cobra.Command{
		Use: "undo [REVISION]", Short: "Take back an update of MEMORY.md, or what an agent has written",
		Long: "Take back an update of MEMORY.md or another file: the latest, or the one with this revision. Changes of other lines since then stay. " +
			"Undoing is an update too, and can be undone by its revision.\n\n" +
			"With --session or --since, take back the notes that an agent has appended, and its updates since then. Notes that a " +
			"version of Kioku without a record of them has written, and notes that a person has edited since, are not taken back; edit them by hand.",
		Example: "  kioku undo --list\n  kioku undo\n  kioku undo --session 2026-11-20-1 --dry-run\n  kioku undo --since 2h --from flush,tool",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if writes.given(cmd) {
				if list || len(args) > 0 {
					return render.Misuse("give a revision, --list, or what to take back with --session and --since; not two of them")
				}
				return a.undoWrites(cmd.Context(), &writes)
			}
			if list {
				return revisions.RunE(cmd, args)
			}
			return undo.RunE(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the revisions, the latest first")
	writes.addFlags(cmd)
	return cmd
}

// ofAgent is the request that only names the agent.
func ofAgent(c *connect.Client, _ []string) (server.OfAgent, error) { return c.Of(), nil }

// noticeSecrets tells of secrets that were not written, and how to have them written.
func (a *app) noticeSecrets(secrets []memory.ReplacedSecret, how string) {
	for _, s := range secrets {
		a.Notice("a secret (%s) was left out: the note has %s; to keep it, %s", s.Kind, s.Reference, how)
	}
}

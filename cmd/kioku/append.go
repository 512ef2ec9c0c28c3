package main

import (
	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

func (a *app) appendCmd() *cobra.Command {
	note := memory.Note{Source: memory.NoteFromUser}
	cmd := &cobra.Command{
		Use: "append TEXT|-", Short: "Add a note to today's file or to MEMORY.md",
		Long:    "Add a note to today's file or to MEMORY.md; - reads it from standard input. Nothing is ever overwritten.",
		Example: "  kioku append \"Ines prefers mail\"\n  git log -1 | kioku append --category release -",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.argumentText(args)
			if err != nil {
				return err
			}
			note.Text = text
			conf, err := a.config()
			if err != nil {
				return err
			}
			if target := conf.Client.Target; target == memory.TargetDaily || target == memory.TargetLongTerm {
				return render.Misuse("client.target is %q, but must be the host:port of a daemon; the file for the note is named with --to %s", target, target)
			}
			return a.with(cmd.Context(), connect.ToAppend, func(c *connect.Client) error {
				done, err := c.Append(cmd.Context(), note)
				if err != nil {
					return err
				}
				return a.Write(done, func(p *render.Page) {
					p.Linef("%s:%d", done.Path, done.StartLine)
					if done.Deduplicated {
						a.Notice("the note already exists; nothing was written")
					}
					a.noticeSecrets(done.Secrets, "append it again with --keep-secrets")
					if s := done.Similar; s != nil {
						a.Notice("%s:%d says nearly the same: %s", s.Path, s.Line, s.Text)
					}
				})
			})
		},
	}
	cmd.Flags().StringVar(&note.Target, "to", memory.TargetDaily, "`file` for the note: daily or long_term")
	completeFlag(cmd, "to", memory.TargetDaily, memory.TargetLongTerm)
	cmd.Flags().StringVar(&note.Category, "category", "", "`word` for the heading of the note, or the heading in MEMORY.md under which it goes")
	cmd.Flags().BoolVar(&note.KeepSecrets, "keep-secrets", false, "write passwords and keys too")
	cmd.Flags().StringVar(&note.Key, "key", "", "`key` with which the note is written only once; another text under it is an error")
	return cmd
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxTextBytes is more than any note may have; the service knows the limit, this one keeps a stream from filling
// the memory.
const maxTextBytes = 1 << 20

func (a *app) appendCmd() *cobra.Command {
	req := &kiokuv1.MemoryAppendRequest{}
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
			req.Text = text
			return a.with(cmd.Context(), toAppend, func(c *client) error { return a.append(cmd.Context(), c, req) })
		},
	}
	cmd.Flags().StringVar(&req.Target, "target", memory.TargetDaily, "`where` it goes: daily or long_term")
	cmd.Flags().StringVar(&req.Category, "category", "", "`word` for the heading of the note")
	cmd.Flags().StringVar(&req.IdempotencyKey, "key", "", "`key` under which the note is written once only")
	return cmd
}

// argumentText is the text of the arguments, or of standard input.
func (a *app) argumentText(args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxTextBytes))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if !utf8.Valid(text) {
		return "", misuse("standard input is not valid UTF-8")
	}
	return string(text), nil
}

func (a *app) append(ctx context.Context, c *client, req *kiokuv1.MemoryAppendRequest) error {
	req.Agent, req.Source = c.agent, memory.NoteFromUser
	resp, err := c.MemoryAppend(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeProto(resp)
	}
	p := a.page()
	p.linef("%s:%d", resp.GetPath(), resp.GetStartLine())
	if resp.GetDeduplicated() {
		a.notice("it was there already; nothing was written")
	}
	return a.show(p)
}

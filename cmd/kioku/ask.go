package main

import (
	"context"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/server/op"
)

// withMemory runs f with a memory.
type withMemory func(ctx context.Context, f func(*connect.Client) error) error

// to connects to the memory of the command for a need.
func (a *app) to(n connect.Need) withMemory {
	return func(ctx context.Context, f func(*connect.Client) error) error { return a.with(ctx, n, f) }
}

// fresh connects to the memory of the command for a search, and brings its index up to date.
func (a *app) fresh(ctx context.Context, f func(*connect.Client) error) error {
	return a.with(ctx, connect.ToSearch, func(c *connect.Client) error {
		if err := c.Freshen(ctx); err != nil {
			return err
		}
		return f(c)
	})
}

// ask makes a command call one operation on a memory and show what it answers.
func ask[In, Out any](a *app, cmd *cobra.Command, with withMemory, o op.Op[In, Out], request func(c *connect.Client, args []string) (In, error), show func(*render.Page, Out)) *cobra.Command {
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return with(cmd.Context(), func(c *connect.Client) error {
			req, err := request(c, args)
			if err != nil {
				return err
			}
			out, err := o.Call(cmd.Context(), c.Conn, req)
			if err != nil {
				return err
			}
			return a.Write(out, func(p *render.Page) { show(p, out) })
		})
	}
	return cmd
}

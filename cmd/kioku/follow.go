package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
	"kioku/server/op"
)

// followStatus writes the status, and then what happens to the index, until ctx ends. The daemon that keeps the index in sync sends the
// events; while none runs, the command waits for one. As JSON there is an object for each event.
func (a *app) followStatus(ctx context.Context) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	waits := func() { a.Notice("no daemon serves the memory; waiting for one: kioku serve starts it") }
	err = k.WithDaemon(ctx, connect.ToSearch, waits, func(c *connect.Client) error {
		if !a.JSON {
			if err := a.status(ctx, c, false); err != nil {
				return err
			}
		}
		return a.follow(ctx, c)
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// follow writes events until ctx ends. It connects again to a daemon that has ended, and to one that found it too slow.
func (a *app) follow(ctx context.Context, c *connect.Client) error {
	for again := false; ; again = true {
		err := a.followOnce(ctx, c, again)
		switch {
		case ctx.Err() != nil:
			return nil
		case !mayComeBack(err):
			return err
		}
		a.Notice("%s; waiting for the daemon", render.Message(err))
		if err := c.Reconnect(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// mayComeBack reports whether a call that ended with err may succeed with the next daemon, or at another time.
func mayComeBack(err error) bool {
	said, answered := errors.AsType[*op.Error](err)
	return errors.Is(err, errServiceEnded) || errors.Is(err, memory.ErrUnreachable) ||
		answered && slices.Contains([]string{"UNAVAILABLE", "ABORTED", "RESOURCE_EXHAUSTED"}, said.Code)
}

// errServiceEnded: the stream of events has ended without an error.
var errServiceEnded = errors.New("the service ended")

// followOnce writes events until the stream ends. If it is not the first stream, it says when it follows events again.
func (a *app) followOnce(ctx context.Context, c *connect.Client, again bool) error {
	events, err := server.Notes.Events.Open(ctx, c.Conn, c.Of())
	if err != nil {
		return err
	}
	if again {
		a.Notice("connected again; what happened meanwhile is not shown")
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := a.writeEvent(e); err != nil {
			return err
		}
	}
	return errServiceEnded
}

func (a *app) writeEvent(e kioku.Event) error {
	if a.JSON {
		return a.WriteJSON(e, "")
	}
	var parts []string
	for _, part := range []string{e.Path, e.Text} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Chunks > 0 {
		parts = append(parts, render.Count(e.Chunks, "passage"))
	}
	line := fmt.Sprintf("%-16s %s", e.Kind, strings.Join(parts, ", "))
	return a.Show(func(p *render.Page) {
		p.Linef("%s %s", render.Dim(e.Time.Local().Format(time.TimeOnly)), render.CleanLine(line))
	})
}

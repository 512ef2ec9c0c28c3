package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) watchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Follow what happens to the index",
		Long: "Follow what happens to the index, a line for each event, until it is interrupted; with --json an object on each line. If a\n" +
			"daemon answers and ends, the command waits for the next one. If no daemon runs, it keeps the index in sync itself.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), connect.ToWrite, func(c *connect.Client) error { return a.watch(cmd.Context(), c) })
		},
	}
}

// watch writes events until ctx ends. It connects again to a daemon that has ended, and to one that found it too slow.
func (a *app) watch(ctx context.Context, c *connect.Client) error {
	for again := false; ; again = true {
		err := a.watchOnce(ctx, c, again)
		switch {
		case ctx.Err() != nil:
			return nil
		case c.Memory != nil || !mayComeBack(err):
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
	return errors.Is(err, errServiceEnded) || slices.Contains([]codes.Code{codes.Unavailable, codes.Aborted, codes.ResourceExhausted}, status.Code(err))
}

// watchOnce writes events until the stream ends. If it is not the first stream, it says when it follows events again.
func (a *app) watchOnce(ctx context.Context, c *connect.Client, again bool) error {
	group, watching := errgroup.WithContext(ctx)
	events, err := c.WatchEvents(watching, &kiokuv1.WatchEventsRequest{Agent: c.Agent})
	if err != nil {
		return err
	}
	// Once the header arrives, no event is missed.
	if _, err := events.Header(); err != nil {
		return err
	}
	if again {
		a.Notice("connected again; what happened meanwhile is not shown")
	}
	if c.Memory != nil {
		group.Go(func() error { return c.Memory.Watch(watching) })
	}
	group.Go(func() error { return a.writeEvents(events) })
	return group.Wait()
}

// errServiceEnded: the stream of events has ended without an error.
var errServiceEnded = errors.New("the service ended")

func (a *app) writeEvents(events grpc.ServerStreamingClient[kiokuv1.WatchEventsResponse]) error {
	for {
		message, err := events.Recv()
		if errors.Is(err, io.EOF) {
			return errServiceEnded
		}
		if err != nil {
			return err
		}
		if err := a.writeEvent(message.GetEvent()); err != nil {
			return err
		}
	}
}

func (a *app) writeEvent(e *kiokuv1.Event) error {
	if a.JSON {
		return a.WriteJSON(e, "")
	}
	var parts []string
	for _, part := range []string{e.GetPath(), e.GetText()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.GetChunkCount() > 0 {
		parts = append(parts, render.Count(e.GetChunkCount(), "chunk"))
	}
	line := fmt.Sprintf("%-16s %s", e.GetKind(), strings.Join(parts, ", "))
	return a.Show(func(p *render.Page) {
		p.Linef("%s %s", render.Dim(e.GetEventTime().AsTime().Local().Format(time.TimeOnly)), render.CleanLine(line))
	})
}

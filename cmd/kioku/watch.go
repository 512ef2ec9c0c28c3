package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) watchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Follow what happens to the index",
		Long: "Follow what happens to the index, a line for each event, until it is interrupted. If no daemon runs, this command\n" +
			"keeps the index in sync itself.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), connect.ToWrite, func(c *connect.Client) error { return a.watch(cmd.Context(), c) })
		},
	}
}

func (a *app) watch(ctx context.Context, c *connect.Client) error {
	group, watching := errgroup.WithContext(ctx)
	events, err := c.WatchEvents(watching, &kiokuv1.WatchEventsRequest{Agent: c.Agent})
	if err != nil {
		return err
	}
	// Once the header arrives, no event is missed.
	if _, err := events.Header(); err != nil {
		return err
	}
	if c.Memory != nil {
		group.Go(func() error { return c.Memory.Watch(watching) })
	}
	group.Go(func() error { return a.writeEvents(events) })
	if err := group.Wait(); ctx.Err() == nil {
		return err
	}
	return nil
}

func (a *app) writeEvents(events grpc.ServerStreamingClient[kiokuv1.WatchEventsResponse]) error {
	for {
		message, err := events.Recv()
		if errors.Is(err, io.EOF) {
			return errors.New("the service ended")
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

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) watchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Follow what happens to the index",
		Long: "Follow what happens to the index, a line for each event, until it is interrupted. Where no daemon runs, this command\n" +
			"keeps the index in step itself.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), toWrite, func(c *client) error { return a.watch(cmd.Context(), c) })
		},
	}
}

func (a *app) watch(ctx context.Context, c *client) error {
	group, watching := errgroup.WithContext(ctx)
	events, err := c.WatchEvents(watching, &kiokuv1.WatchEventsRequest{Agent: c.agent})
	if err != nil {
		return err
	}
	// The header tells that from now on no event is missed.
	if _, err := events.Header(); err != nil {
		return err
	}
	if c.memory != nil {
		group.Go(func() error { return c.memory.Watch(watching) })
	}
	group.Go(func() error { return a.writeEvents(events) })
	if err := group.Wait(); ctx.Err() == nil {
		return err
	}
	return nil
}

func (a *app) writeEvents(events grpc.ServerStreamingClient[kiokuv1.Event]) error {
	for {
		e, err := events.Recv()
		if errors.Is(err, io.EOF) {
			return errors.New("the service ended")
		}
		if err != nil {
			return err
		}
		if err := a.writeEvent(e); err != nil {
			return err
		}
	}
}

func (a *app) writeEvent(e *kiokuv1.Event) error {
	if a.json {
		return a.writeProtoLine(e)
	}
	p := a.page()
	line := fmt.Sprintf("%-16s", e.GetKind())
	if e.GetPath() != "" {
		line += " " + e.GetPath()
	}
	if e.GetChunks() > 0 {
		line += ", " + count(e.GetChunks(), "chunk")
	}
	if e.GetText() != "" {
		line += ": " + e.GetText()
	}
	p.linef("%s %s", dim(e.GetTime().AsTime().Local().Format(time.TimeOnly)), oneLine(line))
	return a.show(p)
}

package main

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/councilhost"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// ordersWait is how long a turn waits for what a council tells its agent.
const ordersWait = 2 * time.Second

// councilOrders returns what a council tells an agent now.
type councilOrders func(ctx context.Context, agent string) (sidecar.Orders, error)

// ordersFrom asks the council of a service. One that serves none, or that does not let the caller obey for the agent, tells nothing.
func ordersFrom(c kiokuv1.CouncilServiceClient) councilOrders {
	nobody := []codes.Code{codes.Unimplemented, codes.PermissionDenied, codes.Unauthenticated, codes.NotFound}
	return func(ctx context.Context, agent string) (sidecar.Orders, error) {
		ctx, cancel := context.WithTimeout(ctx, ordersWait)
		defer cancel()
		resp, err := c.ObeyCommands(ctx, &kiokuv1.ObeyCommandsRequest{Worker: agent})
		if slices.Contains(nobody, status.Code(err)) {
			return sidecar.Orders{}, nil
		}
		w := resp.GetWorker()
		o := sidecar.Orders{Reason: w.GetReason()}
		if t := w.GetPausedUntilTime(); t != nil {
			o.PausedUntil = t.AsTime()
		}
		for _, d := range w.GetDirectives() {
			o.Directives = append(o.Directives, d.GetText())
		}
		return o, err
	}
}

// orders returns what the council says that council.folder names, by its files, else the council of the daemon; nil if there is neither.
// end releases it.
func (a *app) orders(conf *config.Config, k *connect.Connector) (orders councilOrders, end func() error, err error) {
	end = func() error { return nil }
	if folder := conf.Council.Folder; folder != "" && conf.Client.Target == "" {
		return a.ordersOfFolder(conf, folder)
	}
	conn, err := k.DialDaemon()
	if conn == nil || err != nil {
		return nil, end, err
	}
	return ordersFrom(kiokuv1.NewCouncilServiceClient(conn.Conn())), conn.Close, nil
}

// ordersOfFolder reads what the council of a folder says.
func (a *app) ordersOfFolder(conf *config.Config, folder string) (councilOrders, func() error, error) {
	set, err := councilhost.Load(folder)
	if err != nil {
		return nil, nil, conf.Wrong("council.folder", err.Error())
	}
	log := slog.New(&render.Lines{Out: &a.Output, Level: connect.QuietLevel(conf)})
	host, err := councilhost.Read(councilhost.Options{Folder: folder, Settings: set, Conf: conf, Now: connect.ClockOf(conf), Log: log})
	if err != nil {
		return nil, nil, err
	}
	srv, err := server.New(server.Options{Council: &server.CouncilOptions{Council: host, Folder: folder, Idle: true}, Log: log})
	if err != nil {
		return nil, nil, err
	}
	return ordersFrom(srv.LocalCouncil()), host.Close, nil
}

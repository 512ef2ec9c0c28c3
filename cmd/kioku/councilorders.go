package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/councilhost"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

// ordersWait is how long a turn waits for what a council tells its agent.
const ordersWait = 2 * time.Second

// councilOrders returns what a council tells an agent now.
type councilOrders func(ctx context.Context, agent string) (sidecar.Orders, error)

// ordersFrom asks the council of a service. One that serves none, or that does not let the caller obey for the agent, tells nothing.
func ordersFrom(conn http.RoundTripper) councilOrders {
	return func(ctx context.Context, agent string) (sidecar.Orders, error) {
		ctx, cancel := context.WithTimeout(ctx, ordersWait)
		defer cancel()
		w, err := ops.Obey.Call(ctx, conn, server.WorkerName{Worker: agent})
		if errors.Is(err, memory.ErrDenied) || errors.Is(err, memory.ErrNotFound) || isWithoutCouncil(err) {
			return sidecar.Orders{}, nil
		}
		o := sidecar.Orders{Reason: w.Reason, PausedUntil: w.PausedUntil}
		for _, d := range w.Directives {
			o.Directives = append(o.Directives, d.Text)
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
	return ordersFrom(conn.Conn), conn.Close, nil
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
	srv, err := server.New(server.Options{Council: &server.CouncilOptions{Council: host.Engine, Folder: folder, Idle: true}, Log: log})
	if err != nil {
		return nil, nil, err
	}
	return ordersFrom(srv.LocalOperations()), host.Close, nil
}

package host

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/memory"
	"kioku/server"
	"kioku/server/op"
)

// ordersWait is how long a turn waits for what a council tells its agent.
const ordersWait = 2 * time.Second

// Orders tells what a council tells an agent now; with look, the agent acknowledges nothing.
type Orders func(ctx context.Context, agent string, look bool) (sidecar.Orders, error)

// OrdersFrom asks the council of a service. One that serves none, or that does not let the caller obey for the agent, tells nothing.
func OrdersFrom(conn http.RoundTripper) Orders {
	return func(ctx context.Context, agent string, look bool) (sidecar.Orders, error) {
		ctx, cancel := context.WithTimeout(ctx, ordersWait)
		defer cancel()
		w, err := server.Council.Obey.Call(ctx, conn, server.Obedience{WorkerName: server.WorkerName{Worker: agent}, Look: look})
		_, unknown := errors.AsType[*memory.InputError](err) // an agent that is none of the council's
		if unknown || errors.Is(err, memory.ErrDenied) || errors.Is(err, memory.ErrNotFound) || IsWithoutCouncil(err) {
			return sidecar.Orders{}, nil
		}
		o := sidecar.Orders{Reason: w.Reason, PausedUntil: w.PausedUntil}
		for _, d := range w.Directives {
			o.Directives = append(o.Directives, d.Text)
		}
		return o, err
	}
}

// OrdersOf reads what the council of a folder says. end releases it.
func OrdersOf(conf *config.Config, folder string, log *slog.Logger) (orders Orders, end func() error, err error) {
	set, err := LoadCouncil(folder)
	if err != nil {
		return nil, nil, conf.Wrong("council.folder", err.Error())
	}
	c, err := ReadCouncil(CouncilOptions{Folder: folder, Settings: set, Conf: conf, Now: ClockOf(conf), Log: log})
	if err != nil {
		return nil, nil, err
	}
	srv, err := server.New(server.Options{Council: &server.CouncilOptions{Council: c.Engine, Folder: folder, Idle: true}, Log: log})
	if err != nil {
		return nil, nil, err
	}
	return OrdersFrom(srv.LocalOperations()), c.Close, nil
}

// IsWithoutCouncil reports whether an error says that a service has no council.
func IsWithoutCouncil(err error) bool {
	said, ok := errors.AsType[*op.Error](err)
	return ok && said.Code == "UNIMPLEMENTED"
}

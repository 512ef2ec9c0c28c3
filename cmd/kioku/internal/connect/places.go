package connect

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/host"
	"kioku/memory"
)

// WithPlaces connects to the memories of agents, keeps their indexes in sync while f runs, and closes them. f is told how to get the
// memory of an agent; that of an agent without a place returns errors.
func (k *Connector) WithPlaces(ctx context.Context, places []config.Place, f func(ctx context.Context, of func(agent string) memory.Service) error) (err error) {
	clients := map[string]*Client{}
	defer func() {
		for agent, c := range clients {
			if failed := c.close(); failed != nil {
				err = errors.Join(err, fmt.Errorf("close the index of agent %s: %w", agent, failed))
			}
		}
	}()
	for _, p := range places {
		c, err := k.connect(ctx, wanted{p, true}, ToSearch)
		if err != nil {
			return fmt.Errorf("the memory of agent %s: %w", p.Agent, err)
		}
		clients[p.Agent] = c
		if err := c.Freshen(ctx); err != nil {
			return err
		}
	}
	return watchAll(ctx, clients, func(ctx context.Context) error {
		return f(ctx, func(agent string) memory.Service {
			if c := clients[agent]; c != nil {
				return c
			}
			return host.MissingMemory(agent)
		})
	})
}

// watchAll runs f while it keeps the indexes of clients in sync.
func watchAll(ctx context.Context, clients map[string]*Client, f func(context.Context) error) error {
	watching, stop := context.WithCancel(ctx)
	group, watching := errgroup.WithContext(watching)
	for _, c := range clients {
		if c.Memory != nil && !c.ReadOnly {
			group.Go(func() error { return c.Memory.Watch(watching) })
		}
	}
	err := f(watching)
	stop()
	if failed := group.Wait(); failed != nil && !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, fmt.Errorf("watch the folders: %w", failed))
	}
	return err
}

// DialDaemon returns a client of the daemon of the settings, wherever it listens; nil if none does. The caller closes it.
func (k *Connector) DialDaemon() (*client.Client, error) {
	if target := k.Conf.Client.Target; target != "" {
		return Dial(k.Conf, target)
	}
	socket, err := SocketPath(k.Conf)
	if err != nil || k.NoDaemon || k.ReadOnly || listens(socket) != nil {
		return nil, nil // a command without a state folder has no daemon
	}
	return client.Dial("unix:"+socket, client.Options{})
}

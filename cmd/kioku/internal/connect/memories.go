package connect

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

// Memories are the memories that a command uses: that of its agent and the shared ones of other agents.
type Memories struct {
	// Own is the memory of the agent of the command.
	Own *Client
	// Place of the agent as far as it is known here. Its workspace is the folder of the memory.
	Place  config.Place
	beside map[string]memory.Service
	// others are the clients of beside, to be closed.
	others []*Client
}

// Of returns the memory of an agent. The memory of an agent to which the command has not connected returns errors.
func (m *Memories) Of(id string) memory.Service {
	if m.Own != nil && id == m.Own.Agent {
		return m.Own
	}
	if beside := m.beside[id]; beside != nil {
		return beside
	}
	return host.MissingMemory(id)
}

// WithMemories connects to the memory of the command's agent and to those of the shared agents, syncs their indexes, runs
// f, and closes them. It reports a shared memory that cannot be opened; searches of that memory fail.
func (k *Connector) WithMemories(ctx context.Context, n Need, shared []string, f func(*Memories) error) error {
	return k.With(ctx, n, func(own *Client) error {
		place, err := k.placeOf(own)
		if err != nil {
			return err
		}
		if err := own.Freshen(ctx); err != nil {
			return err
		}
		m := &Memories{Own: own, Place: place, beside: map[string]memory.Service{}}
		if err = k.addShared(ctx, m, n, shared); err == nil {
			err = f(m)
		}
		return errors.Join(err, m.closeOthers())
	})
}

// addShared connects to the memories of other agents.
func (k *Connector) addShared(ctx context.Context, m *Memories, n Need, agents []string) error {
	for _, id := range agents {
		if id == m.Own.Agent || m.beside[id] != nil {
			continue
		}
		c, memory, err := k.shared(ctx, id, n)
		if err != nil {
			return err
		}
		if m.beside[id] = memory; c != nil {
			m.others = append(m.others, c)
		}
	}
	return nil
}

// closeOthers closes the memories of other agents.
func (m *Memories) closeOthers() error {
	var errs []error
	for _, c := range m.others {
		if err := c.close(); err != nil {
			errs = append(errs, fmt.Errorf("close the index of agent %s: %w", c.Agent, err))
		}
	}
	return errors.Join(errs...)
}

// shared connects to the memory of another agent. If that fails, the client is nil and the memory returns why.
func (k *Connector) shared(ctx context.Context, id string, n Need) (*Client, memory.Service, error) {
	if err := config.CheckAgent(id); err != nil {
		return nil, nil, render.Misuse("%w", err)
	}
	w, err := k.of(id)
	if err != nil {
		return nil, nil, err
	}
	c, err := k.connect(ctx, w, n)
	if errors.Is(err, config.ErrNoWorkspace) {
		err = fmt.Errorf("the memory of agent %s: it has no workspace; set agents.%s.workspace", id, id)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		k.Out.Notice("%s", render.Message(err))
		return nil, host.Unreachable(err), nil
	}
	if err := c.Freshen(ctx); err != nil {
		return nil, nil, errors.Join(err, c.close())
	}
	return c, c, nil
}

// placeOf returns the place of a client's agent, with the folder of the memory, which a daemon may have chosen.
func (k *Connector) placeOf(c *Client) (config.Place, error) {
	w, err := k.of(c.Agent)
	w.place.Workspace = c.Workspace
	return w.place, err
}

// WithoutMemory is WithMemories for a command that neither searches nor writes: it opens no index.
func (k *Connector) WithoutMemory(ctx context.Context, f func(*Memories) error) error {
	w, err := k.here()
	if err != nil {
		return err
	}
	c, err := k.daemon(ctx, w, ToGet)
	if err != nil {
		return err
	}
	m := &Memories{Place: w.place}
	if c == nil && w.place.Workspace == "" {
		err = config.ErrNoWorkspace
	} else if c != nil {
		m.Place, err = k.placeOf(c)
		err = errors.Join(err, c.close())
	}
	if err != nil {
		return err
	}
	if m.Place.Workspace == "" {
		return fmt.Errorf("%w: the folder of agent %s is on another machine; kioku cluster status tells which", memory.ErrUnavailable, m.Place.Agent)
	}
	if _, err := os.Stat(m.Place.Workspace); err != nil {
		return fmt.Errorf("the workspace: %w", err)
	}
	return f(m)
}

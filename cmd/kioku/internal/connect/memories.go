package connect

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kioku/agent"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
)

// Memories are those that a command uses: its agent's own, and those that are searched beside it.
type Memories struct {
	Own *Client
	// Place is the agent's, as far as it is known here; its folder is the one that the memory is of.
	Place  config.Place
	beside map[string]sidecar.Memory
	// others are the clients of beside, which are closed with it.
	others []*Client
}

// Of returns the memory of an agent; one that the command has not connected to answers with an error.
func (m *Memories) Of(id string) sidecar.Memory {
	if m.Own != nil && id == m.Own.Agent {
		return m.Own.Remember()
	}
	if memory := m.beside[id]; memory != nil {
		return memory
	}
	return noMemory{fmt.Errorf("the memory of agent %s: %w", id, agent.ErrNotFound)}
}

// Remember returns the client that tools and sidecars use.
func (c *Client) Remember() *agent.Client { return agent.New(c, agent.Options{Agent: c.Agent}) }

// noMemory stands for a memory that cannot be reached.
type noMemory struct{ err error }

// Search returns why there is none.
func (n noMemory) Search(context.Context, agent.Query) (agent.Answer, error) {
	return agent.Answer{}, n.err
}

// Append returns why there is none.
func (n noMemory) Append(context.Context, agent.Note) (agent.Appended, error) {
	return agent.Appended{}, n.err
}

// WithMemories connects to the memory of the command's agent and to those of shared, brings their indexes in step, and
// closes what f leaves behind. A shared one that cannot be opened is told of, and fails when it is searched.
func (k *Connector) WithMemories(ctx context.Context, n Need, shared []string, f func(*Memories) error) error {
	return k.With(ctx, n, func(own *Client) error {
		place, err := k.placeOf(own)
		if err != nil {
			return err
		}
		if err := own.Freshen(ctx); err != nil {
			return err
		}
		m := &Memories{Own: own, Place: place, beside: map[string]sidecar.Memory{}}
		if err = k.addShared(ctx, m, shared); err == nil {
			err = f(m)
		}
		return errors.Join(err, m.closeOthers())
	})
}

// addShared connects to the memories of other agents.
func (k *Connector) addShared(ctx context.Context, m *Memories, agents []string) error {
	for _, id := range agents {
		if id == m.Own.Agent || m.beside[id] != nil {
			continue
		}
		c, memory, err := k.shared(ctx, id)
		if err != nil {
			return err
		}
		if m.beside[id] = memory; c != nil {
			m.others = append(m.others, c)
		}
	}
	return nil
}

// closeOthers closes all memories but the own one.
func (m *Memories) closeOthers() error {
	var errs []error
	for _, c := range m.others {
		if err := c.close(); err != nil {
			errs = append(errs, fmt.Errorf("close the index of agent %s: %w", c.Agent, err))
		}
	}
	return errors.Join(errs...)
}

// shared connects to the memory of another agent. The client is nil where there is none, and the memory says why.
func (k *Connector) shared(ctx context.Context, id string) (*Client, sidecar.Memory, error) {
	if err := config.CheckAgent(id); err != nil {
		return nil, nil, render.Misuse("%w", err)
	}
	c, err := k.connectTo(ctx, id, ToRead)
	if errors.Is(err, config.ErrNoWorkspace) {
		err = fmt.Errorf("the memory of agent %s: no workspace is known of it; set agents.%s.workspace", id, id)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		k.Out.Notice("%s", render.Message(err))
		return nil, noMemory{err}, nil
	}
	if err := c.Freshen(ctx); err != nil {
		return nil, nil, errors.Join(err, c.close())
	}
	return c, c.Remember(), nil
}

// placeOf returns the place of a client's agent. The folder is the one that the memory is of, also where a daemon answers.
func (k *Connector) placeOf(c *Client) (config.Place, error) {
	place, err := k.Conf.Place(c.Agent)
	if err != nil && !errors.Is(err, config.ErrNoWorkspace) {
		return config.Place{}, err
	}
	place.Workspace = c.Workspace
	return place, nil
}

// WithoutMemory is withMemories for what searches nothing and writes nothing: no index is opened.
func (k *Connector) WithoutMemory(ctx context.Context, f func(*Memories) error) error {
	c, err := k.daemon(ctx, k.Conf.Agent)
	if err != nil {
		return err
	}
	m := &Memories{}
	if c == nil {
		m.Place, err = k.Conf.Place(k.Conf.Agent)
	} else {
		m.Place, err = k.placeOf(c)
		err = errors.Join(err, c.close())
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(m.Place.Workspace); err != nil {
		return fmt.Errorf("the workspace: %w", err)
	}
	return f(m)
}

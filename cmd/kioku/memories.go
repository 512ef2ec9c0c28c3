package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kioku/agent"
	"kioku/cmd/kioku/config"
	"kioku/memory"
)

// memories are those that a command uses: its agent's own, and those that are searched beside it.
type memories struct {
	own *client
	// place is the agent's, as far as it is known here; its folder is the one that the memory is of.
	place  config.Place
	beside map[string]agent.Memory
	// others are the clients of beside, which are closed with it.
	others []*client
}

// of returns the memory of an agent; one that the command has not connected to answers with an error.
func (m *memories) of(id string) agent.Memory {
	if m.own != nil && id == m.own.agent {
		return m.own.remember()
	}
	if memory := m.beside[id]; memory != nil {
		return memory
	}
	return missingMemory(id)
}

// remember returns the memory that tools and sidecars use.
func (c *client) remember() agent.Memory {
	if c.memory != nil {
		return c.memory
	}
	return c.remote
}

// noMemory stands for a memory that cannot be reached.
type noMemory struct{ err error }

// missingMemory is the memory of an agent that nothing is known of.
func missingMemory(id string) agent.Memory {
	return noMemory{fmt.Errorf("the memory of agent %s: %w", id, memory.ErrNoAgent)}
}

// Search returns why there is none.
func (n noMemory) Search(context.Context, memory.Query) (memory.Answer, error) {
	return memory.Answer{}, n.err
}

// Get returns why there is none.
func (n noMemory) Get(context.Context, memory.GetRequest) (memory.Excerpt, error) {
	return memory.Excerpt{}, n.err
}

// Append returns why there is none.
func (n noMemory) Append(context.Context, memory.Note) (memory.Appended, error) {
	return memory.Appended{}, n.err
}

// withMemories connects to the memory of the command's agent and to those of shared, brings their indexes in step, and
// closes what f leaves behind. A shared one that cannot be opened is told of, and fails when it is searched.
func (a *app) withMemories(ctx context.Context, n need, shared []string, f func(*memories) error) error {
	return a.with(ctx, n, func(own *client) error {
		place, err := a.placeOf(own)
		if err != nil {
			return err
		}
		if err := a.freshen(ctx, own); err != nil {
			return err
		}
		m := &memories{own: own, place: place, beside: map[string]agent.Memory{}}
		if err = a.addShared(ctx, m, shared); err == nil {
			err = f(m)
		}
		return errors.Join(err, m.closeOthers())
	})
}

// addShared connects to the memories of other agents.
func (a *app) addShared(ctx context.Context, m *memories, agents []string) error {
	for _, id := range agents {
		if id == m.own.agent || m.beside[id] != nil {
			continue
		}
		c, memory, err := a.shared(ctx, id)
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
func (m *memories) closeOthers() error {
	var errs []error
	for _, c := range m.others {
		if err := c.close(); err != nil {
			errs = append(errs, fmt.Errorf("close the index of agent %s: %w", c.agent, err))
		}
	}
	return errors.Join(errs...)
}

// shared connects to the memory of another agent. The client is nil where there is none, and the memory says why.
func (a *app) shared(ctx context.Context, id string) (*client, agent.Memory, error) {
	if err := config.CheckAgent(id); err != nil {
		return nil, nil, misuse("%w", err)
	}
	conf, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	c, err := a.connectTo(ctx, conf, id, toRead)
	if errors.Is(err, config.ErrNoWorkspace) {
		err = fmt.Errorf("the memory of agent %s: no workspace is known of it; set agents.%s.workspace", id, id)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		a.notice("%s", message(err))
		return nil, noMemory{err}, nil
	}
	if err := a.freshen(ctx, c); err != nil {
		return nil, nil, errors.Join(err, c.close())
	}
	return c, c.remember(), nil
}

// placeOf returns the place of a client's agent. The folder is the one that the memory is of, also where a daemon answers.
func (a *app) placeOf(c *client) (config.Place, error) {
	conf, err := a.config()
	if err != nil {
		return config.Place{}, err
	}
	place, err := conf.Place(c.agent)
	if err != nil && !errors.Is(err, config.ErrNoWorkspace) {
		return config.Place{}, err
	}
	place.Workspace = c.workspace
	return place, nil
}

// withoutMemory is withMemories for what searches nothing and writes nothing: no index is opened.
func (a *app) withoutMemory(ctx context.Context, f func(*memories) error) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	c, err := a.daemon(ctx, conf, conf.Agent)
	if err != nil {
		return err
	}
	m := &memories{}
	if c == nil {
		m.place, err = conf.Place(conf.Agent)
	} else {
		m.place, err = a.placeOf(c)
		err = errors.Join(err, c.close())
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(m.place.Workspace); err != nil {
		return fmt.Errorf("the workspace: %w", err)
	}
	return f(m)
}

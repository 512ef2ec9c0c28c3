package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"kioku"
	"kioku/agent"
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// client talks to the service about one agent, whoever runs it.
type client struct {
	kiokuv1.MemoryServiceClient
	agent string
	// memory is nil where a daemon answers, and remote where none does.
	memory *kioku.Memory
	remote *agent.Client
	// workspace that the memory is of.
	workspace string
	// readOnly says that the index of memory is read as it stands; notes can be added where another process owns it.
	readOnly bool
	close    func() error
}

// need is what a command does to an index.
type need int

const (
	toRead need = iota
	// toAppend adds notes, which needs no index of one's own.
	toAppend
	toWrite
	// toTakeOver writes, and may take the index from another folder.
	toTakeOver
	// toWriteNow writes, and does not wait for another owner.
	toWriteNow
)

// lockWait bounds waiting for an index that another process owns.
const lockWait = 5 * time.Second

// connect returns a client of the daemon that serves the agent, else of this process, over an index that it opens. An
// index that another process owns can still be read, and notes be added.
func (a *app) connect(ctx context.Context, n need) (*client, error) {
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	return a.connectTo(ctx, conf, conf.Agent, n)
}

// connectTo is connect for any agent.
func (a *app) connectTo(ctx context.Context, conf *config.Config, agent string, n need) (*client, error) {
	c, err := a.daemon(ctx, conf, agent)
	if c != nil || err != nil {
		return c, err
	}
	place, err := conf.Place(agent)
	if err != nil {
		return nil, err
	}
	if a.readOnly {
		return a.open(ctx, conf, place, true)
	}
	if err := checkFolder(ctx, conf, place, n); err != nil {
		return nil, err
	}
	c, err = a.own(ctx, conf, place, n)
	if err == nil || n > toAppend || !readable(err) {
		return c, err
	}
	c, reading := a.open(ctx, conf, place, true)
	if reading != nil {
		return nil, err
	}
	if n == toRead {
		a.notice("%v; reading it as it stands", err)
	}
	return c, nil
}

// improve gives a client that reads the index of another process an own one, or the daemon, as soon as there is one.
func (a *app) improve(ctx context.Context, c *client) error {
	if !c.readOnly || a.readOnly {
		return nil
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	better, err := a.connectTo(ctx, conf, c.agent, toWriteNow)
	if errors.Is(err, memory.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	old := c.close
	*c = *better
	return old()
}

// own opens the index for writing, or returns a client of a daemon that has taken it meanwhile. Who has to write waits
// for another owner, at most lockWait, and all others until that of another can be read.
func (a *app) own(ctx context.Context, conf *config.Config, place config.Place, n need) (*client, error) {
	end := time.Now().Add(lockWait)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 160*time.Millisecond) {
		c, err := a.open(ctx, conf, place, false)
		if !errors.Is(err, memory.ErrLocked) {
			return c, err
		}
		// The owner may be a daemon that listens only now.
		if c, again := a.daemon(ctx, conf, place.Agent); c != nil || again != nil {
			return c, again
		}
		if n == toWriteNow {
			return nil, err
		}
		if n <= toAppend {
			// That fails only while the owner makes the index.
			if c, reading := a.open(ctx, conf, place, true); reading == nil {
				if n == toRead {
					a.notice("%v; reading it as it stands", err)
				}
				return c, nil
			}
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%w; wait for it, or end it and run kioku serve, which many commands may ask at once", err)
		}
		select {
		// Those who wait together do not come back together.
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// readable reports whether an index that could not be opened for writing may be read still: another process owns it, or
// this user may not write.
func readable(err error) bool {
	return errors.Is(err, memory.ErrLocked) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// open opens the memory in this process.
func (a *app) open(ctx context.Context, conf *config.Config, place config.Place, readOnly bool) (*client, error) {
	embedder, err := embed.New(conf.Embed)
	if err != nil {
		return nil, err
	}
	opt, err := engine(conf, place, embedder, slog.New(&lines{app: a, level: quietLevel(conf)}))
	if err != nil {
		return nil, err
	}
	switch {
	case a.readOnly:
		opt.Mode = kioku.ReadOnly
	case readOnly:
		opt.Mode = kioku.ReadIndex
	}
	memory, err := kioku.Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	srv, err := server.New(server.Options{
		Agents: map[string]server.Memory{place.Agent: memory}, Version: buildVersion(), Log: opt.Log,
	})
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	return &client{
		MemoryServiceClient: srv.Local(), agent: place.Agent, memory: memory, workspace: place.Workspace, readOnly: readOnly,
		close: memory.Close,
	}, nil
}

// quietLevel is the log level of a command: what people did not ask for stays away unless it is a warning.
func quietLevel(conf *config.Config) slog.Level {
	if conf.Explicit("logLevel") {
		return conf.LogLevel
	}
	return slog.LevelWarn
}

// sameFolder reports whether two paths are one folder.
func sameFolder(one, other string) bool {
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	if errA != nil || errB != nil {
		return filepath.Clean(one) == filepath.Clean(other)
	}
	return os.SameFile(a, b)
}

// with connects, and closes what f leaves behind.
func (a *app) with(ctx context.Context, n need, f func(*client) error) error {
	c, err := a.connect(ctx, n)
	if err != nil {
		return err
	}
	if err := f(c); err != nil {
		return errors.Join(err, c.close())
	}
	if err := c.close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	return nil
}

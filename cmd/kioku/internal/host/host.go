// Package host opens what one configuration names, once, and runs it: memories, what derives from them, what runs beside their agents, and a
// council.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/agent/sidecar"
	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/derive"
	"kioku/internal/trace"
	"kioku/memory"
	"kioku/server"
	"kioku/store/slab"
)

// closeWait is how long closing the indexes may take after the last call has ended.
const closeWait = 10 * time.Second

// Options say what a host opens, and for whom.
type Options struct {
	// Conf are the settings, without those of workspaces.
	Conf *config.Config
	// Places are the folders of the agents whose memories are opened, beside those of the council.
	Places []config.Place
	// Council is the one that the host runs; nil for none.
	Council *CouncilOptions
	// Mode is that of the memories.
	Mode kioku.Mode
	// Daemon is true for a process that keeps the indexes until it is stopped, as the settings of a service say. Socket is the one on which
	// the host will answer.
	Daemon bool
	Socket string
	// Elsewhere reaches the service that has the memories; then the host opens none.
	Elsewhere *client.Client
	// Dial reaches another node of a cluster, with a token.
	Dial func(target, token string) (*client.Client, error)
	// LockWait is how long the host waits for a process that has an index.
	LockWait time.Duration
	// Grace is how long running calls may continue.
	Grace time.Duration
	// Dir is the working directory, and Version that of this program.
	Dir, Version string
	// Out takes notices, and Log what goes wrong later.
	Out *render.Output
	Log *slog.Logger
}

// Host has memories open, and what belongs to them.
type Host struct {
	// Memories in the order of their places.
	Memories []*Memory
	// Council that the host runs; nil for none.
	Council *Council
	// Server answers operations on all of it.
	Server *server.Server

	opt       Options
	guard     server.TCPOptions
	observed  observation
	places    []config.Place
	sidecars  []*sidecar.Sidecar
	listeners []server.Listener
	manager   manager
	cluster   *cluster // nil for none
}

// Memory is one that a host has open.
type Memory struct {
	*kioku.Memory
	// Place of its agent.
	Place config.Place
	// Conf are the settings in force in its workspace.
	Conf *config.Config
	// Deriver derives from it; nil if derivation is off.
	Deriver *derive.Service
	// served is the memory as callers have it: what was derived is found too, and searches are counted.
	served server.Memory
	// follow counts how long edits take until they are found; nil if nobody counts.
	follow func(context.Context) error
}

// Open opens memories and a council. It returns a *kioku.LockedError if another process keeps an index longer than LockWait.
func Open(ctx context.Context, opt Options) (_ *Host, err error) {
	h := &Host{opt: opt}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if opt.Daemon {
		if h.guard, err = openGuard(opt.Conf, opt.Log); err != nil {
			return nil, err
		}
		if h.observed, err = openObservation(ctx, opt.Conf, opt.Version, opt.Log); err != nil {
			return nil, err
		}
	}
	h.places = slices.Concat(opt.Places, opt.Council.Places())
	if opt.Elsewhere != nil {
		return h, h.newServer()
	}
	shared, err := h.shared()
	if err != nil {
		return nil, err
	}
	for _, p := range h.places {
		m, err := h.openMemory(ctx, p, shared, false, "")
		if err != nil {
			return nil, err
		}
		h.Memories = append(h.Memories, m)
	}
	if err := h.joinCluster(ctx, shared); err != nil {
		return nil, err
	}
	return h, h.newServer()
}

// shared is what the memories of a process share.
type shared struct {
	mu        sync.Mutex // held while one of the next two is used: memories of other nodes are opened at any time
	embedders Embedders
	derivers  derivers
	engine    kioku.Options
}

// shared makes what the memories share.
func (h *Host) shared() (*shared, error) {
	opt := h.opt
	s := &shared{derivers: derivers{tell: func(text string) { opt.Out.Notice("%s", text) }}}
	searches := server.NewSearches(server.Limits{})
	if m := h.observed.metrics; m != nil {
		s.embedders.Tried, s.embedders.QueryLooked = m.Tried, m.QueryLooked
		s.derivers.counted, searches.Waited = m.Model, m.SearchWaited
	}
	s.engine.Vectors = slab.NewBudget(opt.Conf.MemoryBudget)
	if opt.Daemon {
		s.engine.Vectors.Changed = paceCollector
	}
	s.engine.LockWait, s.engine.Daemon, s.engine.Socket = opt.LockWait, opt.Daemon, opt.Socket
	s.engine.Search.Admit = searches.Admit
	var err error
	s.engine.Search.Reranker, err = reranker(opt.Conf)
	return s, err
}

// openMemory opens the memory of a place. That of a replica has its vectors from elsewhere, and its state in a folder of its own if state names one.
func (h *Host) openMemory(ctx context.Context, p config.Place, s *shared, replica bool, state string) (*Memory, error) {
	base, err := h.opt.Council.ConfFor(h.opt.Conf, p.Agent)
	if err != nil {
		return nil, err
	}
	m := &Memory{Place: p}
	if m.Conf, err = base.ForFolder(p.Workspace); err != nil {
		return nil, err
	}
	h.opt.Out.TellNew(m.Conf.Notices, h.opt.Conf.Notices)
	s.mu.Lock()
	embedder, err := s.embedders.Of(m.Conf)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	opt, err := Engine(ctx, m.Conf, p, embedder, h.opt.Log)
	if err != nil {
		return nil, err
	}
	opt.Mode, opt.Vectors, opt.LockWait, opt.Daemon, opt.Socket = h.opt.Mode, s.engine.Vectors, s.engine.LockWait, s.engine.Daemon, s.engine.Socket
	opt.GivenVectors, opt.StateDir = replica, cmp.Or(state, opt.StateDir)
	opt.Search.Admit, opt.Search.Reranker = s.engine.Search.Admit, s.engine.Search.Reranker
	if m.Memory, err = kioku.Open(ctx, opt); err != nil {
		return nil, fmt.Errorf("agent %s: %w", p.Agent, err)
	}
	s.mu.Lock()
	m.Deriver, err = s.derivers.of(m.Conf, p, m.Memory, h.opt.Log)
	s.mu.Unlock()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("agent %s: %w", p.Agent, err), m.Close())
	}
	m.served = recallingFrom(m.Conf, m.Memory, m.Deriver)
	switch counts := h.observed.metrics; {
	case counts == nil:
	case replica:
		m.served = counts.Elsewhere(m.served)
	default:
		counted := counts.Agent(p.Agent, m.served)
		m.served, m.follow = counted, counted.Follow
		if m.Deriver != nil {
			counts.Derive(p.Agent, m.Deriver)
		}
	}
	return m, nil
}

// newServer opens the council, and makes the server of the memories and of it.
func (h *Host) newServer() (err error) {
	conf := h.opt.Conf
	if len(h.Memories) == 1 {
		conf = h.Memories[0].Conf
	}
	opt := server.Options{
		Agents: map[string]server.Memory{}, Derivers: map[string]server.Deriver{}, Network: conf.Network, Location: conf.Location,
		Tokens: h.guard.Tokens, Version: h.opt.Version, Grace: h.opt.Grace, Hosts: conf.Hosts, Origins: conf.Origins, Log: h.opt.Log,
	}
	if h.opt.Elsewhere != nil {
		opt.Memory = h.opt.Elsewhere.Conn
	}
	for _, m := range h.Memories {
		opt.Agents[m.Agent()] = m.served
		if m.Deriver != nil {
			opt.Derivers[m.Agent()] = m.Deriver
		}
	}
	if c := h.opt.Council; c != nil {
		c.Memory = h.MemoryOf
		if h.Council, err = OpenCouncil(*c); err != nil {
			return err
		}
		opt.Council = &server.CouncilOptions{Council: h.Council.Engine, Folder: c.Folder}
		if m := h.observed.metrics; m != nil {
			m.Council(c.Settings.Agent, h.Council)
		}
	}
	if h.cluster != nil {
		opt.Cluster, opt.PeerSecret = h.cluster, h.cluster.node.Secret
	}
	h.observed.observe(&opt)
	h.Server, err = server.New(opt)
	return err
}

// Addr returns the address on TCP at which the host answers; nil if there is none.
func (h *Host) Addr() net.Addr {
	for _, l := range h.listeners {
		if l.Addr().Network() == "tcp" {
			return l.Addr()
		}
	}
	return nil
}

// MemoryOf returns the memory of an agent; of one that is not open, a memory that answers with an error.
func (h *Host) MemoryOf(id string) memory.Service {
	if h.opt.Elsewhere != nil {
		return h.opt.Elsewhere.For(id)
	}
	for _, m := range h.Memories {
		if m.Agent() == id {
			return m.served
		}
	}
	return MissingMemory(id)
}

// Run keeps the indexes in step with their folders, derives and runs the council until ctx ends. It reports what the indexes contain once
// all folders have been compared.
func (h *Host) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(trace.With(ctx, h.observed.tracer))
	var first sync.WaitGroup
	summaries := make([]string, len(h.Memories))
	for i, m := range h.Memories {
		first.Add(1)
		group.Go(func() error {
			summaries[i] = h.firstSync(ctx, m)
			first.Done()
			return m.Keep(ctx)
		})
		if m.follow != nil {
			group.Go(func() error { return m.follow(ctx) })
		}
	}
	group.Go(func() error {
		first.Wait()
		if ctx.Err() == nil {
			h.opt.Out.Notice("ready: %s", strings.Join(summaries, "; "))
			h.manager.status(strings.Join(summaries, "; "))
		}
		return nil
	})
	if h.Council != nil {
		group.Go(func() error { return h.Council.Run(ctx) })
	}
	if h.cluster != nil {
		group.Go(func() error { return h.cluster.run(ctx) })
	}
	return group.Wait()
}

// Keep keeps the index in step with the folder, and derives, until ctx ends.
func (m *Memory) Keep(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return m.Watch(ctx) })
	if m.Deriver != nil {
		group.Go(func() error { return deriving(ctx, m.Memory, m.Deriver) })
	}
	return group.Wait()
}

// firstSync syncs one index and returns a summary of what it contains.
func (h *Host) firstSync(ctx context.Context, m *Memory) string {
	report, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	if ctx.Err() != nil {
		return ""
	}
	if err != nil {
		h.opt.Log.Error("first sync", "agent", m.Agent(), "err", err)
		return m.Agent() + " not in sync"
	}
	if report.EmbedErr != nil {
		h.opt.Log.Warn("texts lack vectors", "agent", m.Agent(), "err", report.EmbedErr)
	}
	state, err := m.IndexStats(ctx)
	if err != nil {
		return m.Agent()
	}
	return fmt.Sprintf("%s %s, %s", m.Agent(), render.Count(state.Files, "file"), render.Count(state.Chunks, "passage"))
}

// Close closes the council and all indexes, and waits for at most closeWait.
func (h *Host) Close() error {
	done := make(chan error, 1)
	go func() {
		var errs []error
		if h.Council != nil {
			errs = append(errs, h.Council.Close())
		}
		if h.cluster != nil {
			h.cluster.close()
		}
		for _, m := range h.Memories {
			errs = append(errs, m.Close())
		}
		done <- errors.Join(errs...)
	}()
	select {
	case err := <-done:
		return errors.Join(err, h.observed.close())
	case <-time.After(closeWait):
		return errors.Join(fmt.Errorf("an index was not closed within %s", closeWait), h.observed.close())
	}
}

// MissingMemory returns the memory of an agent that has none here: it answers with an error.
func MissingMemory(id string) memory.Service {
	return Unreachable(fmt.Errorf("the memory of agent %s: %w", id, memory.ErrNoAgent))
}

// Unreachable returns a memory that answers with an error.
func Unreachable(err error) memory.Service { return unreachable{err} }

// unreachable replaces a memory that cannot be reached.
type unreachable struct{ err error }

// Search returns the error.
func (n unreachable) Search(context.Context, memory.Query) (memory.Answer, error) {
	return memory.Answer{}, n.err
}

// Get returns the error.
func (n unreachable) Get(context.Context, memory.GetRequest) (memory.Excerpt, error) {
	return memory.Excerpt{}, n.err
}

// Append returns the error.
func (n unreachable) Append(context.Context, memory.Note) (memory.Appended, error) {
	return memory.Appended{}, n.err
}

// Update returns the error.
func (n unreachable) Update(context.Context, memory.Update) (memory.Updated, error) {
	return memory.Updated{}, n.err
}

package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/pgstore"
	"kioku/server"
)

const (
	// leaseTime is how long nobody else may take an agent whose owner is not heard of. It is renewed three times as often.
	leaseTime = 30 * time.Second
	// replicaIdle is how long the memory of an agent of another node stays open after its last call.
	replicaIdle = 10 * time.Minute
	// pushTime is how long bringing the store in step with a folder may take, and pushBytes how much of it is sent at a time.
	pushTime, pushBytes = 5 * time.Minute, 8 << 20
	// lookTime is how long the store may take to say whether an agent has changed, and lookAgain how long nobody asks it after it has not.
	lookTime, lookAgain = time.Second, 3 * time.Second
	// awayFor is how long such a memory answers after the store was last reached.
	awayFor = 10 * time.Minute
)

// cluster shares the memories of a host with other nodes by a store in PostgreSQL, and has those of the agents of other nodes.
type cluster struct {
	store *pgstore.Store
	node  pgstore.Node
	dir   string // of the mirrors
	open  func(ctx context.Context, agent, workspace string) (*Memory, error)
	dial  func(target, token string) (*client.Client, error)
	now   func() time.Time
	log   *slog.Logger

	mu       sync.Mutex
	owned    map[string]*owned
	replicas map[string]*replica
}

// nodeName returns the name of the node that keeps its state in a folder.
func nodeName(state string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "node"
	}
	sum := sha256.Sum256([]byte(state))
	return host + "-" + hex.EncodeToString(sum[:4])
}

// Store is what a cluster keeps.
type Store = pgstore.Store

// OpenStore opens the databases that the settings name.
func OpenStore(ctx context.Context, conf *config.Config, log *slog.Logger) (*Store, error) {
	var addresses []string
	for address := range strings.SplitSeq(conf.Store, ",") {
		addresses = append(addresses, strings.TrimSpace(address))
	}
	return pgstore.Open(ctx, addresses, pgstore.Options{Log: log})
}

// joinCluster makes a daemon a node of the cluster that its settings name.
func (h *Host) joinCluster(ctx context.Context, s *shared) error {
	if !h.opt.Daemon || h.opt.Conf.Store == "" {
		return nil
	}
	store, err := OpenStore(ctx, h.opt.Conf, h.opt.Log)
	if err != nil {
		return err
	}
	state, err := h.opt.Conf.StateDir()
	if err != nil {
		store.Close()
		return err
	}
	h.cluster = &cluster{
		store: store, dir: filepath.Join(state, "cluster"), now: ClockOf(h.opt.Conf), log: h.opt.Log, owned: map[string]*owned{}, replicas: map[string]*replica{},
		node: pgstore.Node{Name: nodeName(state), Address: h.opt.Conf.NodeAddress, Secret: rand.Text(), Version: h.opt.Version},
		dial: h.opt.Dial,
		open: func(ctx context.Context, agent, workspace string) (*Memory, error) {
			return h.openMemory(ctx, config.Place{Agent: agent, Workspace: workspace}, s, true)
		},
	}
	for _, m := range h.Memories {
		h.cluster.share(m)
	}
	return nil
}

// listensAt says where this node listens, at which others reach it unless the settings say where.
func (c *cluster) listensAt(at net.Addr) {
	if c.node.Address != "" {
		return
	}
	c.node.Address = at.String()
	if host, port, err := net.SplitHostPort(c.node.Address); err == nil {
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			if name, err := os.Hostname(); err == nil {
				c.node.Address = net.JoinHostPort(name, port)
			}
		}
	}
}

// share makes the memory of a place one that the cluster shares.
func (c *cluster) share(m *Memory) {
	o := &owned{Memory: m.served, c: c, m: m, wake: make(chan struct{}, 1), sums: map[string]stampedSum{}}
	c.owned[m.Agent()] = o
	m.served = o
}

// run keeps the cluster and the host in step until ctx ends.
func (c *cluster) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, o := range c.owned {
		group.Go(func() error { return o.run(ctx) })
	}
	group.Go(func() error { // notices are hints: what is missed is seen at the next look
		for ctx.Err() == nil {
			if err := c.store.Listen(ctx, c.changed); ctx.Err() == nil {
				c.log.Warn("cannot listen to the store", "err", err)
				wait(ctx, time.Second)
			}
		}
		return ctx.Err()
	})
	group.Go(func() error {
		for ctx.Err() == nil {
			if err := c.store.Join(ctx, c.node); err != nil && ctx.Err() == nil {
				c.log.Warn("the store does not know this node", "err", err)
			}
			c.closeIdle()
			wait(ctx, leaseTime/3)
		}
		return ctx.Err()
	})
	return group.Wait()
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// changed wakes the owner of an agent that somebody has changed.
func (c *cluster) changed(agent string) {
	if o := c.owned[agent]; o != nil {
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
}

// Agents implements server.Cluster.
func (c *cluster) Agents(ctx context.Context) (names []string, err error) {
	all, err := c.store.Agents(ctx)
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names, err
}

// Memory implements server.Cluster: it returns the memory of an agent of another node, as the store has it now.
func (c *cluster) Memory(ctx context.Context, agent string) (server.Memory, server.Deriver, error) {
	c.mu.Lock()
	r := c.replicas[agent]
	if r == nil {
		r = &replica{c: c, agent: agent}
		c.replicas[agent] = r
	}
	r.used = c.now()
	c.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.follow(ctx); err != nil {
		return nil, nil, err
	}
	return r, nil, nil
}

// closeIdle closes replicas that nobody uses.
func (c *cluster) closeIdle() {
	c.mu.Lock()
	var idle []*replica
	for agent, r := range c.replicas {
		if c.now().Sub(r.used) > replicaIdle {
			idle = append(idle, r)
			delete(c.replicas, agent)
		}
	}
	c.mu.Unlock()
	for _, r := range idle {
		r.close()
	}
}

// close closes what the cluster has open.
func (c *cluster) close() {
	c.mu.Lock()
	replicas := slices.Collect(maps.Values(c.replicas))
	c.mu.Unlock()
	for _, r := range replicas {
		r.close()
	}
	ctx, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	_ = c.store.Leave(ctx, c.node.Name) // else it is forgotten after a day
	c.store.Close()
}

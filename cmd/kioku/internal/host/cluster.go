package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/internal/files"
	"kioku/memory"
	"kioku/pgstore"
	"kioku/server"
)

const (
	// leaseTime is how long nobody else may take an agent whose owner is not heard of. It is renewed three times as often.
	leaseTime = 30 * time.Second
	// replicaIdle is how long the memory of an agent of another node stays open after its last call, and crowdIdle how long if more than crowd of them
	// are open: each takes a dozen MB and as many files, and opening one again some ms.
	replicaIdle, crowdIdle, crowd = 10 * time.Minute, 20 * time.Second, 50
	// mirrorAge is how long the memory of an agent of another node stays on disk after it was last opened or written to.
	mirrorAge = 14 * 24 * time.Hour
	// pushTime is how long bringing the store in step with a folder may take, and pushBytes how much of it is sent at a time.
	pushTime, pushBytes = 5 * time.Minute, 2 << 20
	// lookTime is how long the store may take to say whether an agent has changed, and lookAgain how long nobody asks it after it has not.
	lookTime, lookAgain = time.Second, 3 * time.Second
	// lookAtAll is how often an owner looks at all of its folder, for what the index does not tell.
	lookAtAll = time.Minute
	// startTime is how long a start waits for the store.
	startTime = 3 * time.Second
	// awayFor is how long such a memory answers after the store was last reached.
	awayFor = 10 * time.Minute
)

// stateOf follows the name of a mirror in that of the folder with its index.
const stateOf = ".state"

// cluster shares the memories of a host with other nodes by a store in PostgreSQL, and has those of the agents of other nodes.
type cluster struct {
	store *pgstore.Store
	node  pgstore.Node
	dir   string   // of the mirrors, and of the records of the folders that were agents'
	lock  *os.File // that this process is the node; nil if nobody else can be
	open  func(ctx context.Context, agent, workspace string) (*Memory, error)
	dial  func(target, token string) (*client.Client, error)
	held  func() int64 // bytes of vectors in memory
	now   func() time.Time
	log   *slog.Logger

	ctx  context.Context // of what goes on in the background
	stop func()
	busy sync.WaitGroup // what goes on there

	mu       sync.Mutex
	owned    map[string]*owned
	replicas map[string]*replica
	peers    map[string]peer // by address
	names    []string        // of the agents that were there last
	tidied   time.Time       // when old mirrors were last removed
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

// nextShard matches what is between two addresses: a comma may also be between two hosts of one.
var nextShard = regexp.MustCompile(`\s*,\s*(postgres(?:ql)?://)`)

// OpenStore opens the databases that the settings name.
func OpenStore(ctx context.Context, conf *config.Config, log *slog.Logger) (*Store, error) {
	return pgstore.Open(ctx, strings.Fields(nextShard.ReplaceAllString(strings.TrimRight(conf.Store, ", "), " $1")), pgstore.Options{Log: log})
}

// joinCluster makes a daemon a node of the cluster that its settings name.
func (h *Host) joinCluster(ctx context.Context, s *shared) error {
	if !h.opt.Daemon || h.opt.Conf.Store == "" {
		return nil
	}
	state, err := h.opt.Conf.StateDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(state, "cluster")
	lock, err := lockNode(dir)
	if err != nil {
		return err
	}
	store, err := OpenStore(ctx, h.opt.Conf, h.opt.Log)
	if err != nil {
		return errors.Join(err, files.Unlock(lock))
	}
	reach, done := context.WithTimeout(ctx, startTime)
	defer done()
	if err := store.Reach(reach); errors.Is(err, memory.ErrStoreAway) {
		h.opt.Log.Warn("the store does not answer; until it does, this node answers from what it has, and takes no notes", "err", err)
	} else if err != nil {
		store.Close()
		return errors.Join(err, files.Unlock(lock))
	}
	node := pgstore.Node{Name: nodeName(state), Address: h.opt.Conf.NodeAddress, Secret: rand.Text(), Version: h.opt.Version}
	h.cluster = newCluster(store, node, dir, ClockOf(h.opt.Conf), h.opt.Log)
	h.cluster.dial, h.cluster.held, h.cluster.lock = h.opt.Dial, s.engine.Vectors.Held, lock
	h.cluster.open = func(ctx context.Context, agent, workspace string) (*Memory, error) {
		return h.openMemory(ctx, config.Place{Agent: agent, Workspace: workspace}, s, true, workspace+stateOf)
	}
	for _, m := range h.Memories {
		if err := h.cluster.share(m).adoptVectors(ctx); err != nil {
			h.opt.Log.Warn("the vectors of the cluster are not here", "agent", m.Agent(), "err", err)
		}
	}
	return nil
}

// lockNode makes this process the only one that is the node with a folder of mirrors.
func lockNode(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "node.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = files.TryLock(f); errors.Is(err, files.ErrHeld) {
		err = fmt.Errorf("%w: another kioku serve keeps its state in %s, and is this node of the cluster; give this one a --state of its own, or let one serve all agents", memory.ErrLocked, filepath.Dir(dir))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// newCluster returns a node of a cluster, which keeps its mirrors in dir.
func newCluster(store *pgstore.Store, node pgstore.Node, dir string, now func() time.Time, log *slog.Logger) *cluster {
	c := &cluster{store: store, node: node, dir: dir, held: func() int64 { return 0 }, now: now, log: log, owned: map[string]*owned{}, replicas: map[string]*replica{}, peers: map[string]peer{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
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
func (c *cluster) share(m *Memory) *owned {
	o := &owned{c: c, m: m, wake: make(chan struct{}, 1), lock: newLock(), sums: map[string]stampedSum{}}
	o.marked = marked{m.served, o.storeAway}
	c.owned[m.Agent()] = o
	m.served = o
	return o
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
			again := leaseTime / 3
			if err := c.store.Join(ctx, c.self()); err != nil && ctx.Err() == nil {
				c.log.Warn("the store does not know this node", "err", err)
				again = time.Second
			}
			c.closeIdle()
			c.forgetOld()
			wait(ctx, again)
		}
		return ctx.Err()
	})
	return group.Wait()
}

// self returns what the others are told of this node.
func (c *cluster) self() pgstore.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.node
	n.Open, n.Slabs = len(c.owned)+len(c.replicas), c.held()
	return n
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

// Agents implements server.Cluster. If the store is away, it returns those that were there last.
func (c *cluster) Agents(ctx context.Context) (names []string, err error) {
	look, done := context.WithTimeout(ctx, lookTime)
	defer done()
	all, err := c.store.Agents(look)
	for _, a := range all {
		names = append(names, a.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, memory.ErrUnreachable) && ctx.Err() == nil {
		if len(c.names) == 0 { // it has just started
			mirrors, _ := filepath.Glob(filepath.Join(c.dir, "*.json")) // a pattern without mistakes
			for _, name := range mirrors {
				c.names = append(c.names, strings.TrimSuffix(filepath.Base(name), ".json"))
			}
		}
		return c.names, nil
	}
	c.names = names
	return names, err
}

// Memory implements server.Cluster. A memory of another node that is not open yet is waited for.
func (c *cluster) Memory(ctx context.Context, agent string) (server.Memory, error) {
	if o := c.owned[agent]; o != nil && !o.fenced.Load() {
		if err := o.follow(ctx); err != nil || !o.fenced.Load() {
			return o, err
		}
	}
	r := c.replica(agent)
	select {
	case <-r.opened:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: this node is still making its index of agent %s; ask again", memory.ErrUnreachable, agent)
	}
	if err := r.lock.take(ctx); err != nil {
		return nil, err
	}
	defer r.lock.release()
	if r.failed != nil {
		return nil, r.failed
	}
	return r, r.follow(ctx)
}

// replica returns the memory of an agent of another node, and begins to open it if it is not open.
func (c *cluster) replica(agent string) *replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.replicas[agent]
	if r == nil {
		r = &replica{c: c, agent: agent, lock: newLock(), opened: make(chan struct{})}
		c.replicas[agent] = r
		c.busy.Go(func() {
			defer close(r.opened)
			r.failed = r.open(c.ctx)
			c.mu.Lock()
			defer c.mu.Unlock()
			if r.used = c.now(); r.failed != nil {
				delete(c.replicas, agent)
			}
		})
	}
	r.used = c.now()
	return r
}

// Elsewhere implements server.Cluster. While a memory of another node is not open, the node with the folder does what this one could do.
func (c *cluster) Elsewhere(ctx context.Context, agent string, folder bool) (http.RoundTripper, error) {
	if o := c.owned[agent]; o != nil && !o.fenced.Load() {
		return nil, nil
	}
	c.mu.Lock()
	r := c.replicas[agent]
	c.mu.Unlock()
	if r != nil && !folder && r.isOpen() {
		return nil, nil
	}
	a, err := c.store.Agent(ctx, agent)
	if errors.Is(err, memory.ErrUnreachable) && !folder && exists(filepath.Join(c.dir, agent+".json")) {
		return nil, nil // what is on the disk answers
	}
	if err != nil {
		return nil, err
	}
	conn, err := c.ownerOf(ctx, a)
	if folder {
		return conn, err
	}
	c.replica(agent)
	if err != nil {
		return nil, nil
	}
	return conn, nil
}

// exists reports whether there is a file.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// ownerOf reaches the node with the folder of an agent.
func (c *cluster) ownerOf(ctx context.Context, a pgstore.Agent) (http.RoundTripper, error) {
	away := func(why string) error { return fmt.Errorf("%w: agent %s: %s", memory.ErrOwnerAway, a.Name, why) }
	if a.Owner == "" || !a.Leased {
		return nil, away("none has it now; kioku cluster adopt takes it")
	}
	nodes, err := c.store.Nodes(ctx, leaseTime)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(a.Owner, "/")
	i := slices.IndexFunc(nodes, func(n pgstore.Node) bool { return n.Name == name })
	if i < 0 || name == c.node.Name || c.dial == nil {
		return nil, away("it was not heard of for a while")
	}
	at, secret := nodes[i].Address, nodes[i].Secret
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.peers[at]; ok && p.secret == secret {
		return p.Conn, nil
	} else if ok {
		delete(c.peers, at)
		c.busy.Go(func() { _ = p.Close() }) // of a process that has ended
	}
	conn, err := c.dial(at, secret)
	if err != nil {
		return nil, away(err.Error())
	}
	c.peers[at] = peer{conn, secret}
	return conn.Conn, nil
}

// peer reaches another node, whose secret it shows.
type peer struct {
	*client.Client
	secret string
}

// closeIdle closes replicas that nobody uses.
func (c *cluster) closeIdle() {
	c.mu.Lock()
	var idle []*replica
	most := replicaIdle
	if len(c.replicas) > crowd {
		most = crowdIdle
	}
	for agent, r := range c.replicas {
		if r.isOpen() && c.now().Sub(r.used) > most {
			idle = append(idle, r)
			delete(c.replicas, agent)
		}
	}
	c.mu.Unlock()
	for _, r := range idle {
		r.close()
	}
	if len(idle) > 0 {
		kioku.FreeMemory() // a node that nobody asks collects no garbage for long
	}
}

// forgetOld removes the mirrors of agents that nobody has asked for in a long time, and their indexes. They are made again when somebody does.
func (c *cluster) forgetOld() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.tidied) < time.Hour {
		return
	}
	c.tidied = c.now()
	records, err := filepath.Glob(filepath.Join(c.dir, "*.json"))
	for _, record := range records {
		dir := strings.TrimSuffix(record, ".json")
		info, unread := os.Stat(record)
		if unread != nil || c.replicas[filepath.Base(dir)] != nil || c.now().Sub(info.ModTime()) < mirrorAge {
			continue
		}
		err = errors.Join(err, os.RemoveAll(dir), os.RemoveAll(dir+stateOf), os.Remove(record))
	}
	if err != nil {
		c.log.Warn("cannot remove what nobody has asked for", "err", err)
	}
}

// close closes what the cluster has open.
func (c *cluster) close() {
	c.stop()
	c.busy.Wait()
	c.mu.Lock()
	replicas, peers := slices.Collect(maps.Values(c.replicas)), slices.Collect(maps.Values(c.peers))
	c.mu.Unlock()
	for _, r := range replicas {
		r.close()
	}
	for _, p := range peers {
		_ = p.Close() // nothing is under way
	}
	ctx, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	_ = c.store.Leave(ctx, c.node.Name) // else it is forgotten after a day
	c.store.Close()
	if c.lock != nil {
		_ = files.Unlock(c.lock) // ends with the process
	}
}

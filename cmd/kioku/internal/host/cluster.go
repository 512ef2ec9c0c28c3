package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"kioku"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/note"
	"kioku/pgstore"
	"kioku/server"
	"kioku/server/op"
	"kioku/vectors"
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

// owned is an agent whose folder this host has.
type owned struct {
	server.Memory // as callers have it without a cluster
	c             *cluster
	m             *Memory
	wake          chan struct{}

	mu    sync.Mutex // held while it writes or pushes
	epoch int64      // in which this node is the owner; 0 if it is not
	sums  map[string]stampedSum
	sent  int64 // the last vector that the store has
}

// stampedSum is the hash of a file that was read with a size and time.
type stampedSum struct {
	size     int64
	modified time.Time
	sum      [sha256.Size]byte
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

// run keeps this node the owner, and the store in step with the folder.
func (o *owned) run(ctx context.Context) error {
	tick := time.NewTicker(leaseTime / 3)
	defer tick.Stop()
	events := o.m.Subscribe(ctx)
	told := ""
	for ctx.Err() == nil {
		err := o.push(ctx)
		if text := fmt.Sprint(err); err != nil && ctx.Err() == nil && text != told {
			o.c.log.Warn("the store is not in step with the folder", "agent", o.m.Agent(), "err", err)
			told = text
		}
		if err == nil {
			told = ""
		}
		select {
		case <-tick.C:
			o.mu.Lock()
			if o.epoch != 0 {
				if err := o.c.store.Renew(ctx, o.m.Agent(), o.epoch, leaseTime); errors.Is(err, pgstore.ErrFenced) {
					o.epoch = 0
				}
			}
			o.mu.Unlock()
		case _, ok := <-events:
			for more := true; more && ok; { // one push for all that has happened
				select {
				case _, ok = <-events:
				default:
					more = false
				}
			}
			if !ok {
				events = o.m.Subscribe(ctx)
			}
		case <-o.wake:
		case <-ctx.Done():
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.epoch != 0 {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer done()
		_ = o.c.store.Release(ctx, o.m.Agent(), o.epoch) // else the lease ends by itself
	}
	return ctx.Err()
}

// change commits what f does to the folder, and then what of the folder the store lacks. With paths only these are looked at.
func (o *owned) change(ctx context.Context, f func(ctx context.Context) (paths []string, err error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.own(ctx); err != nil {
		return err
	}
	sent := o.sent
	_, err := o.c.store.Change(ctx, o.m.Agent(), o.epoch, func(ctx context.Context, c *pgstore.Change) error {
		list, err := c.Waiting(ctx)
		if err != nil {
			return err
		}
		var added []string
		for _, w := range list {
			n := w.Note
			n.At = w.Time
			a, err := o.m.Append(ctx, n)
			if _, bad := errors.AsType[*memory.InputError](err); bad {
				o.c.log.Error("a note of another node is refused", "agent", o.m.Agent(), "err", err)
				continue
			}
			if err != nil {
				return err
			}
			added = append(added, a.Path)
		}
		paths, err := f(ctx)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			if err := c.Written(ctx, list[len(list)-1].Generation); err != nil {
				return err
			}
		}
		if paths == nil {
			if sent, err = o.pushVectors(ctx, c); err != nil {
				return err
			}
		}
		return o.pushFiles(ctx, c, paths, added)
	})
	if errors.Is(err, pgstore.ErrFenced) {
		o.epoch = 0
	}
	if err == nil {
		o.sent = sent
	}
	return err
}

// push brings the store in step with the folder. All of a large folder takes longer than a call.
func (o *owned) push(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	return o.change(ctx, func(context.Context) ([]string, error) { return nil, nil })
}

// own makes this folder the one of the agent, if it is not.
func (o *owned) own(ctx context.Context) (err error) {
	if o.epoch != 0 {
		return nil
	}
	owner, record := ownerOf(o.c.node.Name, o.m.Workspace()), ownerRecord(o.c.dir, o.m.Agent(), o.m.Workspace())
	last, err := lastEpoch(record)
	if err != nil {
		return err
	}
	epoch, err := o.c.store.Own(ctx, o.m.Agent(), owner, last, leaseTime, false)
	if errors.Is(err, pgstore.ErrFenced) {
		return fmt.Errorf("%w; this folder stays as it is, and kioku cluster adopt %s FOLDER takes the agent back", err, o.m.Agent())
	}
	if err == nil {
		err = recordEpoch(record, epoch)
	}
	if err == nil {
		o.epoch = epoch
	}
	return err
}

// ownerOf names the owner of an agent: a folder of a node.
func ownerOf(node, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return node + "/" + hex.EncodeToString(sum[:4])
}

// ownerRecord is the file that says in which epoch a folder was last that of an agent.
func ownerRecord(dir, agent, workspace string) string {
	return filepath.Join(dir, "owner-"+agent+"-"+filepath.Base(ownerOf("", workspace))+".epoch")
}

// lastEpoch reads such a file; 0 if there is none.
func lastEpoch(record string) (epoch int64, err error) {
	text, err := os.ReadFile(record)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err == nil {
		epoch, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	return epoch, err
}

// recordEpoch writes it.
func recordEpoch(record string, epoch int64) error {
	if err := os.MkdirAll(filepath.Dir(record), 0o700); err != nil {
		return err
	}
	return os.WriteFile(record, strconv.AppendInt(nil, epoch, 10), 0o600)
}

// pushFiles puts those files of the folder into a commit that the store lacks: some, or all.
func (o *owned) pushFiles(ctx context.Context, c *pgstore.Change, some, added []string) error {
	root, err := os.OpenRoot(o.m.Workspace())
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	stored, err := c.Sums(ctx)
	if err != nil {
		return err
	}
	found := map[string]fs.FileInfo{}
	if some == nil {
		found, err = sharedFiles(root)
	} else {
		for _, p := range slices.Concat(some, added) {
			if found[p], err = root.Stat(filepath.FromSlash(p)); err != nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	var put []pgstore.File
	bytes := 0
	for _, p := range slices.Sorted(maps.Keys(found)) {
		info, known := found[p], o.sums[p]
		if known.size == info.Size() && known.modified.Equal(info.ModTime()) && known.sum == stored[p] {
			continue
		}
		data, err := root.ReadFile(filepath.FromSlash(p))
		if err != nil {
			continue // it went, or cannot be read now: the next push looks again
		}
		o.sums[p] = stampedSum{info.Size(), info.ModTime(), sha256.Sum256(data)}
		if o.sums[p].sum == stored[p] {
			continue
		}
		put = append(put, pgstore.File{Path: p, ModTime: info.ModTime(), Data: append([]byte{}, data...)})
		if bytes += len(data); bytes > pushBytes {
			if err := c.Put(ctx, put...); err != nil {
				return err
			}
			put, bytes = nil, 0
		}
	}
	for p := range stored {
		if found[p] == nil && some == nil {
			put = append(put, pgstore.File{Path: p, ModTime: o.c.now()})
		}
	}
	return c.Put(ctx, put...)
}

// pushVectors puts the vectors into a commit that were paid for since the last one.
func (o *owned) pushVectors(ctx context.Context, c *pgstore.Change) (sent int64, err error) {
	sent = o.sent
	var list []pgstore.Vector
	err = o.m.VectorRows(ctx, o.sent, func(r vectors.Row) error {
		space, err := json.Marshal(spaceJSON(r.Space))
		list = append(list, pgstore.Vector{Space: string(space), Kind: string(r.Kind), SHA256: slices.Clone(r.Hash[:]), Vector: slices.Clone(r.Vector)})
		if sent = r.ID; err == nil && len(list) == vectorsAtOnce {
			err = c.PutVectors(ctx, list)
			list = nil
		}
		return err
	})
	return sent, errors.Join(err, c.PutVectors(ctx, list))
}

// writing commits a change of the folder by one of its operations.
func writing[T any](ctx context.Context, o *owned, f func(ctx context.Context) (T, error)) (out T, err error) {
	err = o.change(ctx, func(ctx context.Context) (paths []string, err error) {
		out, err = f(ctx)
		return nil, err
	})
	return out, err
}

// Append adds a note. It is acknowledged when the store has it.
func (o *owned) Append(ctx context.Context, n memory.Note) (a memory.Appended, err error) {
	err = o.change(ctx, func(ctx context.Context) ([]string, error) {
		a, err = o.Memory.Append(ctx, n)
		return []string{a.Path}, err
	})
	return a, err
}

// Update and the following operations of a memory are acknowledged when the store has them.
func (o *owned) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
	return writing(ctx, o, func(ctx context.Context) (memory.Updated, error) { return o.Memory.Update(ctx, u) })
}

// Undo implements server.Memory.
func (o *owned) Undo(ctx context.Context, revision string) (memory.Updated, error) {
	return writing(ctx, o, func(ctx context.Context) (memory.Updated, error) { return o.Memory.Undo(ctx, revision) })
}

// Forget implements server.Memory.
func (o *owned) Forget(ctx context.Context, r memory.Forget) (memory.Forgotten, error) {
	if r.Undo == "" && len(r.Places) == 0 {
		return o.Memory.Forget(ctx, r) // it only looks
	}
	return writing(ctx, o, func(ctx context.Context) (memory.Forgotten, error) { return o.Memory.Forget(ctx, r) })
}

// Tidy implements server.Memory.
func (o *owned) Tidy(ctx context.Context, accept []string) (memory.Tidied, error) {
	if len(accept) == 0 {
		return o.Memory.Tidy(ctx, accept)
	}
	return writing(ctx, o, func(ctx context.Context) (memory.Tidied, error) { return o.Memory.Tidy(ctx, accept) })
}

// UndoWrites implements server.Memory.
func (o *owned) UndoWrites(ctx context.Context, u memory.UndoWrites) (memory.UndoneWrites, error) {
	return writing(ctx, o, func(ctx context.Context) (memory.UndoneWrites, error) { return o.Memory.UndoWrites(ctx, u) })
}

// replica is the memory of an agent of another node: a mirror of its folder and an index of that.
type replica struct {
	server.Memory
	c      *cluster
	agent  string
	mu     sync.Mutex // held while it follows the store
	m      *Memory
	mirror *mirror
	seen   time.Time // when the store was last reached
	missed time.Time // when it was last not, zero if it was since
	used   time.Time // guarded by the cluster
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

// follow opens a replica, and brings it to the last generation. If the store is away, it stays as it is for some time.
func (r *replica) follow(ctx context.Context) error {
	if r.m != nil && time.Since(r.missed) < lookAgain {
		return nil
	}
	look, done := context.WithTimeout(ctx, lookTime)
	defer done()
	a, err := r.c.store.Agent(look, r.agent)
	switch {
	case errors.Is(err, memory.ErrUnreachable) && ctx.Err() == nil && r.m != nil && r.c.now().Sub(r.seen) < awayFor:
		r.missed = time.Now()
		return nil
	case err != nil:
		return err
	}
	r.missed = time.Time{}
	if r.m == nil {
		dir := filepath.Join(r.c.dir, r.agent)
		if r.mirror, err = openMirror(dir, dir+".json"); err != nil {
			return err
		}
		m, err := r.c.open(ctx, r.agent, dir)
		if err != nil {
			return err
		}
		if _, err := m.Sync(ctx, kioku.SyncOptions{}, nil); err != nil { // this program may split notes in another way
			return errors.Join(err, m.Close())
		}
		r.m, r.Memory = m, m.served
	}
	if a.Generation != r.mirror.Generation {
		err = r.mirror.follow(ctx, r.c.store, r.m)
	}
	if err == nil {
		r.seen = r.c.now()
	}
	return err
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

func (r *replica) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m != nil {
		if err := r.m.Close(); err != nil {
			r.c.log.Warn("cannot close a memory of another node", "agent", r.agent, "err", err)
		}
		r.m, r.Memory = nil, nil
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

// Search implements server.Memory.
func (r *replica) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	r.mu.Lock()
	away := !r.missed.IsZero()
	r.mu.Unlock()
	a, err := r.Memory.Search(ctx, q)
	if err == nil && away {
		a.Degraded = append(a.Degraded, memory.Degradation{Code: memory.StoreAway, Text: "The databases of the cluster do not answer; what was written since they did may be missing."})
	}
	return a, err
}

// errNothingNew ends a commit that has nothing to add.
var errNothingNew = errors.New("nothing new")

// Append adds a note to the outbox of the owner. It is acknowledged when the store has it, and found from then on by every node.
func (r *replica) Append(ctx context.Context, n memory.Note) (a memory.Appended, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n.Key, n.At = cmp.Or(n.Key, "note-"+rand.Text()), r.c.now()
	n, secrets := note.Redacted(n)
	generation, err := r.c.store.Change(ctx, r.agent, 0, func(ctx context.Context, c *pgstore.Change) error {
		if c.Agent.Generation != r.mirror.Generation {
			if err := r.mirror.take(ctx, c.Since(r.mirror.Generation), r.m); err != nil {
				return err
			}
		}
		if a, err = r.Memory.Append(ctx, n); err == nil && (a.Deduplicated || a.Path == "") {
			err = errNothingNew
		}
		if err != nil {
			return err
		}
		return c.Wait(ctx, n, n.At)
	})
	switch {
	case errors.Is(err, errNothingNew):
		return a, nil
	case err != nil:
		if a.Path != "" { // the mirror has what the store may not have
			err = errors.Join(err, r.mirror.save(r.mirror.Generation-1, append(r.mirror.Added, a.Path)))
		}
		return memory.Appended{}, err
	}
	if err := r.m.SyncPaths(ctx, []string{a.Path}); err != nil {
		r.c.log.Warn("a note is not found yet", "agent", r.agent, "err", err)
	}
	a.Secrets = secrets
	return a, r.mirror.save(generation, append(r.mirror.Added, a.Path))
}

// atOwner has the node with the folder of a replica do an operation, and follows it.
func atOwner[In, Out any](ctx context.Context, r *replica, o op.Op[In, Out], in In) (out Out, err error) {
	conn, err := r.owner(ctx)
	if err != nil {
		return out, err
	}
	if out, err = o.Call(ctx, conn.Conn, in); err != nil {
		return out, errors.Join(err, conn.Close())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return out, errors.Join(conn.Close(), r.follow(ctx))
}

// owner reaches the node with the folder.
func (r *replica) owner(ctx context.Context) (*client.Client, error) {
	away := func(why string) error {
		return fmt.Errorf("%w: owner_away: only the node with the folder of agent %s can do this, and %s", memory.ErrUnreachable, r.agent, why)
	}
	a, err := r.c.store.Agent(ctx, r.agent)
	if err != nil {
		return nil, err
	}
	if a.Owner == "" || !a.Leased {
		return nil, away("none has it now; kioku cluster adopt takes it")
	}
	nodes, err := r.c.store.Nodes(ctx, leaseTime)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(a.Owner, "/")
	i := slices.IndexFunc(nodes, func(n pgstore.Node) bool { return n.Name == name })
	if i < 0 || r.c.dial == nil {
		return nil, away("it was not heard of for a while")
	}
	conn, err := r.c.dial(nodes[i].Address, nodes[i].Secret)
	if err != nil {
		return nil, away(err.Error())
	}
	return conn, nil
}

// of names the agent of a replica in a request.
func (r *replica) of() server.OfAgent { return server.OfAgent{Agent: r.agent} }

// Update and what else changes notes is done by the node with the folder.
func (r *replica) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
	return atOwner(ctx, r, server.Notes.Update, server.UpdateNote{OfAgent: r.of(), Update: u})
}

// Undo implements server.Memory.
func (r *replica) Undo(ctx context.Context, revision string) (memory.Updated, error) {
	return atOwner(ctx, r, server.Notes.Undo, server.UndoUpdate{OfAgent: r.of(), Revision: revision})
}

// Forget implements server.Memory.
func (r *replica) Forget(ctx context.Context, f memory.Forget) (memory.Forgotten, error) {
	return atOwner(ctx, r, server.Notes.Forget, server.ForgetNotes{OfAgent: r.of(), Forget: f})
}

// Tidy implements server.Memory.
func (r *replica) Tidy(ctx context.Context, accept []string) (memory.Tidied, error) {
	return atOwner(ctx, r, server.Notes.Tidy, server.TidyNotes{OfAgent: r.of(), Accept: accept})
}

// Revisions implements server.Memory.
func (r *replica) Revisions(ctx context.Context) ([]memory.Revision, error) {
	return atOwner(ctx, r, server.Notes.Revisions, r.of())
}

// UndoWrites implements server.Memory.
func (r *replica) UndoWrites(ctx context.Context, u memory.UndoWrites) (memory.UndoneWrites, error) {
	return atOwner(ctx, r, server.NotesThen.Undo, server.UndoWrites{OfAgent: r.of(), UndoWrites: u})
}

// Adopt writes the folder of an agent as the store has it into a new folder, and makes this machine the owner of it. The notes that wait come when
// it serves the folder. The error is pgstore.ErrFenced if the owner is still there; force takes the agent from it all the same.
func Adopt(ctx context.Context, store *Store, conf *config.Config, agent, dir string, force bool) error {
	state, err := conf.StateDir()
	if err != nil {
		return err
	}
	return adopt(ctx, store, agent, dir, nodeName(state), filepath.Join(state, "cluster"), force)
}

func adopt(ctx context.Context, store *Store, agent, dir, node, records string, force bool) error {
	if err := newFolder(ctx, store, agent, dir); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	a, err := store.Agent(ctx, agent)
	if err != nil {
		return err
	}
	epoch, err := store.Own(ctx, agent, ownerOf(node, dir), a.Epoch, leaseTime, force)
	if err == nil {
		err = recordEpoch(ownerRecord(records, agent, dir), epoch)
	}
	if err != nil {
		return err
	}
	m := &mirror{dir: dir}
	return store.Since(ctx, agent, 0, func(ctx context.Context, r pgstore.Reading) error { return r.Files(ctx, m.put) })
}

// newFolder makes the folder for an agent of the store.
func newFolder(ctx context.Context, store *Store, agent, dir string) error {
	if _, err := store.Agent(ctx, agent); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return &memory.InputError{Field: "folder", Problem: dir + " has files already; name a new one"}
	}
	return os.MkdirAll(dir, 0o700)
}

// Export writes the folder of an agent, with the notes that wait for its owner, into a new folder, and indexes it.
func Export(ctx context.Context, store *Store, conf *config.Config, agent, dir string, log *slog.Logger) error {
	if err := newFolder(ctx, store, agent, dir); err != nil {
		return err
	}
	h := &Host{opt: Options{Conf: conf, Out: &render.Output{}, Log: log}}
	s, err := h.shared()
	if err != nil {
		return err
	}
	m, err := h.openMemory(ctx, config.Place{Agent: agent, Workspace: dir}, s, true)
	if err != nil {
		return err
	}
	record, err := os.CreateTemp("", "kioku-export-*.json")
	if err != nil {
		return errors.Join(err, m.Close())
	}
	defer os.Remove(record.Name())
	err = (&mirror{dir: dir, record: record.Name()}).follow(ctx, store, m)
	return errors.Join(err, record.Close(), m.Close())
}

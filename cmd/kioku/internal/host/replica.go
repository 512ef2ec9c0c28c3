package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku"
	"kioku/client"
	"kioku/memory"
	"kioku/note"
	"kioku/pgstore"
	"kioku/server"
	"kioku/server/op"
)

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

// close closes a replica that the cluster has no more. Calls that still have it get an error.
func (r *replica) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m != nil {
		if err := r.m.Close(); err != nil {
			r.c.log.Warn("cannot close a memory of another node", "agent", r.agent, "err", err)
		}
	}
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

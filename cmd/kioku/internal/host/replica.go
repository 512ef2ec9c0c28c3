package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"time"

	"kioku"
	"kioku/memory"
	"kioku/note"
	"kioku/pgstore"
)

// replica is the memory of an agent of another node: a mirror of its folder and an index of that.
type replica struct {
	marked
	look
	c      *cluster
	agent  string
	opened chan struct{} // closed when it is open, or has failed to be
	failed error
	lock   lock // held while it follows the store
	m      *Memory
	mirror *mirror
	used   time.Time // guarded by the cluster
}

// open opens a replica, and brings it to the last generation. If the store is away, it is what was there before, for some time.
func (r *replica) open(ctx context.Context) error {
	dir := filepath.Join(r.c.dir, r.agent)
	var err error
	if r.mirror, err = openMirror(dir, dir+".json"); err != nil {
		return err
	}
	reading, done := context.WithTimeout(ctx, pushTime)
	defer done()
	err = r.c.store.Since(reading, r.agent, 0, r.mirror.settle) // with the settings in the folder
	away := errors.Is(err, memory.ErrUnreachable) && r.mirror.Generation > 0
	if err != nil && !away {
		return err
	}
	if err := r.index(ctx); err != nil {
		return err
	}
	r.missedAt(away, r.c.now())
	if away {
		_, err = r.m.Sync(ctx, kioku.SyncOptions{}, nil)
	} else {
		err = r.mirror.follow(ctx, r.c.store, r.m)
	}
	if err != nil {
		return errors.Join(err, r.m.Close())
	}
	_ = os.Chtimes(r.mirror.record, time.Time{}, r.c.now()) // it is used: forgetOld
	return nil
}

// index opens the index of the mirror, with the settings that are in it. It looks at all of it next: at what was settled, and what this program splits
// in another way.
func (r *replica) index(ctx context.Context) (err error) {
	if r.m, err = r.c.open(ctx, r.agent, r.mirror.dir); err == nil {
		r.marked, r.mirror.settings, r.mirror.whole = marked{r.m.served, r.lacks}, false, true
	}
	return err
}

// isOpen reports whether a replica is open, or has failed to be.
func (r *replica) isOpen() bool {
	select {
	case <-r.opened:
		return true
	default:
		return false
	}
}

// follow brings a replica to the last generation. If the store is away, it stays as it is for some time.
func (r *replica) follow(ctx context.Context) error {
	a, err := r.ask(ctx, r.c, r.agent)
	switch {
	case errors.Is(err, memory.ErrUnreachable) && r.c.now().Sub(r.reached()) <= awayFor:
		return nil
	case err != nil || a.Generation == r.mirror.Generation && r.mirror.settled:
		return err
	}
	if a.Generation < r.mirror.Generation {
		r.mirror.settled = false
	}
	if err := r.mirror.follow(ctx, r.c.store, r.m); err != nil || !r.mirror.settings {
		return err
	}
	if err := errors.Join(r.m.Close(), r.index(ctx)); err != nil {
		return err
	}
	return r.mirror.follow(ctx, r.c.store, r.m)
}

// close closes a replica that the cluster has no more. Calls that still have it get an error.
func (r *replica) close() {
	<-r.opened
	_ = r.lock.take(context.Background()) // never ends before
	defer r.lock.release()
	if r.failed == nil {
		if err := r.m.Close(); err != nil {
			r.c.log.Warn("cannot close a memory of another node", "agent", r.agent, "err", err)
		}
	}
}

// lacks says what may be missing, and that a folder here is no longer the agent's.
func (r *replica) lacks() []memory.Degradation {
	all := r.storeAway()
	if r.c.owned[r.agent] != nil {
		all = append(all, memory.Degradation{Code: memory.FolderReplaced, Text: "The folder of agent " + r.agent +
			" on this machine is no longer the agent's: what is edited there counts nowhere; kioku cluster status tells which machine has it now."})
	}
	return all
}

// errNothingNew ends a commit that has nothing to add.
var errNothingNew = errors.New("nothing new")

// Append adds a note to the outbox of the owner. It is acknowledged when the store has it, and found from then on by every node: here the next call waits
// until the index has it.
func (r *replica) Append(ctx context.Context, n memory.Note) (a memory.Appended, err error) {
	if err := r.lock.take(ctx); err != nil {
		return a, err
	}
	release := r.lock.release
	defer func() { release() }()
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
	added, waiting := r.mirror.Added, r.mirror.Waiting
	switch {
	case errors.Is(err, errNothingNew):
		return a, r.mirror.save(r.mirror.Generation, added, waiting)
	case err != nil: // the mirror may have what the store does not have
		return memory.Appended{}, errors.Join(err, r.mirror.save(r.mirror.Generation-1, with(added, a.Path), -1))
	}
	release = func() {}
	r.c.busy.Go(func() {
		defer r.lock.release()
		if err := r.m.SyncPaths(r.c.ctx, []string{a.Path}); err != nil {
			r.mirror.touched = append(r.mirror.touched, a.Path)
			generation--
		}
		if err := r.mirror.save(generation, with(added, a.Path), waiting+1); err != nil {
			r.c.log.Warn("the mirror of an agent will be made anew", "agent", r.agent, "err", err)
		}
	})
	a.Secrets = secrets
	return a, nil
}

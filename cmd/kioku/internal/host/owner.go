package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	"kioku/pgstore"
)

// owned is an agent whose folder this host has.
type owned struct {
	marked // what callers have without a cluster
	look
	c    *cluster
	m    *Memory
	wake chan struct{}

	lock lock // held while it writes or pushes
	sums map[string]stampedSum
	// tried is the last note that waits and was looked at, and more reports that there are further ones, or vectors; rest that files are.
	tried      int64
	more, rest bool

	folder   os.FileInfo // what the folder was when it was opened
	compared bool        // with all that the store has

	epoch      atomic.Int64 // in which this node is the owner; 0 if it is not
	generation atomic.Int64 // of the store that the folder has
	fenced     atomic.Bool  // the agent has another folder now, so that this one must not answer
}

// follow writes the notes that wait for the folder into it. While the store is away, the folder stays as it is.
func (o *owned) follow(ctx context.Context) error {
	a, err := o.ask(ctx, o.c, o.m.Agent())
	if err != nil || a.Generation == o.generation.Load() {
		return ctx.Err()
	}
	within, done := context.WithTimeout(ctx, lookTime)
	defer done()
	err = o.push(within, []string{})
	if err != nil && !o.fenced.Load() {
		o.miss()
	}
	return ctx.Err()
}

// Search implements server.Memory.
func (o *owned) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	if o.fenced.Load() {
		return memory.Answer{}, fmt.Errorf("%w: agent %s has another folder now; kioku cluster status tells which machine has it", memory.ErrUnreachable, o.m.Agent())
	}
	return o.marked.Search(ctx, q)
}

// run keeps this node the owner, and the store in step with the folder.
func (o *owned) run(ctx context.Context) error {
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		for wait(ctx, leaseTime/3); ctx.Err() == nil; wait(ctx, leaseTime/3) {
			o.renew(ctx)
		}
	}()
	defer func() { <-renewed }()
	tick := time.NewTicker(leaseTime / 3)
	defer tick.Stop()
	events := o.m.Subscribe(ctx)
	told, looked := "", time.Time{} // looked is when all of the folder was last looked at
	for paths := []string(nil); ctx.Err() == nil; {
		begun := time.Now()
		err := o.push(ctx, paths)
		if text := fmt.Sprint(err); err != nil && ctx.Err() == nil && text != told {
			o.c.log.Warn("the store is not in step with the folder", "agent", o.m.Agent(), "err", err)
			told = text
		}
		if err == nil {
			told = ""
		}
		if err == nil && paths == nil {
			looked = begun
		}
		paths = []string{}
		for again := true; again && ctx.Err() == nil; {
			again = false
			select {
			case <-tick.C:
				again = err == nil && time.Since(looked) < lookAtAll
			case ev, ok := <-events:
				for more := true; more && ok; { // one push for all that has happened
					if ev.Kind == indexer.FileIndexed || ev.Kind == indexer.FileSkipped || ev.Kind == indexer.FileRemoved {
						paths = append(paths, ev.Path)
					}
					if ev.Kind == kioku.EventsLost {
						looked = time.Time{}
					}
					select {
					case ev, ok = <-events:
					default:
						more = false
					}
				}
				if !ok {
					events, looked = o.m.Subscribe(ctx), time.Time{}
				}
			case <-o.wake:
			case <-ctx.Done():
			}
		}
		if err != nil || time.Since(looked) >= lookAtAll || len(paths) > touchedAtOnce {
			paths = nil
		}
	}
	end, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	if o.lock.take(end) == nil {
		defer o.lock.release()
		if epoch := o.epoch.Load(); epoch != 0 {
			_ = o.c.store.Release(end, o.m.Agent(), epoch) // else the lease ends by itself
		}
	}
	return ctx.Err()
}

// renew keeps this node the owner, also while it pushes for long.
func (o *owned) renew(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, leaseTime/3)
	defer done()
	if epoch := o.epoch.Load(); epoch != 0 && errors.Is(o.c.store.Renew(ctx, o.m.Agent(), epoch, leaseTime), pgstore.ErrFenced) {
		o.lose(epoch)
	}
}

// lose notes that this node is no longer the owner that it was in an epoch.
func (o *owned) lose(epoch int64) {
	if o.epoch.CompareAndSwap(epoch, 0) {
		o.fenced.Store(true)
	}
}

// isThere returns an error if the folder is not the one that it was: nothing is written to what lies below a disk that is not mounted.
func (o *owned) isThere() error {
	info, err := os.Stat(o.m.Workspace())
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	if o.folder == nil {
		o.folder = info
	}
	if !os.SameFile(o.folder, info) {
		return fmt.Errorf("%w: %s is another folder than when it was opened: is its disk mounted? If it is to count, restart kioku serve", memory.ErrUnavailable, o.m.Workspace())
	}
	return nil
}

// waitingAtOnce is the number of notes of other nodes that are written in one commit.
const waitingAtOnce = 100

// change commits what f does to the folder, and then what of the folder the store lacks. With paths only these are looked at.
func (o *owned) change(ctx context.Context, f func(ctx context.Context) (paths []string, err error)) error {
	if err := o.lock.take(ctx); err != nil {
		return err
	}
	defer o.lock.release()
	o.rest = false
	err := o.commit(ctx, f)
	for err == nil && o.rest { // it may be among what is not there yet
		o.rest = false
		err = o.commit(ctx, func(context.Context) ([]string, error) { return nil, nil })
	}
	return err
}

// commit is change for who holds the lock.
func (o *owned) commit(ctx context.Context, f func(ctx context.Context) (paths []string, err error)) error {
	if err := o.isThere(); err != nil {
		return err
	}
	if err := o.own(ctx); err != nil {
		return err
	}
	epoch, file := o.epoch.Load(), ownerRecord(o.c.dir, o.m.Agent(), o.m.Workspace())
	record, err := readRecord(file)
	if err != nil {
		return err
	}
	var added []string // files with notes of other nodes
	sent := record.Sent
	generation, err := o.c.store.Change(ctx, o.m.Agent(), epoch, func(ctx context.Context, c *pgstore.Change) error {
		list, err := c.Waiting(ctx, o.tried, waitingAtOnce)
		if err != nil {
			return err
		}
		if o.more = len(list) == waitingAtOnce; o.more {
			o.tried = list[len(list)-1].Generation
		}
		if added, err = o.write(ctx, c, list); err != nil {
			return err
		}
		paths, err := f(ctx)
		if err != nil {
			return err
		}
		if sent, err = o.pushVectors(ctx, c, record.Sent); err != nil {
			return err
		}
		if err := o.pushFiles(ctx, c, paths, added); err != nil || !c.Changed() {
			return err
		}
		record.Epoch, record.Written = epoch, c.Generation // whether the commit succeeds may never be known
		return record.save(file)
	})
	if errors.Is(err, pgstore.ErrFenced) {
		o.lose(epoch)
		err = fmt.Errorf("%w: %w", memory.ErrUnreachable, err)
	}
	if err == nil && sent != record.Sent {
		record.Sent = sent
		err = record.save(file)
	}
	if err != nil {
		return err
	}
	if len(added) > 0 {
		ctx, done := context.WithTimeout(ctx, lookTime/2) // vectors may take longer, and come by themselves
		defer done()
		if err := o.m.SyncPaths(ctx, added); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			o.c.log.Warn("a note is not found yet", "agent", o.m.Agent(), "err", err)
		}
	}
	o.generation.Store(generation)
	return nil
}

// write writes the notes that wait into the folder, and returns the files that have them. One that the folder refuses waits on; one that was
// forgotten since is written nowhere.
func (o *owned) write(ctx context.Context, c *pgstore.Change, list []pgstore.Waiting) (added []string, err error) {
	var written []int64
	for _, w := range list {
		n := w.Note
		n.At = w.Time
		a, err := o.m.Append(ctx, n)
		switch {
		case isRefusal(err):
			o.c.log.Error("the folder refuses a note of another node", "agent", o.m.Agent(), "err", err)
			continue
		case err != nil && ctx.Err() == nil && !errors.Is(err, memory.ErrClosed): // perhaps one file cannot be written; the others can
			o.c.log.Error("a note of another node cannot be written, and waits on", "agent", o.m.Agent(), "err", err)
			continue
		case err != nil:
			return nil, err
		}
		written = append(written, w.Generation)
		if a.Path != "" {
			added = append(added, a.Path)
		}
	}
	return added, c.Written(ctx, written)
}

// isRefusal reports whether a folder does not take a note as it is, however often it is asked.
func isRefusal(err error) bool {
	_, bad := errors.AsType[*memory.InputError](err)
	return bad || errors.Is(err, memory.ErrConflict)
}

// push writes all notes that wait into the folder, and brings the store in step with some files of it, or with all if they are nil, which may take longer
// than a call.
func (o *owned) push(ctx context.Context, paths []string) error {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	if err := o.lock.take(ctx); err != nil {
		return err
	}
	defer o.lock.release()
	defer func() { o.tried = 0 }()
	for {
		o.rest = false
		if err := o.commit(ctx, func(context.Context) ([]string, error) { return paths, nil }); err != nil || !o.more && !o.rest {
			return err
		}
		if !o.rest {
			paths = []string{}
		}
	}
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
		if a, err = o.Memory.Append(ctx, n); a.Path == "" { // what was forgotten is written nowhere
			return []string{}, err
		}
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

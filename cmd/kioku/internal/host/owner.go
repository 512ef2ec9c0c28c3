package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	"kioku/pgstore"
	"kioku/server"
	"kioku/vectors"
)

// owned is an agent whose folder this host has.
type owned struct {
	server.Memory // as callers have it without a cluster
	look
	c    *cluster
	m    *Memory
	wake chan struct{}

	lock  lock  // held while it writes or pushes
	epoch int64 // in which this node is the owner; 0 if it is not
	sums  map[string]stampedSum
	sent  int64 // the last vector that the store has

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
	err = o.change(within, func(context.Context) ([]string, error) { return []string{}, nil })
	if err != nil && !o.fenced.Load() {
		o.miss()
	}
	return ctx.Err()
}

// Search implements server.Memory.
func (o *owned) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	a, err := o.Memory.Search(ctx, q)
	o.mark(&a)
	return a, err
}

// stampedSum is the hash of a file that was read with a size and time.
type stampedSum struct {
	size     int64
	modified time.Time
	sum      [sha256.Size]byte
}

// run keeps this node the owner, and the store in step with the folder.
func (o *owned) run(ctx context.Context) error {
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
		for wait := true; wait && ctx.Err() == nil; {
			wait = false
			select {
			case <-tick.C:
				o.renew(ctx)
				wait = err == nil && time.Since(looked) < lookAtAll
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
		if o.epoch != 0 {
			_ = o.c.store.Release(end, o.m.Agent(), o.epoch) // else the lease ends by itself
		}
	}
	return ctx.Err()
}

// renew keeps this node the owner.
func (o *owned) renew(ctx context.Context) {
	if o.lock.take(ctx) != nil {
		return
	}
	defer o.lock.release()
	if o.epoch != 0 && errors.Is(o.c.store.Renew(ctx, o.m.Agent(), o.epoch, leaseTime), pgstore.ErrFenced) {
		o.epoch = 0
		o.fenced.Store(true)
	}
}

// change commits what f does to the folder, and then what of the folder the store lacks. With paths only these are looked at.
func (o *owned) change(ctx context.Context, f func(ctx context.Context) (paths []string, err error)) error {
	if err := o.lock.take(ctx); err != nil {
		return err
	}
	defer o.lock.release()
	if err := o.own(ctx); err != nil {
		return err
	}
	sent := o.sent
	var added []string // files with notes of other nodes
	generation, err := o.c.store.Change(ctx, o.m.Agent(), o.epoch, func(ctx context.Context, c *pgstore.Change) error {
		list, err := c.Waiting(ctx)
		if err != nil {
			return err
		}
		if added, err = o.write(ctx, c, list); err != nil {
			return err
		}
		paths, err := f(ctx)
		if err != nil {
			return err
		}
		if sent, err = o.pushVectors(ctx, c); err != nil {
			return err
		}
		return o.pushFiles(ctx, c, paths, added)
	})
	if errors.Is(err, pgstore.ErrFenced) {
		o.epoch = 0
		o.fenced.Store(true)
		err = fmt.Errorf("%w: %w", memory.ErrUnreachable, err)
	}
	if err != nil {
		return err
	}
	o.sent = sent
	o.generation.Store(generation)
	if len(added) > 0 {
		ctx, done := context.WithTimeout(ctx, lookTime/2) // vectors may take longer, and come by themselves
		defer done()
		if err := o.m.SyncPaths(ctx, added); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			o.c.log.Warn("a note is not found yet", "agent", o.m.Agent(), "err", err)
		}
	}
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

// push brings the store in step with some files of the folder, or with all of it if they are nil, which may take longer than a call.
func (o *owned) push(ctx context.Context, paths []string) error {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	return o.change(ctx, func(context.Context) ([]string, error) { return paths, nil })
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
	epoch, err := o.c.store.Own(ctx, o.m.Agent(), owner, last, leaseTime)
	o.fenced.Store(errors.Is(err, pgstore.ErrFenced))
	if o.fenced.Load() {
		return fmt.Errorf("%w: %w; this folder stays as it is, and kioku cluster adopt %s FOLDER takes the agent back", memory.ErrUnreachable, err, o.m.Agent())
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
	if some != nil {
		some = append(some, added...)
	}
	stored, err := c.Sums(ctx, some)
	if err != nil {
		return err
	}
	found := map[string]fs.FileInfo{}
	if some == nil {
		found, err = sharedFiles(root)
	} else {
		for _, p := range some {
			info, failed := root.Stat(filepath.FromSlash(p))
			if failed == nil && isShared(p) {
				found[p] = info
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
		if found[p] == nil && o.isGone(ctx, root, p) {
			put = append(put, pgstore.File{Path: p, ModTime: o.c.now()})
		}
	}
	return c.Put(ctx, put...)
}

// isGone reports whether a file that cannot be read was removed. A folder may be away for a while, which the index notices: it keeps its files.
func (o *owned) isGone(ctx context.Context, root *os.Root, p string) bool {
	if _, err := root.Stat(filepath.FromSlash(p)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := o.m.Chunks(ctx, p)
	left, unread := fs.ReadDir(root.FS(), ".")
	return errors.Is(err, memory.ErrNotFound) && unread == nil && len(left) > 0
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

package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/pgstore"
)

// Adopt writes the folder of an agent as the store has it into a new folder, and makes this machine the owner of it. The notes that wait, and the
// vectors, come when it serves the folder. The error is pgstore.ErrFenced if the owner is still there; force takes the agent from it all the same.
func Adopt(ctx context.Context, store *Store, conf *config.Config, agent, dir string, force bool) error {
	state, err := conf.StateDir()
	if err != nil {
		return err
	}
	return adopt(ctx, store, agent, dir, nodeName(state), filepath.Join(state, "cluster"), force)
}

func adopt(ctx context.Context, store *Store, agent, dir, node, records string, force bool) (err error) {
	if err := newFolder(ctx, store, agent, dir); err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(dir) // if nothing came into it
		}
	}()
	ctx, done := context.WithTimeout(ctx, pushTime)
	defer done()
	m := &mirror{dir: dir}
	_, err = store.Change(ctx, agent, 0, func(ctx context.Context, c *pgstore.Change) error { // all of the folder is there, or it is nobody's
		if a := c.Agent; a.Leased && !force {
			return fmt.Errorf("%w: %s was heard of within the last %s; adopt it later, or with --force, after which its folder is no longer the agent's", pgstore.ErrFenced, a.Owner, leaseTime)
		}
		if err := c.Since(0).Files(ctx, m.put); err != nil {
			return err
		}
		epoch, err := c.Take(ctx, ownerOf(node, dir), leaseTime)
		if err != nil {
			return err
		}
		return owning{Epoch: epoch, Written: c.Agent.Written, Adopted: true}.save(ownerRecord(records, agent, dir))
	})
	return err
}

// newFolder makes the folder for an agent of the store.
func newFolder(ctx context.Context, store *Store, agent, dir string) error {
	if _, err := store.Agent(ctx, agent); err != nil {
		return fmt.Errorf("agent %s: %w", agent, err)
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
	m, err := openAlone(ctx, conf, agent, dir, log, true)
	if err != nil {
		return err
	}
	record, err := os.CreateTemp("", "kioku-export-*.json")
	if err != nil {
		return errors.Join(err, m.Close())
	}
	defer os.Remove(record.Name())
	err = (&mirror{dir: dir, record: record.Name(), whole: true}).follow(ctx, store, m)
	return errors.Join(err, record.Close(), m.Close())
}

// Import brings the folder of an agent, and the vectors that were paid for, into the store. Until somebody serves the folder, or adopts the agent, it
// has no owner. The error is pgstore.ErrFenced if the agent has another folder.
func Import(ctx context.Context, store *Store, conf *config.Config, agent, dir string, log *slog.Logger) error {
	state, err := conf.StateDir()
	if err != nil {
		return err
	}
	m, err := openAlone(ctx, conf, agent, dir, log, false)
	if err != nil {
		return err
	}
	_, err = m.Sync(ctx, kioku.SyncOptions{}, nil)
	if err == nil {
		c := newCluster(store, pgstore.Node{Name: nodeName(state)}, filepath.Join(state, "cluster"), ClockOf(conf), log)
		o := c.share(m)
		if err = o.push(ctx, nil); err == nil {
			err = store.Release(ctx, agent, o.epoch.Load())
		}
		if errors.Is(err, pgstore.ErrFenced) {
			err = fmt.Errorf("%w; kioku cluster status tells which machine has it", pgstore.ErrFenced)
		}
	}
	return errors.Join(err, m.Close())
}

// openAlone opens the memory of a folder without serving it.
func openAlone(ctx context.Context, conf *config.Config, agent, dir string, log *slog.Logger, replica bool) (*Memory, error) {
	h := &Host{opt: Options{Conf: conf, Out: &render.Output{}, Log: log}}
	s, err := h.shared()
	if err != nil {
		return nil, err
	}
	return h.openMemory(ctx, config.Place{Agent: agent, Workspace: dir}, s, replica, "")
}

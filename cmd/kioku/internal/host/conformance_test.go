package host

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"kioku"
	"kioku/cmd/kioku/internal/host/hosttest"
	"kioku/pgstore/pgtest"
	"kioku/server"
	"kioku/store/storetest"
)

// One machine and the nodes of a cluster promise the same.
func TestClusterKeepsWhatOneMachinePromises(t *testing.T) {
	t.Parallel()
	indexIn := func(t testing.TB, state, agent string) func() string {
		return func() string {
			files, err := filepath.Glob(filepath.Join(state, "memory", agent+".sqlite"))
			if err != nil || len(files) != 1 {
				t.Fatalf("indexes of %s: %q, %v", agent, files, err)
			}
			return files[0]
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		hosttest.Run(t, func(t testing.TB, folder string) hosttest.Kept {
			state, agent := folder+".state", filepath.Base(folder)
			disk := storetest.NewDisk(t, state)
			m := testMemory(t, agent, folder, state, false)
			sync := func(ctx context.Context) error { _, err := m.Sync(ctx, kioku.SyncOptions{}, nil); return err }
			here := func(ctx context.Context) (server.Memory, error) { return m, sync(ctx) }
			return hosttest.Kept{
				Memory: here, Folder: here, Index: indexIn(t, state, agent), Sync: sync,
				Break: func(n int) { disk.FailAfter(n, syscall.EIO) }, Broken: disk.Broken,
				Close: func() { _ = m.Close() },
			}
		})
	})
	for _, kind := range []string{"owner", "another node"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			address := pgtest.New(t).Database("promises")
			hosttest.Run(t, func(t testing.TB, folder string) hosttest.Kept {
				state, agent, wire := folder+".state", filepath.Base(folder), &wire{}
				wire.Break(-1)
				a, b := testNodeIn(t, address, "a", state+"/a", wire.dial), testNodeIn(t, address, "b", state+"/b", wire.dial)
				m := testMemory(t, agent, folder, state, false)
				a.share(m)
				k := hosttest.Kept{
					Folder: func(ctx context.Context) (server.Memory, error) {
						_, failed := m.Sync(ctx, kioku.SyncOptions{}, nil) // as the watcher would
						at, err := a.Memory(ctx, agent)
						return at, errors.Join(failed, err)
					},
					Sync: func(ctx context.Context) error {
						_, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
						return errors.Join(err, a.owned[agent].push(ctx, nil), a.owned[agent].push(ctx, nil)) // a note that waited has its vector after the first
					},
					Break: wire.Break, Broken: wire.Broken,
					Close: func() { a.close(); b.close(); _ = m.Close() },
				}
				k.Memory, k.Index = k.Folder, indexIn(t, state, agent)
				if kind == "another node" {
					k.Memory = func(ctx context.Context) (server.Memory, error) { return b.Memory(ctx, agent) }
					k.Index = indexIn(t, filepath.Join(state, "b", "cluster", agent+stateOf), agent)
				}
				return k
			})
		})
	}
}

// wire carries what nodes and the database say to each other, until it breaks.
type wire struct{ left atomic.Int64 }

// Break has the n-th message from now on, and all later ones, not arrive; -1 mends it.
func (w *wire) Break(n int) { w.left.Store(int64(n)) }

// Broken reports whether it has broken.
func (w *wire) Broken() bool { return w.left.Load() == 0 }

// step returns an error once it has broken.
func (w *wire) step() error {
	for {
		switch left := w.left.Load(); {
		case left < 0:
			return nil
		case left == 0:
			return syscall.ECONNRESET
		case w.left.CompareAndSwap(left, left-1):
			return nil
		}
	}
}

// dial connects over the wire.
func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return wired{conn, w}, w.step()
}

type wired struct {
	net.Conn
	w *wire
}

func (c wired) Write(b []byte) (int, error) {
	if err := c.w.step(); err != nil {
		return 0, errors.Join(err, c.Close())
	}
	return c.Conn.Write(b)
}

func (c wired) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if broken := c.w.step(); broken != nil {
		return 0, errors.Join(broken, c.Close())
	}
	return n, err
}

package kioku

import (
	"context"
	"sync"
	"sync/atomic"

	"kioku/embed"
	"kioku/store"
)

// reopened is a client that is opened again from the recipe of the vectors of the index. Its model may take seconds to load, and
// much memory until it is closed.
type reopened struct {
	space  embed.Space                  // of the vectors
	load   sync.Once                    // sets client
	client atomic.Pointer[embed.Client] // nil before load, and if there can be none
	// users counts the searches that may use client, and retired is true if no other search gets it. Both are guarded by
	// generations.mu.
	users   int
	retired bool
}

// close closes the client. It waits for queries that are being embedded.
func (o *reopened) close() error {
	if c := o.client.Load(); c != nil {
		return c.Close()
	}
	return nil
}

// reopen returns a client that is opened with what the index knows of its vectors, nil if there can be none. It stays open until
// ctx is done. The first call for a space loads the model, and others for the space wait for it.
func (g *generations) reopen(ctx context.Context, stats store.Stats) *embed.Client {
	g.mu.Lock()
	if g.old == nil {
		g.old = &reopened{space: stats.Space}
	}
	o := g.old
	o.users++
	g.mu.Unlock()
	context.AfterFunc(ctx, func() { g.release(o) })
	o.load.Do(func() {
		c, err := g.open(stats.Recipe, stats.Space)
		if err != nil {
			g.log.Warn("queries cannot be embedded for the vectors of the index; searches use keywords until those of the provider are whole",
				"index", stats.Space.Name(), "provider", g.wanted.Space().Name(), "cause", err)
			return
		}
		o.client.Store(c)
	})
	return o.client.Load()
}

// release ends one use of a client, and closes it if that was the last.
func (g *generations) release(o *reopened) {
	g.mu.Lock()
	o.users--
	unused := o.retired && o.users == 0
	g.mu.Unlock()
	if unused {
		g.logClose(o)
	}
}

// retire has the reopened client closed after its last use if the index has vectors of another space than the client now.
func (g *generations) retire(space embed.Space) {
	g.mu.Lock()
	o := g.old
	if o == nil || o.space == space {
		g.mu.Unlock()
		return
	}
	o.retired, g.old = true, nil
	unused := o.users == 0
	g.mu.Unlock()
	if unused {
		g.logClose(o)
	}
}

// logClose closes a client that no caller waits for.
func (g *generations) logClose(o *reopened) {
	if err := o.close(); err != nil {
		g.log.Warn("close the model of the vectors before", "model", o.space.Name(), "err", err)
	}
}

// close closes the reopened client. No search is under way.
func (g *generations) close() error {
	g.mu.Lock()
	o := g.old
	g.old = nil
	g.mu.Unlock()
	if o == nil {
		return nil
	}
	return o.close()
}

// Package atlas draws a memory as a map: its chunks as points of a plane, those about the same near each other, in clusters that
// are named by their words.
//
// The steps are those of UMAP (McInnes, Healy, Melville: UMAP, arXiv:1802.03426, 2018): principal components, a graph of nearest
// neighbors, a layout of it by stochastic gradient descent with negative samples. The same input gives the same picture on every
// machine with the same floating-point arithmetic, unless the time budget ends the layout earlier.
package atlas

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// MaxPoints is the maximum number of points of a map.
	MaxPoints = 20_000
	// restFactor is how many times as long as a map took to make nothing is drawn after it, so that an agent that writes all the
	// time costs a small part of a core.
	restFactor = 10
)

// Chunk is a chunk to draw.
type Chunk struct {
	// MapPoint is its file, lines, headings and day; its place and its cluster are not set.
	memory.MapPoint
	// ID of the chunk in its snapshot.
	ID int64
	// Key is the same for the same text of the same file in all snapshots.
	Key uint64
}

// Rows reads one snapshot of an index.
type Rows interface {
	// Chunks returns all chunks that searches find, in the order of the files and lines, and their files.
	Chunks(ctx context.Context) ([]Chunk, []memory.MapFile, error)
	// Vectors calls each with the vectors of the chunks that at contains by id, in any order, and what at contains for the
	// chunk. The vector must not be kept.
	Vectors(ctx context.Context, at map[int64]int, each func(i int, vector []float32)) error
	// Texts calls each with the language and the text of the chunks with ids, in their order, and with the index of the id. An
	// error of each ends it.
	Texts(ctx context.Context, ids []int64, each func(i int, language analysis.Language, text string) error) error
}

// State identifies what a map is drawn of.
type State struct {
	// Index is the id of the index.
	Index uint64
	// Generation is the number of its changes.
	Generation int64
}

// Options of an Atlas; all are required.
type Options struct {
	// Read calls f with a snapshot of the index.
	Read func(ctx context.Context, f func(Rows) error) error
	// Begin calls work on a goroutine of its own, with a context that ends when the memory is closed.
	Begin func(ctx context.Context, work func(context.Context))
	// Now is the clock.
	Now func() time.Time
	// Log gets the causes of errors.
	Log *slog.Logger
}

// Atlas makes the map of a memory in the background and keeps the last one.
type Atlas struct {
	opt Options

	mu sync.Mutex
	// drawn is the last map, nil before the first; guarded by mu. A drawing never changes.
	drawn *drawing
	// running reports that a map is being made; phase and progress say how far it is; guarded by mu.
	running  bool
	phase    string
	progress float64
	// err is why the last try has failed, at the state triedAt; guarded by mu.
	err     error
	triedAt State
	// restUntil is when the next map may be begun; guarded by mu.
	restUntil time.Time
}

// New returns an Atlas without a map.
func New(opt Options) *Atlas { return &Atlas{opt: opt} }

// Map returns the map as far as there is one, and has a newer one made in the background if the index is in another state, unless
// the last one is younger than ten times what it took. It does not wait for it.
func (a *Atlas) Map(ctx context.Context, q memory.MapQuery, now State) memory.Map {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mayBegin(now) {
		a.running, a.phase, a.progress, a.err, a.triedAt = true, phaseReading, 0, nil, now
		before := a.drawn
		a.opt.Begin(ctx, func(ctx context.Context) { a.makeMap(ctx, now, before) })
	}
	out := memory.Map{Computing: a.running, Phase: a.phase, Progress: a.progress, Err: a.err}
	if a.drawn != nil {
		a.drawn.fill(&out, q)
	}
	return out
}

// mayBegin reports whether a map of a state should be begun. mu is locked.
func (a *Atlas) mayBegin(now State) bool {
	switch {
	case a.running, a.err != nil && a.triedAt == now, a.drawn != nil && a.drawn.state == now:
		return false
	}
	return a.drawn == nil && a.err == nil || !a.opt.Now().Before(a.restUntil)
}

// report sets how far the map is.
func (a *Atlas) report(phase string, progress float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.phase, a.progress = phase, progress
}

// makeMap makes a map and keeps it, or the error.
func (a *Atlas) makeMap(ctx context.Context, now State, before *drawing) {
	begin := time.Now()
	drawn, err := a.tryDraw(ctx, before)
	took := time.Since(begin)
	if err != nil && ctx.Err() == nil {
		a.opt.Log.Error("make the map", "err", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running, a.phase, a.progress, a.err = false, "", 0, err
	a.restUntil = a.opt.Now().Add(restFactor * took)
	if err == nil {
		drawn.state, drawn.took = now, took
		a.drawn = drawn
	}
}

// tryDraw draws a map; a panic is an error.
func (a *Atlas) tryDraw(ctx context.Context, before *drawing) (drawn *drawing, err error) {
	defer func() {
		if v := recover(); v != nil {
			a.opt.Log.Error("panic while the map was made", "panic", v, "stack", string(debug.Stack()))
			drawn, err = nil, errors.New("internal error while the map was made (see the log)")
		}
	}()
	return a.draw(ctx, before)
}

package kioku

import (
	"context"
	"time"
)

// closingProbes is how long somebody who closes a memory waits for the probes. A test raises it.
var closingProbes = 2 * time.Second

// closingChunks is the maximum number of chunks of an index whose probes are asked then: those of a larger one take longer.
const closingChunks = 20_000

// Calibrate asks the probes of the index if it has changed much since they were asked last, so that searches know what a low
// score is worth in this folder; see search.Calibration. A watch and syncs in the background do so by themselves, and a memory
// that has answered a search does when it is closed. A search never waits for it.
func (m *Memory) Calibrate(ctx context.Context) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	ctx, cancel := m.untilClose(ctx)
	defer cancel()
	return m.askProbes(ctx, true)
}

// askProbes is Calibrate within a call, by words only if not vectors. Only one call does so at a time; others return at once.
func (m *Memory) askProbes(ctx context.Context, vectors bool) error {
	if m.opt.Mode != Own || !m.calibrating.CompareAndSwap(false, true) {
		return nil
	}
	defer m.calibrating.Store(false)
	// Without the values of ctx: the probes take their turns as a client of their own, not as the client whose query began the sync.
	own, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	c, ok, err := m.searcher.Load().Calibrate(own, vectors)
	if err == nil && ok {
		err = m.store.RecordCalibration(own, c)
	}
	return err
}

// calibrate is askProbes with vectors for the background. Searches need no calibration, so an error is logged.
func (m *Memory) calibrate(ctx context.Context) {
	m.logProbes(ctx, m.askProbes(ctx, true))
}

// logProbes logs an error of askProbes, unless ctx has ended it.
func (m *Memory) logProbes(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		m.log.Warn("ask the probes of the index", "err", err)
	}
}

// calibrateAtClose asks the probes by words for a process that has answered a search and ends, unless the index is large.
func (m *Memory) calibrateAtClose() {
	if !m.searched.Load() || m.opt.Daemon {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closingProbes)
	defer cancel()
	if stats, err := m.store.Stats(ctx); err == nil && stats.Chunks <= closingChunks {
		m.logProbes(ctx, m.askProbes(ctx, false))
	}
}

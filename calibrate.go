package kioku

import (
	"context"
	"time"
)

// Limits of the calibration of an index when a memory is closed, for which whoever closes it waits.
const (
	closingProbes = 2 * time.Second
	// closingChunks is the maximum number of chunks of such an index: the probes of a larger one take longer.
	closingChunks = 20_000
)

// calibrate asks the probes of the index if it has changed much since they were asked last, so that searches know what a low
// score is worth in this folder. Only one call does so at a time. Searches need no calibration, so an error is logged.
func (m *Memory) calibrate(ctx context.Context) {
	if m.opt.Mode != Own || !m.calibrating.CompareAndSwap(false, true) {
		return
	}
	defer m.calibrating.Store(false)
	m.uncalibrated.Store(false)
	// Without the values of ctx: the probes take their turns as a client of their own, not as the client whose query began the sync.
	own, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	c, ok, err := m.searcher.Load().Calibrate(own)
	if err == nil && ok {
		err = m.store.RecordCalibration(own, c)
	}
	if err != nil && ctx.Err() == nil {
		m.log.Warn("ask the probes of the index", "err", err)
	}
}

// calibrateAtClose is calibrate for a process that has answered one query and ends: its sync did not keep the query waiting.
func (m *Memory) calibrateAtClose() {
	if !m.uncalibrated.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closingProbes)
	defer cancel()
	if stats, err := m.store.Stats(ctx); err == nil && stats.Chunks <= closingChunks {
		m.calibrate(ctx)
	}
}

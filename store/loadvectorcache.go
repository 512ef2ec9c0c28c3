package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"kioku/store/vector"
)

// holdVectors reads the vectors into memory where that is due. A failure is logged: chunks_vec answers without.
func (s *Store) holdVectors(ctx context.Context) {
	h := s.held
	holds := h.share.Use()
	if holds && h.missed.Load() == 0 || !h.asked.Swap(true) || !h.loading.TryLock() {
		return
	}
	defer h.loading.Unlock()
	if err := s.loadVectors(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("hold vectors in memory; they are searched on disk", "err", err)
		h.asked.Store(false)
	}
}

// loadVectors reads the vectors of a snapshot and adds what was committed meanwhile.
func (s *Store) loadVectors(ctx context.Context) error {
	h := s.held
	h.recording(true)
	defer h.recording(false)
	tx, m, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if missed := h.missed.Load(); missed != 0 && missed != m.generation {
		h.missed.Store(m.generation) // another process is writing; what is read now would be old at the next query
		return nil
	}
	if m.space.IsZero() || m.embedded == 0 {
		return nil
	}
	h.states.Store(nil)
	if !h.share.Hold(vector.Footprint(m.embedded, m.space.Dims)) {
		return nil
	}
	table, err := readVectors(ctx, tx, m)
	if err != nil {
		h.drop()
		return err
	}
	h.catchUp(&states{table, []state{{m.generation, table.Slab()}}})
	return nil
}

// recording begins and ends noting commits.
func (h *held) recording(on bool) {
	h.applying.Lock()
	defer h.applying.Unlock()
	h.record, h.since = on, nil
}

// catchUp publishes vectors that were read, with the commits since.
func (h *held) catchUp(s *states) {
	h.applying.Lock()
	defer h.applying.Unlock()
	for _, ch := range h.since {
		if s = s.apply(ch); s == nil {
			break
		}
	}
	h.missed.Store(0)
	h.publish(s)
}

// selectBlocks reads vec0's own tables, which is a hundred times as fast as its rows: of each block a bit a row that
// says whether it is in use, the rows' ids, and their vectors. The column rowid of the latter has no index; _rowid_ needs
// none. CROSS JOIN keeps SQLite from sorting blocks of megabytes.
const selectBlocks = `SELECT c.validity, c.rowids, v.vectors FROM chunks_vec_chunks c
	CROSS JOIN chunks_vec_vector_chunks00 v ON v._rowid_ = c.chunk_id`

// readVectors reads chunks_vec whole. It returns an error where it does not hold what meta says.
func readVectors(ctx context.Context, q queryer, m meta) (*vector.Table, error) {
	rows, err := q.QueryContext(ctx, selectBlocks)
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	defer rows.Close()
	table := vector.NewTable(m.space.Dims, m.embedded)
	for rows.Next() {
		var validity, ids, vectors sql.RawBytes
		if err := rows.Scan(&validity, &ids, &vectors); err != nil {
			return nil, fmt.Errorf("read vectors: %w", err)
		}
		if err := addBlock(table, m.space.Dims, validity, ids, vectors); err != nil {
			return nil, fmt.Errorf("read vectors: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	if table.Len() != m.embedded {
		return nil, fmt.Errorf("read vectors: %d are there, %d were written", table.Len(), m.embedded)
	}
	return table, nil
}

// errBlock: a block of vec0 is not laid out as this program knows it.
var errBlock = errors.New("unknown layout of chunks_vec")

// addBlock puts the rows of one block of vec0 into a table.
func addBlock(table *vector.Table, dims int, validity, ids, vectors []byte) error {
	n := len(ids) / 8
	if len(validity)*8 < n || len(vectors) != n*4*dims {
		return errBlock
	}
	row := make([]float32, dims)
	for i := range n {
		if validity[i/8]>>(i%8)&1 == 0 {
			continue
		}
		decodeInto(row, vectors[i*4*dims:])
		if err := table.Put(int64(binary.LittleEndian.Uint64(ids[8*i:])), row); err != nil {
			return err
		}
	}
	return nil
}

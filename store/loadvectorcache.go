package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"kioku/store/vector"
)

// loadVectorCache loads the vectors if a query needs them and they are not cached. It returns an error of damage,
// and logs any other; then chunks_vec answers.
func (x *index) loadVectorCache(ctx context.Context) error {
	c := x.vectors
	cached := c.share.Use()
	if cached && c.missed.Load() == 0 || !c.queried.Swap(true) || !c.loadMu.TryLock() {
		return nil
	}
	defer c.loadMu.Unlock()
	err := x.fillVectorCache(ctx)
	if isDamage(err) {
		return err
	}
	if err != nil && ctx.Err() == nil {
		x.log.Warn("hold vectors in memory; they are searched on disk", "err", err)
		c.queried.Store(false)
	}
	return nil
}

// fillVectorCache loads the vectors of a snapshot and applies the commits that were made meanwhile.
func (x *index) fillVectorCache(ctx context.Context) error {
	c := x.vectors
	c.setRecording(true)
	defer c.setRecording(false)
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if missed := c.missed.Load(); missed != 0 && missed != m.generation {
		c.missed.Store(m.generation) // another process is writing: the vectors would be outdated at the next query
		return nil
	}
	if m.space.IsZero() || m.embedded == 0 {
		return nil
	}
	c.generations.Store(nil)
	if !c.share.Hold(vector.Footprint(m.embedded, m.space.Dims)) {
		return nil
	}
	table, err := readVectorTable(ctx, tx, m)
	if err != nil {
		c.clear()
		return err
	}
	c.catchUp(&vectorGenerations{table, []vectorGeneration{{m.generation, table.Slab()}}})
	return nil
}

// setRecording starts or ends the recording of commits.
func (c *vectorCache) setRecording(on bool) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	c.recording, c.recorded = on, nil
}

// catchUp applies the recorded commits to vectors that were loaded, and publishes them.
func (c *vectorCache) catchUp(g *vectorGenerations) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	for _, change := range c.recorded {
		if g = g.apply(change); g == nil {
			break
		}
	}
	c.missed.Store(0)
	c.publish(g)
}

// selectBlocks reads the tables of vec0, which is a hundred times as fast as reading rows: for each block a bitmap of the rows
// in use, the ids of the rows, and their vectors. The column rowid of the last table has no index; _rowid_ needs none. CROSS
// JOIN keeps SQLite from sorting blocks of megabytes.
const selectBlocks = `SELECT c.validity, c.rowids, v.vectors FROM chunks_vec_chunks c
	CROSS JOIN chunks_vec_vector_chunks00 v ON v._rowid_ = c.chunk_id`

// readVectorTable reads the whole of chunks_vec. It returns an error if the number of vectors is not that of meta.
func readVectorTable(ctx context.Context, q queryer, m meta) (*vector.Table, error) {
	table := vector.NewTable(m.space.Dims, m.embedded)
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var validity, ids, vectors sql.RawBytes
		if err := rows.Scan(&validity, &ids, &vectors); err != nil {
			return err
		}
		if err := addBlock(table, m.space.Dims, validity, ids, vectors); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		return nil
	}, selectBlocks)
	if err == nil && table.Len() != m.embedded {
		err = fmt.Errorf("%w: %d are there, %d were written", errDamaged, table.Len(), m.embedded)
	}
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	return table, nil
}

// errBlockLayout: the layout of a block of vec0 is unknown.
var errBlockLayout = errors.New("unknown layout of chunks_vec")

// addBlock adds the rows of one block of vec0 to a table.
func addBlock(table *vector.Table, dims int, validity, ids, vectors []byte) error {
	n := len(ids) / 8
	if len(validity)*8 < n || len(vectors) != n*4*dims {
		return errBlockLayout
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

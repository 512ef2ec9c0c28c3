package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"

	"kioku/embed"
	"kioku/memory"
	"kioku/search"
	"kioku/store/vector"
)

// Nearest implements search.Reader.
func (v *view) Nearest(ctx context.Context, query []float32, f memory.Filter, k int) ([]search.Neighbor, search.Spread, error) {
	if v.meta.space.IsZero() || len(query) != v.meta.space.Dims || k <= 0 {
		return nil, search.Spread{}, nil
	}
	if err := embed.Check(query, 0); err != nil {
		return nil, search.Spread{}, fmt.Errorf("nearest: %w", err)
	}
	var allow *vector.IDs
	if v.isFiltered(f) {
		ids, err := v.allowedIDs(ctx, f)
		if err != nil {
			return nil, search.Spread{}, fmt.Errorf("nearest: %w", err)
		}
		allow = vector.NewIDs(slices.Clone(ids))
	}
	var rows []vector.Neighbor
	var spread vector.Spread
	var err error
	if v.slab != nil {
		if spread, err = v.slab.Spread(query); err == nil {
			rows, err = v.slab.Nearest(query, k, allow)
		}
	} else {
		rows, spread, err = v.nearestOnDisk(ctx, query, k, allow)
	}
	if err != nil {
		return nil, search.Spread{}, err
	}
	near := make([]search.Neighbor, len(rows))
	for i, n := range rows {
		near[i] = search.Neighbor(n)
	}
	return near, search.Spread(spread), nil
}

// nearestOnDisk reads all vectors once. It reads the tables of vec0 and does not ask vec0, whose answer takes as long and tells
// nothing of the spread.
func (v *view) nearestOnDisk(ctx context.Context, query []float32, k int, allow *vector.IDs) ([]vector.Neighbor, vector.Spread, error) {
	stream, err := vector.NewStream(query, k, v.meta.embedded, allow)
	if err != nil {
		return nil, vector.Spread{}, err
	}
	if err := forEachVector(ctx, v.vectorsTx, v.meta, stream.Add); err != nil {
		return nil, vector.Spread{}, fmt.Errorf("nearest: %w", err)
	}
	return stream.Nearest(), stream.Spread(), nil
}

// selectBlocks reads the tables of vec0, which is a hundred times as fast as reading rows: for each block a bitmap of the rows
// in use, the ids of the rows, and their vectors. The column rowid of the last table has no index; _rowid_ needs none. CROSS
// JOIN keeps SQLite from sorting blocks of megabytes.
const selectBlocks = `SELECT c.validity, c.rowids, v.vectors FROM chunks_vec_chunks c
	CROSS JOIN chunks_vec_vector_chunks00 v ON v._rowid_ = c.chunk_id`

// forEachVector calls f with each vector of chunks_vec, which f must not keep. It returns an error of damage if their number is
// not that of meta, or if f refuses one.
func forEachVector(ctx context.Context, q queryer, m meta, f func(id int64, vector []float32) error) error {
	n := 0
	row := make([]float32, m.space.Dims)
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var validity, ids, vectors sql.RawBytes
		if err := rows.Scan(&validity, &ids, &vectors); err != nil {
			return err
		}
		added, err := eachOfBlock(row, validity, ids, vectors, f)
		if n += added; err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		return nil
	}, selectBlocks)
	if err == nil && n != m.embedded {
		err = fmt.Errorf("%w: %d are there, %d were written", errDamaged, n, m.embedded)
	}
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	return nil
}

// eachOfBlock calls f with each vector of one block of vec0, all in the same slice, and returns how many there are.
func eachOfBlock(row []float32, validity, ids, vectors []byte, f func(int64, []float32) error) (int, error) {
	n, dims, used := len(ids)/8, len(row), 0
	if len(validity)*8 < n || len(vectors) != n*4*dims {
		return 0, errBlockLayout
	}
	for i := range n {
		if validity[i/8]>>(i%8)&1 == 0 {
			continue
		}
		used++
		decodeInto(row, vectors[i*4*dims:])
		if err := f(int64(binary.LittleEndian.Uint64(ids[8*i:])), row); err != nil {
			return used, err
		}
	}
	return used, nil
}

package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kioku/embed"
)

const (
	// vecRows is how many rows one shadow chunk of vec0 holds. To write or read a row SQLite follows the pages of its chunk
	// one by one, so an eighth of vec0's own 1024 makes inserts 1.6 times as fast, and searches no slower.
	vecRows = 128
	// vecSlack is how many shadow chunks more than the live rows need are let be before chunks_vec is compacted.
	vecSlack = 16
	// maxNeighbors is the largest k that vec0 answers.
	maxNeighbors = 4096

	// selectCounts counts the rows of chunks_vec, and the blocks that are missing or not as long as they must be. The
	// length of a blob is known without reading it.
	selectCounts = `SELECT (SELECT count(*) FROM chunks_vec_rowids), (SELECT count(*) FROM chunks_vec_chunks c
		LEFT JOIN chunks_vec_vector_chunks00 v ON v._rowid_ = c.chunk_id WHERE length(c.validity) * 8 < c.size
		OR length(c.rowids) <> c.size * 8 OR length(v.vectors) IS NOT c.size * 4 * ?)`

	insertVector = "INSERT INTO chunks_vec (rowid, embedding) VALUES (?, ?)"
)

// createVectors makes an empty chunks_vec for a space, in the place of the one that is there.
func createVectors(ctx context.Context, tx *sql.Tx, space embed.Space) error {
	if err := dropVectors(ctx, tx); err != nil {
		return err
	}
	// A table's definition takes no placeholders; both are numbers.
	stmt := fmt.Sprintf("CREATE VIRTUAL TABLE chunks_vec USING vec0 (embedding float[%d] distance_metric=cosine, chunk_size=%d)",
		space.Dims, vecRows)
	if _, err := tx.ExecContext(ctx, stmt); err != nil {
		return fmt.Errorf("create chunks_vec for %d dimensions: %w", space.Dims, err)
	}
	return nil
}

// countVectors returns the rows of chunks_vec: 0 where there is no space, -1 where its tables do not hold together.
func countVectors(ctx context.Context, q queryer, space embed.Space) (int, error) {
	if space.IsZero() {
		return 0, nil
	}
	var whole bool
	if err := q.QueryRowContext(ctx, selectWhole).Scan(&whole); err != nil {
		return 0, fmt.Errorf("look for chunks_vec: %w", err)
	}
	if !whole {
		return -1, nil
	}
	var n, damaged int
	if err := q.QueryRowContext(ctx, selectCounts, space.Dims).Scan(&n, &damaged); err != nil {
		return 0, fmt.Errorf("count vectors: %w", err)
	}
	if damaged > 0 {
		return -1, nil
	}
	return n, nil
}

// tidy keeps the file small after a change: vec0 never gives the room of deleted rows back, and the cache is bounded.
func (s *Store) tidy(ctx context.Context) error {
	m, err := readMeta(ctx, s.db.readers)
	if err != nil || m.space.IsZero() {
		return err
	}
	var shadow int
	if err := s.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM chunks_vec_chunks").Scan(&shadow); err != nil {
		return fmt.Errorf("count shadow chunks: %w", err)
	}
	if shadow > (m.embedded+vecRows-1)/vecRows+vecSlack {
		err := s.compactVectors(ctx, m.space)
		if errors.Is(err, errVectors) {
			err = s.resetVectors(ctx, err)
		}
		if err != nil {
			return err
		}
	}
	return s.evict(ctx, m)
}

// compactVectors writes chunks_vec anew with its live rows alone.
func (s *Store) compactVectors(ctx context.Context, space embed.Space) error {
	return s.write(ctx, func(tx *sql.Tx, _ *change) error {
		if _, err := tx.ExecContext(ctx, "CREATE TEMP TABLE live AS SELECT rowid AS id, embedding FROM chunks_vec"); err != nil {
			return fmt.Errorf("compact vectors: %w", vectorError(err))
		}
		if err := createVectors(ctx, tx, space); err != nil {
			return err
		}
		for _, stmt := range []string{
			"INSERT INTO chunks_vec (rowid, embedding) SELECT id, embedding FROM live ORDER BY id",
			"DROP TABLE live",
		} {
			if _, err := tx.ExecContext(ctx, stmt); err != nil {
				return fmt.Errorf("compact vectors: %w", err)
			}
		}
		return nil
	})
}

// encodeVector returns a vector as vec0 and the cache hold it: float32, little-endian.
func encodeVector(v []float32) []byte {
	b := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(x))
	}
	return b
}

// decodeVector is the inverse of encodeVector; a trailing part of a number is dropped.
func decodeVector(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	decodeInto(v, b)
	return v
}

// decodeInto fills v with the first numbers of b.
func decodeInto(v []float32, b []byte) {
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

package store

import (
	"context"
	"database/sql"
	"fmt"

	"kioku/embed"
	"kioku/indexer"
)

const (
	// salvageRows is the number of ids that are read and written at a time.
	salvageRows = 256
	// salvageGap is the number of ranges in a row of which nothing can be read after which salvage gives up, if the last id
	// cannot be read.
	salvageGap = 32

	// salvageCached and salvageIndexed read the vectors of a range of ids from an index that was set aside. Those with suffix Old
	// read from an index of a schema before windows, whose checksums are of the vector.
	salvageCached = `SELECT provider, model, dims, endpoint, sha256, vector, windows, checksum FROM embedding_cache
		WHERE id BETWEEN ? AND ? AND input = 'document'`
	salvageIndexed = `SELECT m.space_provider, m.space_model, m.space_dims, m.space_endpoint, c.sha256, v.embedding, w.codes, c.checksum
		FROM chunks c CROSS JOIN meta m CROSS JOIN chunks_vec v ON v.rowid = c.id LEFT JOIN windows w ON w.chunk = c.id
		WHERE c.id BETWEEN ? AND ? AND c.checksum IS NOT NULL`
	salvageCachedOld = `SELECT provider, model, dims, endpoint, sha256, vector, NULL, checksum FROM embedding_cache
		WHERE id BETWEEN ? AND ? AND input = 'document'`
	salvageIndexedOld = `SELECT m.space_provider, m.space_model, m.space_dims, m.space_endpoint, c.sha256, v.embedding, NULL, c.checksum
		FROM chunks c CROSS JOIN meta m CROSS JOIN chunks_vec v ON v.rowid = c.id
		WHERE c.id BETWEEN ? AND ? AND c.checksum IS NOT NULL`

	// insertSalvaged caches a vector, unless the index has it.
	insertSalvaged = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, windows, checksum, used)
		SELECT ?1, ?2, ?3, ?4, 'document', ?5, ?6, ?7, ?8, ?9
		WHERE NOT EXISTS (SELECT 1 FROM meta m CROSS JOIN chunks c WHERE c.sha256 = ?5 AND c.checksum IS NOT NULL
			AND m.space_provider = ?1 AND m.space_model = ?2 AND m.space_dims = ?3 AND m.space_endpoint = ?4)
		ON CONFLICT DO NOTHING`
)

// salvagedVector is a vector of an index that was set aside. Its checksum held.
type salvagedVector struct {
	storedVector
	space embed.Space
	hash  indexer.Hash
}

// salvage copies the vectors of the indexes that were set aside to the cache, as far as they can be read and their checksums
// hold, and the answers of models to theirs. It does nothing if there are none.
func (s *Store) salvage(ctx context.Context) error {
	s.salvageMu.Lock()
	defer s.salvageMu.Unlock()
	for _, name := range unsalvaged(s.path) {
		if s.salvaged[name] {
			continue
		}
		n, err := s.salvageFrom(ctx, name)
		if err != nil {
			return fmt.Errorf("salvage vectors: %w", err)
		}
		if n > 0 {
			s.opt.Log.Info("vectors of the index before were salvaged", "path", name, "vectors", n)
		}
		s.salvaged[name] = true
	}
	if err := s.retireSalvaged(); err != nil {
		s.opt.Log.Warn("a salvaged index keeps its name and is salvaged again after a restart", "path", s.path, "err", err)
	}
	return nil
}

// retireSalvaged retires the salvaged indexes, except one that still answers searches.
func (s *Store) retireSalvaged() error {
	for name := range s.salvaged {
		if d := s.indexes.Load().damaged; d != nil && d.db.path == name {
			continue
		}
		if err := retire(s.path, name, s.opt.Now()); err != nil {
			return fmt.Errorf("set a salvaged index aside: %w", err)
		}
		delete(s.salvaged, name)
	}
	return nil
}

// salvageFrom copies the vectors of one index to the cache, and returns how many. It copies the answers of models too. Errors of reading are not returned: what
// cannot be read is embedded again.
func (s *Store) salvageFrom(ctx context.Context, name string) (int, error) {
	x := s.openAside(name)
	if x == nil {
		return 0, nil
	}
	defer x.close()
	if err := s.salvageAnswers(ctx, x); err != nil {
		return 0, err
	}
	windows, err := x.hasWindows(ctx)
	if err != nil { // without the schema, thousands of ranges would each open connections in vain
		return 0, ctx.Err()
	}
	cached, indexed := salvageCached, salvageIndexed
	if !windows {
		cached, indexed = salvageCachedOld, salvageIndexedOld
	}
	n, err := s.salvageTable(ctx, x, cached, "SELECT max(id) FROM embedding_cache")
	if err != nil || !x.hasVectors(ctx) {
		return n, err
	}
	found, err := s.salvageTable(ctx, x, indexed, "SELECT max(id) FROM chunks")
	return n + found, err
}

// salvageTable copies the vectors that a query reads, range by range up to the last id, and returns how many. If the last id
// cannot be read, the table counts as ended where ranges can no longer be read.
func (s *Store) salvageTable(ctx context.Context, x *index, query, lastID string) (int, error) {
	last, known := x.lastID(ctx, lastID)
	n, unread := 0, 0
	for first := int64(1); first <= last && (known || unread < salvageGap); first += salvageRows {
		found, readable := x.readVectors(ctx, query, first, min(first+salvageRows-1, last))
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if err := s.cacheSalvaged(ctx, found); err != nil {
			return n, err
		}
		n += len(found)
		if unread++; readable {
			unread = 0
		}
	}
	return n, nil
}

// hasVectors reports whether all tables of chunks_vec exist: vec0 crashes the process if one is missing.
func (x *index) hasVectors(ctx context.Context) bool {
	var intact bool
	err := x.db.readers.QueryRowContext(ctx, selectIntact).Scan(&intact)
	return err == nil && intact
}

// hasWindows reports whether the schema of an index has windows. It returns an error if the schema cannot be read; then no vector can.
func (x *index) hasWindows(ctx context.Context) (has bool, err error) {
	err = x.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = 'windows'").Scan(&has)
	return has, err
}

// lastID returns the largest id of a table. If the end of the table cannot be read, known is false and last is the number of
// rows that fit into the file, which is larger.
func (x *index) lastID(ctx context.Context, query string) (last int64, known bool) {
	var id sql.NullInt64
	if err := x.db.readers.QueryRowContext(ctx, query).Scan(&id); err == nil {
		return id.Int64, true
	}
	const smallestRow = 64
	return x.db.info.Size() / smallestRow, false
}

// readVectors reads the vectors of a range of ids. If that fails, it reads them one by one, and leaves out those that cannot
// be read. readable is false if it can read nothing.
func (x *index) readVectors(ctx context.Context, query string, first, last int64) (found []salvagedVector, readable bool) {
	found, err := x.scanVectors(ctx, query, first, last)
	if err == nil {
		return found, true
	}
	found = nil
	for id := first; id <= last && ctx.Err() == nil; id++ {
		if one, err := x.scanVectors(ctx, query, id, id); err == nil {
			found, readable = append(found, one...), true
		}
	}
	return found, readable
}

// scanVectors reads the vectors of a range of ids, without those whose checksum does not hold.
func (x *index) scanVectors(ctx context.Context, query string, first, last int64) ([]salvagedVector, error) {
	var found []salvagedVector
	err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
		var v salvagedVector
		var hash sql.RawBytes
		var sum uint32
		err := rows.Scan(&v.space.Provider, &v.space.Model, &v.space.Dims, &v.space.Endpoint, &hash, &v.vector, &v.windows, &sum)
		if err != nil {
			return err
		}
		if v.hash, err = hashOf(hash); err != nil {
			return err
		}
		if v.intact(sum, v.space.Dims) {
			if !embed.HasCurrentWindows(v.windows) {
				v.windows = nil
			}
			found = append(found, v)
		}
		return nil
	}, query, first, last)
	return found, err
}

// cacheSalvaged writes salvaged vectors to the cache.
func (s *Store) cacheSalvaged(ctx context.Context, vectors []salvagedVector) error {
	if len(vectors) == 0 {
		return nil
	}
	_, err := use(ctx, s, func(x *index) (struct{}, error) {
		x.attachedSpace.Store(nil)
		return struct{}{}, inTx(ctx, x.db.writer, func(tx *sql.Tx) error {
			for _, v := range vectors {
				_, err := tx.ExecContext(ctx, insertSalvaged, append(spaceArgs(v.space),
					v.hash[:], v.vector, v.windowsValue(), v.checksum(), s.opt.Now().Unix())...)
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	return err
}

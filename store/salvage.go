package store

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"

	"kioku/embed"
	"kioku/vectors"
)

const (
	// salvageRows is the number of ids that are read and written at a time.
	salvageRows = 256
	// salvageGap is the number of ranges in a row of which nothing can be read after which a table counts as ended, if its last id cannot
	// be read.
	salvageGap = 32

	// legacyCached and legacyIndexed read the vectors of an index of a schema before 15, which had them itself, with the text of a
	// chunk that has them. The checksum is of the vector and its windows.
	legacyCached = `SELECT e.provider, e.model, e.dims, e.endpoint, e.sha256, e.vector, e.windows, e.checksum,
		(SELECT c.text FROM chunks c WHERE c.sha256 = e.sha256 LIMIT 1) FROM embedding_cache e WHERE e.id BETWEEN ? AND ?`
	legacyIndexed = `SELECT m.space_provider, m.space_model, m.space_dims, m.space_endpoint, c.sha256, v.embedding, w.codes, c.checksum, c.text
		FROM chunks c CROSS JOIN meta m CROSS JOIN chunks_vec v ON v.rowid = c.id LEFT JOIN windows w ON w.chunk = c.id
		WHERE c.id BETWEEN ? AND ? AND c.checksum IS NOT NULL`
)

// castagnoli is the polynomial of the checksums of vectors.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// salvage reads what was paid for from the indexes that were set aside: the answers of models, and the vectors of an index of an earlier
// schema. What cannot be read is left out. It does nothing if there are none.
func (s *Store) salvage(ctx context.Context) error {
	s.salvageMu.Lock()
	defer s.salvageMu.Unlock()
	for _, name := range unsalvaged(s.path) {
		if s.salvaged[name] {
			continue
		}
		if err := s.salvageFrom(ctx, name); err != nil {
			return fmt.Errorf("salvage: %w", err)
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

// salvageFrom reads one index that was set aside.
func (s *Store) salvageFrom(ctx context.Context, name string) error {
	x := s.openAside(name)
	if x == nil {
		return nil
	}
	defer x.close()
	if s.opt.Adopt != nil {
		if err := s.opt.Adopt(ctx, name); err != nil {
			return err
		}
	}
	var legacy bool
	err := x.db.readers.QueryRowContext(ctx, `SELECT count(*) = 2 FROM sqlite_master WHERE name IN ('embedding_cache', 'windows')`).Scan(&legacy)
	if err != nil || !legacy {
		return ctx.Err()
	}
	n, err := s.importLegacy(ctx, x, legacyCached, "SELECT max(id) FROM embedding_cache")
	if err == nil && x.hasVectors(ctx) {
		var found int
		found, err = s.importLegacy(ctx, x, legacyIndexed, "SELECT max(id) FROM chunks")
		n += found
	}
	if n > 0 {
		s.opt.Log.Info("the vectors of the index before are in the cache of embeddings", "path", name, "vectors", n)
	}
	return err
}

// hasVectors reports whether all tables of chunks_vec exist: vec0 crashes the process if one is missing.
func (x *index) hasVectors(ctx context.Context) bool {
	var intact bool
	err := x.db.readers.QueryRowContext(ctx, selectIntact).Scan(&intact)
	return err == nil && intact
}

// lastID returns the largest id of a table. If the end of the table cannot be read, known is false and last is the number of rows that fit
// into the file, which is larger.
func (x *index) lastID(ctx context.Context, query string) (last int64, known bool) {
	var id sql.NullInt64
	if err := x.db.readers.QueryRowContext(ctx, query).Scan(&id); err == nil {
		return id.Int64, true
	}
	const smallestRow = 64
	return x.db.info.Size() / smallestRow, false
}

// importLegacy copies the vectors that a query reads to the cache, range by range, and returns how many. A range that cannot be read is left
// out.
func (s *Store) importLegacy(ctx context.Context, x *index, query, lastID string) (int, error) {
	last, known := x.lastID(ctx, lastID)
	n := 0
	for first, unread := int64(1), 0; first <= last && (known || unread < salvageGap); first += salvageRows {
		found := map[embed.Space][]vectors.Whole{}
		err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error { return scanLegacy(rows, found) }, query, first, first+salvageRows-1)
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		if unread++; err == nil {
			unread = 0
		}
		for space, list := range found {
			if err := s.opt.Cache.PutWhole(ctx, space, list); err != nil {
				return n, err
			}
			n += len(list)
		}
	}
	return n, nil
}

// scanLegacy adds the vector of a row, unless its checksum does not hold. Windows without their text have no key, and are left out.
func scanLegacy(rows *sql.Rows, found map[embed.Space][]vectors.Whole) error {
	var space embed.Space
	var hash, vector, encoded sql.RawBytes
	var sum uint32
	var text sql.NullString
	if err := rows.Scan(&space.Provider, &space.Model, &space.Dims, &space.Endpoint, &hash, &vector, &encoded, &sum, &text); err != nil {
		return err
	}
	h, err := hashOf(hash)
	v := vectors.Whole{Hash: h, Vector: decodeVector(vector)}
	if err != nil || crc32.Update(crc32.Checksum(vector, castagnoli), castagnoli, encoded) != sum || embed.Check(v.Vector, space.Dims) != nil {
		return nil
	}
	if text.Valid && embed.HasCurrentWindows(encoded) {
		windows, err := embed.DecodeWindows(encoded, space.Dims)
		if err == nil {
			v.Windows = windowsByText(vectors.LayoutOf(text.String), windows)
		}
	}
	found[space] = append(found[space], v)
	return nil
}

// windowsByText returns the windows of a text by their keys, unless one is missing because the provider refused it.
func windowsByText(layout vectors.Layout, windows []embed.Window) map[vectors.Hash]embed.Window {
	if len(layout) != len(windows) {
		return nil
	}
	found := map[vectors.Hash]embed.Window{}
	for i, s := range layout {
		found[s.Hash] = windows[i]
	}
	return found
}

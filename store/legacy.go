package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"kioku/embed"
	"kioku/vectors"
)

const (
	// legacyRows is the number of ids that are read and written at a time.
	legacyRows = 256

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

// setAsideSuffix is the first part of the suffix of an index of which something could not be taken. The rest is the time.
const setAsideSuffix = ".old-"

// dropLegacy takes what was paid for from the indexes that were set aside beside path, and removes them. One from which it cannot be taken
// stays for the next time.
func (s *Store) dropLegacy(ctx context.Context) error {
	for _, suffix := range []string{".damaged-", setAsideSuffix, ".corrupt-"} {
		names, _ := filepath.Glob(s.path + suffix + "*[0-9]")
		for _, name := range names {
			err := s.takePaid(ctx, name)
			if err == nil {
				err = removeIndex(name)
			} else if ctx.Err() == nil {
				s.opt.Log.Warn("what was paid for stays in an index of an earlier version, and is taken at the next start", "path", name, "err", err)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// setAside renames an index that is to be replaced, and from which what was paid for cannot be taken.
func (s *Store) setAside(cause error) error {
	aside := fmt.Sprint(s.path, setAsideSuffix, s.opt.Now().Unix())
	s.opt.Log.Warn("what was paid for stays in the index before, and is taken at the next start", "path", aside, "err", cause)
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(s.path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// takePaid copies what was paid for from an index that is to be dropped: the vectors of a schema before 15 to the cache, and what
// Options.Adopt takes. It does nothing for another index. What cannot be read is left out.
func (s *Store) takePaid(ctx context.Context, path string) error {
	if s.opt.Adopt != nil {
		if err := s.opt.Adopt(ctx, path); err != nil {
			return err
		}
	}
	db, err := openDatabase(path, 0, modeCheck)
	if err != nil {
		return nil // it cannot be read
	}
	defer db.close()
	var legacy, vec0 bool
	err = db.readers.QueryRowContext(ctx, "SELECT count(*) = 2 FROM sqlite_master WHERE name IN ('embedding_cache', 'windows')").Scan(&legacy)
	if err != nil || !legacy {
		return ctx.Err()
	}
	n, err := s.importLegacy(ctx, db, legacyCached, "SELECT max(id) FROM embedding_cache")
	if err != nil {
		return err
	}
	// vec0 crashes the process if one of its tables is missing.
	if err := db.readers.QueryRowContext(ctx, selectIntact).Scan(&vec0); err == nil && vec0 {
		indexed, err := s.importLegacy(ctx, db, legacyIndexed, "SELECT max(id) FROM chunks")
		if err != nil {
			return err
		}
		n += indexed
	}
	s.opt.Log.Info("the vectors of the index before are in the cache of embeddings", "path", path, "vectors", n)
	return nil
}

// importLegacy copies the vectors that a query reads to the cache, range by range, and returns how many. Of a range that cannot be
// read, it reads row by row what can be.
func (s *Store) importLegacy(ctx context.Context, db *database, query, lastID string) (n int, err error) {
	var last sql.NullInt64
	if err := db.readers.QueryRowContext(ctx, lastID).Scan(&last); err != nil {
		return 0, ctx.Err()
	}
	for first := int64(1); first <= last.Int64; first += legacyRows {
		found := map[embed.Space][]vectors.Whole{}
		read := func(from, to int64) error {
			return forEachRow(ctx, db.readers, func(rows *sql.Rows) error { return scanLegacy(rows, found) }, query, from, to)
		}
		if read(first, first+legacyRows-1) != nil {
			clear(found)
			for id := first; id < first+legacyRows && ctx.Err() == nil; id++ {
				_ = read(id, id)
			}
		}
		if ctx.Err() != nil {
			return n, ctx.Err()
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

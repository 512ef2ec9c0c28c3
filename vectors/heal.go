package vectors

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"time"

	"kioku/embed"
	"kioku/internal/files"
)

const (
	// copyRows is the number of ids that are copied at a time.
	copyRows = 256
	// maxUnread is the number of ranges in a row of which nothing can be read after which a table counts as ended, if its last id cannot
	// be read.
	maxUnread = 32

	selectRange = `SELECT s.provider, s.model, s.dims, s.endpoint, e.kind, e.sha256, e.vector, e.checksum FROM embedding_cache e
		CROSS JOIN spaces s ON s.id = e.space WHERE e.id BETWEEN ? AND ?`
)

// heal puts a new file in the place of a damaged one, unless another call was first.
func (c *Cache) heal(ctx context.Context, damaged *file, cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db != damaged || c.closed {
		return nil
	}
	return c.replace(ctx, cause)
}

// replace puts a new file with what can be read of the damaged one in its place. If that fails, the next call tries again. It does not end with
// its caller, whom it is not for.
func (c *Cache) replace(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx)
	var n copied
	err := files.ReplaceDatabase(c.path, func(draft string) error {
		from := connect(c.path, true)
		err := create(ctx, draft, func(f *file) (err error) {
			n, err = copyVectors(ctx, c.path, from, &Cache{opt: c.opt, db: f})
			return err
		})
		_ = from.close() // it is damaged anyway
		if err == nil && c.db != nil {
			_ = c.db.close()
			c.db = nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w; it cannot be replaced: %w", cause, err)
	}
	c.opt.Log.Warn("the embeddings were damaged; what can be read of them is in a new file", "path", c.path, "cause", cause, "vectors", n.read-n.damaged, "lost", n.damaged)
	c.db, err = c.open(ctx)
	return err
}

// copied is the outcome of a copy: how many vectors the file had, and how many of them were left out because they are not whole.
type copied struct{ read, damaged int }

// Copy writes the vectors, as they are at one moment, to a new file at path with mode 0600.
func (c *Cache) Copy(ctx context.Context, path string) error {
	made, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return fmt.Errorf("copy embeddings: %w", err)
	}
	err = c.read(ctx, func(*file) error {
		db := openDB(c.path, url.Values{"_busy_timeout": {"5000"}}, "") // the others may not write at all
		_, err := db.ExecContext(ctx, "VACUUM INTO ?", path)
		return errors.Join(err, db.Close())
	})
	if err != nil {
		err = errors.Join(fmt.Errorf("copy embeddings: %w", err), os.Remove(path))
	}
	return err
}

// copyVectors copies the vectors of the file at path whose checksums hold, range by range, and leaves out what cannot be read.
func copyVectors(ctx context.Context, path string, from *file, to *Cache) (done copied, err error) {
	last, known := lastID(ctx, from, path)
	for first, unread := int64(1), 0; first <= last && (known || unread < maxUnread); first += copyRows {
		rows, damaged, readable := readRange(ctx, from, first, min(first+copyRows-1, last))
		if err := ctx.Err(); err != nil {
			return done, err
		}
		done.damaged += damaged
		for space, list := range rows {
			if err := to.putRows(ctx, space, list); err != nil {
				return done, err
			}
			done.read += len(list)
		}
		if unread++; readable {
			unread = 0
		}
	}
	done.read += done.damaged
	return done, nil
}

// lastID returns the largest id. If the end of the table cannot be read, known is false and last is more than the file has room for.
func lastID(ctx context.Context, f *file, path string) (last int64, known bool) {
	var id sql.NullInt64
	if err := f.readers.QueryRowContext(ctx, "SELECT max(id) FROM embedding_cache").Scan(&id); err == nil {
		return id.Int64, true
	}
	const smallestRow = 64
	if info, err := os.Stat(path); err == nil {
		last = info.Size() / smallestRow
	}
	return last, false
}

// readRange reads the rows of a range of ids. If that fails, it reads them one by one. readable is false if it can read nothing.
func readRange(ctx context.Context, f *file, first, last int64) (rows map[embed.Space][]row, damaged int, readable bool) {
	rows = map[embed.Space][]row{}
	read := func(first, last int64) error {
		return forEachRow(ctx, f.readers, func(found *sql.Rows) error {
			var s embed.Space
			var r row
			var hash sql.RawBytes
			var sum uint32
			if err := found.Scan(&s.Provider, &s.Model, &s.Dims, &s.Endpoint, &r.Kind, &hash, &r.vector, &sum); err != nil {
				return err
			}
			if len(hash) != len(Hash{}) || crc32.Checksum(r.vector, castagnoli) != sum {
				damaged++
				return nil
			}
			r.Hash = Hash(hash)
			rows[s] = append(rows[s], r)
			return nil
		}, selectRange, first, last)
	}
	if read(first, last) == nil {
		return rows, damaged, true
	}
	clear(rows)
	damaged = 0
	for id := first; id <= last && ctx.Err() == nil; id++ {
		if read(id, id) == nil {
			readable = true
		} else {
			damaged++
		}
	}
	return rows, damaged, readable
}

// Check compares all vectors with their checksums, and removes wrong ones, so that they count as missing. It calls pace after each
// step with the time that the step took; pace may be nil. It returns how many vectors it has looked at and what it has found.
func (c *Cache) Check(ctx context.Context, pace func(time.Duration) error) (vectors int, found []string, err error) {
	for last, more := int64(0), true; more; {
		start := time.Now()
		var wrong rowsOf
		err := c.read(ctx, func(f *file) error {
			wrong.begin(f)
			more = false
			return forEachRow(ctx, f.readers, func(rows *sql.Rows) error {
				var vector sql.RawBytes
				var sum uint32
				if err := rows.Scan(&last, &vector, &sum); err != nil {
					return err
				}
				vectors, more = vectors+1, true
				if crc32.Checksum(vector, castagnoli) != sum {
					wrong.ids = append(wrong.ids, last)
				}
				return nil
			}, "SELECT id, vector, checksum FROM embedding_cache WHERE id > ? ORDER BY id LIMIT ?", last, copyRows)
		})
		if err == nil && len(wrong.ids) > 0 {
			found = append(found, fmt.Sprintf("embeddings without their checksum: %d", len(wrong.ids)))
			if !c.opt.ReadOnly {
				err = c.deleteRows(ctx, wrong)
			}
		}
		if err == nil && pace != nil {
			err = pace(time.Since(start))
		}
		if err != nil {
			return vectors, found, fmt.Errorf("check embeddings: %w", err)
		}
	}
	return vectors, found, nil
}

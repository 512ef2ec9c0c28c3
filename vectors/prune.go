package vectors

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"kioku/embed"
)

// freshFor is how long a vector that was bought is never evicted.
const freshFor = time.Hour

// Live returns the hashes of all documents and windows of an index.
type Live func(context.Context) (map[Hash]struct{}, error)

// Len returns the number of vectors.
func (c *Cache) Len(ctx context.Context) (n int, err error) {
	err = c.read(ctx, func(f *file) error {
		return f.readers.QueryRowContext(ctx, "SELECT count(*) FROM embedding_cache").Scan(&n)
	})
	if err != nil {
		err = fmt.Errorf("count embeddings: %w", err)
	}
	return n, err
}

// entry is a row of the table without its vector.
type entry struct {
	id         int64
	space      embed.Space
	kind       Kind
	hash       Hash
	size, used int64
}

// forEachRow calls f with each row, those written longest ago first. It calls begin before it begins, and again if it begins anew with
// another file.
func (c *Cache) forEachRow(ctx context.Context, begin func(*file), f func(entry)) error {
	return c.read(ctx, func(db *file) error {
		begin(db)
		return forEachRow(ctx, db.readers, func(rows *sql.Rows) error {
			var e entry
			var hash sql.RawBytes
			err := rows.Scan(&e.id, &e.space.Provider, &e.space.Model, &e.space.Dims, &e.space.Endpoint, &e.kind, &hash, &e.size, &e.used)
			if err == nil && len(hash) == len(e.hash) {
				e.hash = Hash(hash)
				f(e)
			}
			return err
		}, `SELECT e.id, s.provider, s.model, s.dims, s.endpoint, e.kind, e.sha256, length(e.vector), e.used FROM embedding_cache e
			CROSS JOIN spaces s ON s.id = e.space ORDER BY e.used, e.id`)
	})
}

// Evict deletes vectors beyond the limit, those written longest ago first: never one of a text that is indexed in one of the spaces in
// use, nor one that was just bought. It looks only if the cache has grown by a tenth of the limit since it last did.
func (c *Cache) Evict(ctx context.Context, live Live, inUse ...embed.Space) error {
	var rows, before int
	err := c.read(ctx, func(f *file) error {
		return f.readers.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM embedding_cache), live FROM cache").Scan(&rows, &before)
	})
	if err != nil || rows <= before+c.opt.Entries+c.opt.Entries/10 {
		return err
	}
	indexed, err := live(ctx)
	if err != nil {
		return err
	}
	var unused rowsOf
	kept, fresh := 0, c.opt.Now().Add(-freshFor).Unix()
	err = c.forEachRow(ctx, func(f *file) { unused.begin(f); kept = 0 }, func(e entry) {
		_, ok := indexed[e.hash]
		if ok && slices.ContainsFunc(inUse, e.space.Matches) || e.used > fresh {
			kept++
			return
		}
		unused.ids = append(unused.ids, e.id)
	})
	if err == nil {
		unused.ids = unused.ids[:max(len(unused.ids)-c.opt.Entries, 0)]
		err = c.deleteRows(ctx, unused)
	}
	if err == nil {
		err = c.write(ctx, func(_ *file, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE cache SET live = ?", kept)
			return err
		})
	}
	if err != nil {
		err = fmt.Errorf("evict embeddings: %w", err)
	}
	return err
}

// rowsOf are rows of one file by their ids, which mean others in the file that takes its place.
type rowsOf struct {
	file *file
	ids  []int64
}

// begin begins to collect rows of a file.
func (r *rowsOf) begin(f *file) { *r = rowsOf{file: f} }

// deleteRows deletes rows, unless another file has taken the place of theirs.
func (c *Cache) deleteRows(ctx context.Context, rows rowsOf) error {
	if len(rows.ids) == 0 {
		return nil
	}
	list, err := json.Marshal(rows.ids)
	if err != nil {
		return err
	}
	return c.write(ctx, func(f *file, tx *sql.Tx) error {
		if f != rows.file {
			return nil
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM embedding_cache WHERE id IN (SELECT value FROM json_each(?))", string(list))
		return err
	})
}

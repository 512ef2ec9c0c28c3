package vectors

import (
	"context"
	"database/sql"
	"hash/crc32"

	"kioku/embed"
)

// Row is a vector as the file has it, so that it can be copied into another one.
type Row struct {
	// ID of the row in its file. Later rows have larger ones, unless rows were evicted.
	ID     int64
	Space  embed.Space
	Kind   Kind
	Hash   Hash
	Vector []byte
}

const selectRows = `SELECT e.id, s.provider, s.model, s.dims, s.endpoint, e.kind, e.sha256, e.vector, e.checksum
	FROM embedding_cache e JOIN spaces s ON s.id = e.space WHERE e.id > ? ORDER BY e.id`

// Rows calls each with the rows behind an id. Those without their checksums are left out.
func (c *Cache) Rows(ctx context.Context, after int64, each func(Row) error) error {
	return c.read(ctx, func(f *file) error {
		return forEachRow(ctx, f.readers, func(rows *sql.Rows) error {
			var r Row
			var hash []byte
			var sum uint32
			if err := rows.Scan(&r.ID, &r.Space.Provider, &r.Space.Model, &r.Space.Dims, &r.Space.Endpoint, &r.Kind, &hash, &r.Vector, &sum); err != nil {
				return err
			}
			if len(hash) != len(r.Hash) || crc32.Checksum(r.Vector, castagnoli) != sum {
				return nil
			}
			r.Hash = Hash(hash)
			return each(r)
		}, selectRows, after)
	})
}

// PutRows stores rows of another file.
func (c *Cache) PutRows(ctx context.Context, rows []Row) error {
	bySpace := map[embed.Space][]row{}
	for _, r := range rows {
		bySpace[r.Space] = append(bySpace[r.Space], row{Key{r.Kind, r.Hash}, r.Vector})
	}
	for space, rows := range bySpace {
		if err := c.putRows(ctx, space, rows); err != nil {
			return err
		}
	}
	return nil
}

package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"kioku/indexer"
)

// selectKnown reads those hashes of a JSON array whose texts have a vector in the index, or in the cache of a space.
const selectKnown = `SELECT unhex(j.value) FROM json_each(?5) j
	WHERE EXISTS (SELECT 1 FROM chunks c WHERE c.sha256 = unhex(j.value) AND c.checksum IS NOT NULL)
	OR EXISTS (SELECT 1 FROM embedding_cache e WHERE e.sha256 = unhex(j.value) AND ` + ofSpace + `)`

// lacking implements Store.Lacking.
func (x *index) lacking(ctx context.Context, texts []indexer.Text) ([]indexer.Text, error) {
	hashes := make([]indexer.Hash, len(texts))
	for i, t := range texts {
		hashes[i] = t.Hash
	}
	list, err := hexList(hashes)
	if err != nil {
		return nil, err
	}
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	known := map[indexer.Hash]bool{}
	err = forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var hash sql.RawBytes
		if err := rows.Scan(&hash); err != nil {
			return err
		}
		h, err := hashOf(hash)
		known[h] = true
		return err
	}, selectKnown, append(spaceArgs(m.space), list)...)
	if err != nil {
		return nil, fmt.Errorf("look up texts with a vector: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(texts), func(t indexer.Text) bool { return known[t.Hash] }), nil
}

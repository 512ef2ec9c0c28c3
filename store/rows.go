package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"kioku/indexer"
)

// queryer is implemented by *sql.DB, *sql.Conn and *sql.Tx.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// forEachRow calls scan with each row of a query, until scan returns an error.
func forEachRow(ctx context.Context, q queryer, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// queryIDs returns the first column of a query.
func queryIDs(ctx context.Context, q queryer, query string, args ...any) ([]int64, error) {
	var ids []int64
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, query, args...)
	return ids, err
}

// hashOf returns a hash that was read from the index.
func hashOf(b []byte) (indexer.Hash, error) {
	if len(b) != len(indexer.Hash{}) {
		return indexer.Hash{}, fmt.Errorf("%w: a hash has %d bytes", errDamaged, len(b))
	}
	return indexer.Hash(b), nil
}

// jsonList returns a list as a JSON array, for json_each.
func jsonList[T any](list []T) (string, error) {
	b, err := json.Marshal(list)
	return string(b), err
}

// hexList returns hashes as a JSON array of hexadecimal strings.
func hexList(hashes []indexer.Hash) (string, error) {
	digits := make([]string, len(hashes))
	for i, h := range hashes {
		digits[i] = hex.EncodeToString(h[:])
	}
	return jsonList(digits)
}

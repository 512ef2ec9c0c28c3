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

// column returns the first column of a query.
func column[T any](ctx context.Context, q queryer, query string, args ...any) (list []T, err error) {
	err = forEachRow(ctx, q, func(rows *sql.Rows) error {
		var v T
		err := rows.Scan(&v)
		list = append(list, v)
		return err
	}, query, args...)
	return list, err
}

// hashOf returns a hash that was read from the index.
func hashOf(b []byte) (indexer.Hash, error) {
	if len(b) != len(indexer.Hash{}) {
		return indexer.Hash{}, fmt.Errorf("%w: a hash has %d bytes", errDamaged, len(b))
	}
	return indexer.Hash(b), nil
}

// array returns a list of what always has a form in JSON as an array, for json_each.
func array[T any](list []T) string {
	b, _ := json.Marshal(append([]T{}, list...))
	return string(b)
}

// hexArray returns hashes as a JSON array of hexadecimal strings.
func hexArray(hashes []indexer.Hash) string {
	digits := make([]string, len(hashes))
	for i, h := range hashes {
		digits[i] = hex.EncodeToString(h[:])
	}
	return array(digits)
}

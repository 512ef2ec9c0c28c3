package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/memory"
)

// queryer is implemented by *sql.DB and *sql.Tx.
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
	return scanRows(rows, scan)
}

// scanRows calls scan with each row, until scan returns an error.
func scanRows(rows *sql.Rows, scan func(*sql.Rows) error) error {
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
	return queryColumn[int64](ctx, q, query, args...)
}

// queryColumn returns the first column of a query.
func queryColumn[T any](ctx context.Context, q queryer, query string, args ...any) ([]T, error) {
	var list []T
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var v T
		err := rows.Scan(&v)
		list = append(list, v)
		return err
	}, query, args...)
	return list, err
}

// hashOf returns a hash that was read from the file.
func hashOf(b []byte) ([32]byte, error) {
	if len(b) != 32 {
		return [32]byte{}, fmt.Errorf("%w: a hash has %d bytes", errDamaged, len(b))
	}
	return [32]byte(b), nil
}

// jsonList returns a list as a JSON array, for json_each.
func jsonList[T any](list []T) (string, error) {
	b, err := json.Marshal(list)
	return string(b), err
}

// notNil returns a list that is not nil, so that its JSON is an array.
func notNil(list []string) []string { return append([]string{}, list...) }

// micros returns a time as it is stored: microseconds since 1970, NULL for the zero time.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// fromMicros returns a stored time, zero for NULL.
func fromMicros(v sql.NullInt64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return time.UnixMicro(v.Int64).UTC()
}

// maxUIDs bounds the UIDs of one request, and minUID is the number of digits that the beginning of one needs.
const (
	maxUIDs = 10_000
	minUID  = 6
)

// checkUIDs returns a *memory.InputError if there are too many UIDs, or one is no beginning of a UID.
func checkUIDs(uids []string) error {
	if len(uids) > maxUIDs {
		return &memory.InputError{Field: "uids", Problem: fmt.Sprintf("are %d; ask for at most %d", len(uids), maxUIDs)}
	}
	for _, uid := range uids {
		if len(uid) < minUID {
			return &memory.InputError{Field: "uid", Problem: fmt.Sprintf("%q is too short: give at least %d digits", uid, minUID)}
		}
		if !isHex(uid) {
			return &memory.InputError{Field: "uid", Problem: fmt.Sprintf("%q is none: it has the digits 0-9 and a-f only", uid)}
		}
	}
	return nil
}

// isHex reports whether a text has lower-case hexadecimal digits only.
func isHex(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// queryInt returns the one number of a query.
func queryInt(ctx context.Context, q queryer, query string, args ...any) (int, error) {
	var n int
	err := q.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// execAll runs statements with the same arguments.
func execAll(ctx context.Context, tx *sql.Tx, args []any, stmts ...string) error {
	for _, stmt := range stmts {
		if _, err := tx.ExecContext(ctx, stmt, args...); err != nil {
			return err
		}
	}
	return nil
}

// statements are prepared statements of one transaction, by their text.
type statements struct {
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
}

// prepareIn returns no statements yet; each is prepared when it is first used, and closed with the transaction.
func prepareIn(tx *sql.Tx) *statements { return &statements{tx, map[string]*sql.Stmt{}} }

// get returns a prepared statement.
func (s *statements) get(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := s.prepared[query]; ok {
		return stmt, nil
	}
	stmt, err := s.tx.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	s.prepared[query] = stmt
	return stmt, nil
}

// exec runs a prepared statement.
func (s *statements) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.get(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// change runs a prepared statement and returns the number of rows that it has changed.
func (s *statements) change(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := s.exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// rowsAtOnce is the number of rows that insertRows inserts by one statement.
const rowsAtOnce = 16

// insertRows inserts rows. values are the placeholders of one.
func (s *statements) insertRows(ctx context.Context, insert, values string, rows [][]any) error {
	many := insert + strings.Repeat(values+", ", rowsAtOnce-1) + values
	for ; len(rows) >= rowsAtOnce; rows = rows[rowsAtOnce:] {
		if _, err := s.exec(ctx, many, slices.Concat(rows[:rowsAtOnce]...)...); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if _, err := s.exec(ctx, insert+values, row...); err != nil {
			return err
		}
	}
	return nil
}

// scan reads the one row of a prepared query; sql.ErrNoRows if there is none.
func (s *statements) scan(ctx context.Context, query string, args []any, dest ...any) error {
	stmt, err := s.get(ctx, query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(dest...)
}

// each calls scan with each row of a prepared query, until scan returns an error.
func (s *statements) each(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	stmt, err := s.get(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	return scanRows(rows, scan)
}

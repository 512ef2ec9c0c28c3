package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// txn is the transaction of one call. After its first error its methods do nothing, and the call returns that error.
type txn struct {
	ctx context.Context // of the call
	tx  *sql.Tx
	err error
}

// within calls f in a transaction of a pool of connections.
func within(ctx context.Context, db *sql.DB, f func(*txn)) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	t := &txn{ctx: ctx, tx: tx}
	if f(t); t.err == nil {
		t.err = tx.Commit()
	}
	return t.err
}

// fail ends the transaction with an error, unless that is nil or it has one.
func (t *txn) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// exec runs a statement and returns how many rows it has changed.
func (t *txn) exec(query string, args ...any) int {
	_, changed := t.run(query, args)
	return changed
}

// run runs a statement, and returns the id of the row that it has inserted and how many it has changed.
func (t *txn) run(query string, args []any) (id int64, changed int) {
	if t.err != nil {
		return 0, 0
	}
	res, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		t.fail(err)
		return 0, 0
	}
	n, err := res.RowsAffected()
	t.fail(err)
	id, err = res.LastInsertId()
	t.fail(err)
	return id, int(n)
}

// execAll runs statements with the same arguments.
func (t *txn) execAll(args []any, queries ...string) {
	for _, query := range queries {
		t.exec(query, args...)
	}
}

// rowsAtOnce is the number of rows that insertRows inserts by one statement.
const rowsAtOnce = 16

// insertRows inserts rows. values are the placeholders of one.
func (t *txn) insertRows(insert, values string, rows [][]any) {
	many := insert + strings.Repeat(values+", ", rowsAtOnce-1) + values
	for ; len(rows) >= rowsAtOnce; rows = rows[rowsAtOnce:] {
		t.exec(many, slices.Concat(rows[:rowsAtOnce]...)...)
	}
	for _, row := range rows {
		t.exec(insert+values, row...)
	}
}

// get reads the one row of a query into dest, and reports whether there is one.
func (t *txn) get(query string, args []any, dest ...any) bool {
	if t.err != nil {
		return false
	}
	err := t.tx.QueryRowContext(t.ctx, query, args...).Scan(dest...)
	if !errors.Is(err, sql.ErrNoRows) {
		t.fail(err)
	}
	return err == nil
}

// each calls f with each row of a query. f reads the columns with scan.
func (t *txn) each(query string, args []any, f func(scan func(dest ...any))) {
	if t.err != nil {
		return
	}
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		t.fail(err)
		return
	}
	defer rows.Close()
	for t.err == nil && rows.Next() {
		f(func(dest ...any) { t.fail(rows.Scan(dest...)) })
	}
	t.fail(rows.Err())
}

// column returns the first column of a query.
func column[T any](t *txn, query string, args ...any) (list []T) {
	t.each(query, args, func(scan func(...any)) {
		var v T
		scan(&v)
		list = append(list, v)
	})
	return list
}

// number returns the one number of a query.
func (t *txn) number(query string, args ...any) (n int) {
	t.get(query, args, &n)
	return n
}

// array returns a list of what always has a form in JSON as an array, for json_each.
func array[T any](list []T) string {
	b, _ := json.Marshal(append([]T{}, list...))
	return string(b)
}

// hash is a sha256 as a column has it.
type hash [32]byte

// Scan implements sql.Scanner.
func (h *hash) Scan(column any) error {
	b, _ := column.([]byte)
	if len(b) != len(h) {
		return fmt.Errorf("%w: a hash has %d bytes", errDamaged, len(b))
	}
	*h = hash(b)
	return nil
}

// instant is a time in microseconds since 1970; NULL, or 0 in a column that has no NULL, for the zero time.
type instant struct{ *time.Time }

// Scan implements sql.Scanner.
func (i instant) Scan(column any) error {
	*i.Time = time.Time{}
	if v, ok := column.(int64); ok && v != 0 {
		*i.Time = time.UnixMicro(v).UTC()
	}
	return nil
}

// parsed is a JSON text of a column, which is read into to; an empty list leaves it as it is.
type parsed struct {
	to   any
	what string
}

// Scan implements sql.Scanner.
func (p parsed) Scan(column any) error {
	text, _ := column.(string)
	if text == "[]" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), p.to); err != nil {
		return fmt.Errorf("%w: %s: %w", errDamaged, p.what, err)
	}
	return nil
}

// micros returns a time as a column with NULL has it.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

package speed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	_ "github.com/mattn/go-sqlite3" // the driver

	"kioku"
	"kioku/search/analysis"
)

// yardstick is a database that does only the least of what Kioku does, on one connection.
type yardstick struct{ *sql.DB }

// writable are the connection parameters of a database that is written like the index.
const writable = "_journal_mode=WAL&_synchronous=NORMAL&_cache_size=-64000&_secure_delete=true&_txlock=immediate"

// openYardstick opens the database at path with connection parameters of go-sqlite3 and executes statements.
func openYardstick(ctx context.Context, path, parameters string, statements ...string) (yardstick, error) {
	vec.Auto()
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: parameters}
	db, err := sql.Open("sqlite3", name.String())
	if err != nil {
		return yardstick{}, fmt.Errorf("open yardstick: %w", err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return yardstick{}, errors.Join(fmt.Errorf("open yardstick: %w", err), db.Close())
		}
	}
	return yardstick{db}, nil
}

// readIndex opens the index of a memory for reading.
func readIndex(ctx context.Context, m *kioku.Memory) (yardstick, error) {
	st, err := m.Status(ctx)
	if err != nil {
		return yardstick{}, fmt.Errorf("open yardstick: %w", err)
	}
	return openYardstick(ctx, st.Sizes.Path, "mode=ro", "PRAGMA mmap_size = 1073741824", "PRAGMA cache_size = -2000")
}

// insert executes a statement for each of n rows, in transactions of 256.
func (y yardstick) insert(ctx context.Context, n int, statement string, row func(i int) []any) error {
	for from := 0; from < n; from += 256 {
		tx, err := y.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for i := from; i < min(from+256, n); i++ {
			if _, err := tx.Exec(statement, row(i)...); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// bytes returns the size of the database together with what is still in its write-ahead log.
func (y yardstick) bytes(ctx context.Context) (n int64, err error) {
	row := y.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	err = row.Scan(&n)
	return n, err
}

// match ranks the chunks with any word of a question by FTS5 only.
func (y yardstick) match(ctx context.Context, question string) error {
	terms := analysis.Terms(question)
	slices.Sort(terms)
	rows, err := y.QueryContext(ctx,
		"SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY bm25(chunks_fts) LIMIT 100",
		`"`+strings.Join(slices.Compact(terms), `" OR "`)+`"`)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

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
	"kioku/store/slab"
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

// createVec0 creates a table of vectors. A table's definition takes no placeholders; vectorDims is a number.
var createVec0 = fmt.Sprintf("CREATE VIRTUAL TABLE bare USING vec0 (embedding float[%d] distance_metric=cosine)", vectorDims)

// insertVec0 inserts n vectors with the ids from 1.
func (y yardstick) insertVec0(ctx context.Context, n int, row func(i int) []float32) error {
	return y.insert(ctx, n, "INSERT INTO bare (rowid, embedding) VALUES (?, ?)", func(i int) []any {
		return []any{i + 1, blobOf(row(i))}
	})
}

// openVec0 creates a database at path with the vectors of a set.
func openVec0(ctx context.Context, path string, set *vectorSet) (yardstick, error) {
	y, err := openYardstick(ctx, path, "_journal_mode=OFF&_sync=0&_cache_size=-64000", "PRAGMA mmap_size = 1073741824", createVec0)
	if err != nil {
		return y, err
	}
	if err := y.insertVec0(ctx, set.len(), set.row); err != nil {
		return y, errors.Join(fmt.Errorf("insert into vec0: %w", err), y.Close())
	}
	return y, nil
}

// nearestVec0 returns the neighbours that vec0 finds.
func (y yardstick) nearestVec0(ctx context.Context, q []float32) ([]slab.Neighbor, error) {
	rows, err := y.QueryContext(ctx,
		"SELECT rowid, distance FROM bare WHERE embedding MATCH ? AND k = ? ORDER BY distance", blobOf(q), nearestK)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var near []slab.Neighbor
	for rows.Next() {
		var n slab.Neighbor
		var distance float64
		if err := rows.Scan(&n.ID, &distance); err != nil {
			return nil, err
		}
		n.Cosine = 1 - distance
		near = append(near, n)
	}
	return near, rows.Err()
}

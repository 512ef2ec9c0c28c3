package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"github.com/mattn/go-sqlite3"

	"kioku/internal/files"
	"kioku/store"
	"kioku/store/checksumvfs"
)

const (
	// copyRows is the number of ids that are copied at a time.
	copyRows = 256
	// maxUnread is the number of ranges in a row of which nothing can be read after which a table counts as ended, if its last id cannot
	// be read.
	maxUnread = 32
)

// paidTable is a table of what cannot be made again.
type paidTable struct {
	lastID, query, insert string
	columns               int
}

// paidTables are read by rows, so that one that is damaged is left out. The seventh column of the first is the checksum of the fourth.
var paidTables = []paidTable{
	{"SELECT max(id) FROM llm_cache",
		`SELECT contract, model, input_sha256, response, size, episodes, sha256, tokens_in, tokens_out, used FROM llm_cache WHERE id BETWEEN ? AND ?`,
		`INSERT INTO llm_cache (contract, model, input_sha256, response, size, episodes, sha256, tokens_in, tokens_out, used)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, 10},
	{"SELECT max(id) FROM llm_usage",
		"SELECT day, hour, model, purpose, calls, tokens_in, tokens_out, reserved FROM llm_usage WHERE id BETWEEN ? AND ?",
		`INSERT INTO llm_usage (day, hour, model, purpose, calls, tokens_in, tokens_out, reserved) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET calls = max(calls, excluded.calls), tokens_in = max(tokens_in, excluded.tokens_in),
				tokens_out = max(tokens_out, excluded.tokens_out)`, 8},
}

// heal puts a new file in the place of a damaged one, unless another call was first.
func (d *Store) heal(ctx context.Context, damaged *file, cause error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db != damaged || d.closed {
		return nil
	}
	return d.replace(ctx, cause)
}

// replace puts a new file with the answers that can be read of the damaged one in its place. It does not end with its caller, whom it is not
// for.
func (d *Store) replace(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx)
	answers := 0
	err := files.ReplaceDatabase(d.path, func(draft string) error {
		err := create(ctx, draft)
		if err == nil {
			answers, err = copyPaid(ctx, d.path, draft)
		}
		if err == nil {
			_ = d.closeFile() // it is damaged anyway
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w; it cannot be replaced: %w", cause, err)
	}
	d.opt.Log.Warn("what is derived was damaged and is made again", "path", d.path, "cause", cause, "answers", answers)
	d.db, err = d.open(ctx)
	return err
}

// Adopt copies the answers of models, and the tokens that they have used, from an index of an earlier version, which had them itself.
func (d *Store) Adopt(ctx context.Context, index string) error {
	from := openPlain(index)
	defer from.Close()
	var has bool
	err := from.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM llm_cache) OR EXISTS (SELECT 1 FROM llm_usage)").Scan(&has)
	if err != nil || !has {
		return ctx.Err() // it is of a version before models, or cannot be read
	}
	if _, err := d.makeFile(ctx); err != nil {
		return err
	}
	answers, err := copyPaid(ctx, index, d.path)
	if err != nil {
		return fmt.Errorf("copy the answers of models from %s: %w", index, err)
	}
	d.opt.Log.Info("the answers of models are in a file of their own now", "path", d.path, "answers", answers)
	return nil
}

// openPlain opens a database to read it without the checksums of its pages.
func openPlain(path string) *sql.DB {
	return sql.OpenDB(connector{dsn: uri(path, url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}})})
}

// copyPaid copies what cannot be made again from a file to one that is whole, as far as it can be read and the checksums of the answers hold.
// It returns the number of answers.
func copyPaid(ctx context.Context, path, into string) (answers int, err error) {
	h, err := store.ReadHeader(into, format)
	if err != nil {
		return 0, err
	}
	to, err := connect(into, "", h.ID, false)
	if err != nil {
		return 0, err
	}
	defer to.close()
	from := openPlain(path)
	defer from.Close()
	for i, table := range paidTables {
		n, err := table.copyRows(ctx, path, from, to.writer)
		if err != nil {
			return answers, err
		}
		if i == 0 {
			answers = n
		}
	}
	return answers, nil
}

// copyRows copies the rows of the table, range by range, and leaves out what cannot be read.
func (p paidTable) copyRows(ctx context.Context, path string, from, to *sql.DB) (n int, err error) {
	const smallestRow = 64
	last, known := 0, true
	if within(ctx, from, func(t *txn) { last = t.number(p.lastID) }) != nil {
		known = false
		if info, err := os.Stat(path); err == nil {
			last = int(info.Size() / smallestRow)
		}
	}
	for first, unread := 1, 0; first <= last && (known || unread < maxUnread); first += copyRows {
		rows, err := p.readRange(ctx, from, first, first+copyRows-1)
		unread++
		if err == nil {
			unread = 0
		}
		for id := first; err != nil && id < first+copyRows; id++ {
			one, failed := p.readRange(ctx, from, id, id)
			if rows = append(rows, one...); failed == nil {
				unread = 0
			}
		}
		err = within(ctx, to, func(t *txn) {
			for _, row := range rows {
				t.exec(p.insert, row...)
			}
		})
		if err != nil {
			return n, err
		}
		n += len(rows)
	}
	return n, nil
}

// readRange reads the rows of a range of ids that are whole; none after an error.
func (p paidTable) readRange(ctx context.Context, from *sql.DB, first, last int) (found [][]any, err error) {
	err = within(ctx, from, func(t *txn) {
		t.each(p.query, []any{first, last}, func(scan func(...any)) {
			row, dest := make([]any, p.columns), make([]any, p.columns)
			for i := range row {
				dest[i] = &row[i]
			}
			if scan(dest...); isWhole(row) {
				found = append(found, row)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// isWhole reports whether a row of paidTables has its checksum, if it has one.
func isWhole(row []any) bool {
	want, has := row[6].([]byte)
	if !has {
		return len(row) == 8
	}
	answer, _ := row[3].(string)
	sum := sha256.Sum256([]byte(answer))
	return string(sum[:]) == string(want)
}

// Copy writes what is derived, as it is at one moment, to a new file at path with mode 0600. It does nothing if nothing is derived.
func (d *Store) Copy(ctx context.Context, path string) error {
	if info, err := os.Stat(d.path); err != nil || info.Size() == 0 {
		return nil
	}
	made, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return fmt.Errorf("copy what is derived: %w", err)
	}
	if err := d.use(ctx, func(f *file) error { return f.copyTo(ctx, path) }); err != nil {
		return errors.Join(fmt.Errorf("copy what is derived: %w", err), files.RemoveDatabase(path))
	}
	return nil
}

// copyTo writes all pages to an empty file.
func (f *file) copyTo(ctx context.Context, path string) error {
	pages, err := checksumvfs.Open(f.pages.ID())
	if err != nil {
		return err
	}
	defer pages.Close()
	options := url.Values{}
	pages.AddTo(options)
	to := sql.OpenDB(connector{dsn: uri(path, options), create: true})
	defer to.Close()
	source, err := f.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := to.Conn(ctx)
	if err != nil {
		return err
	}
	defer target.Close()
	return source.Raw(func(from any) error {
		return target.Raw(func(into any) error {
			b, err := into.(driver.Conn).(*sqlite3.SQLiteConn).Backup("main", from.(*sqlite3.SQLiteConn), "main")
			if err != nil {
				return err
			}
			_, err = b.Step(-1)
			return errors.Join(err, b.Finish())
		})
	})
}

// Check looks at all pages and tables, and returns what it has found. With mend, what is damaged is made again.
func (d *Store) Check(ctx context.Context, mend bool) (found []string, err error) {
	if info, err := os.Stat(d.path); err != nil || info.Size() == 0 {
		return nil, nil
	}
	look := New(d.path, d.index, Options{ReadOnly: true})
	defer look.Close()
	err = look.read(ctx, "check what is derived", func(t *txn) {
		if problems := column[string](t, "PRAGMA main.quick_check"); !slices.Equal(problems, []string{"ok"}) && len(problems) > 0 {
			t.fail(fmt.Errorf("%w: %s", errDamaged, problems[0]))
		}
	})
	if !isDamage(err) {
		return nil, err
	}
	found = []string{err.Error()}
	if !mend || d.opt.ReadOnly {
		return found, nil
	}
	d.mu.RLock()
	db := d.db
	d.mu.RUnlock()
	return found, d.heal(ctx, db, err)
}

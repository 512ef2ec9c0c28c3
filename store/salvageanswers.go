package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
)

const (
	salvageAnswerRows = `SELECT contract, model, input_sha256, response, sha256, episodes, tokens_in, tokens_out, used FROM llm_cache
		WHERE id BETWEEN ? AND ?`
	salvageUsageRows = "SELECT day, hour, model, purpose, calls, tokens_in, tokens_out, reserved FROM llm_usage WHERE id BETWEEN ? AND ?"

	insertSalvagedAnswer = `INSERT INTO llm_cache (contract, model, input_sha256, response, sha256, size, episodes, tokens_in, tokens_out, used)
		VALUES (?1, ?2, ?3, ?4, ?5, length(CAST(?4 AS BLOB)), ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING`
	insertSalvagedUsage = `INSERT INTO llm_usage (day, hour, model, purpose, calls, tokens_in, tokens_out, reserved) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET calls = max(calls, excluded.calls), tokens_in = max(tokens_in, excluded.tokens_in),
			tokens_out = max(tokens_out, excluded.tokens_out)`
)

// salvageAnswers copies the answers of models and the tokens that they have used from an index that was set aside, as far as they can
// be read and their checksums hold. An index of a schema before them has none.
func (s *Store) salvageAnswers(ctx context.Context, x *index) error {
	for _, table := range []struct {
		name, lastID, query, insert string
		scan                        func(*sql.Rows) ([]any, error)
	}{
		{"llm_cache", "SELECT max(id) FROM llm_cache", salvageAnswerRows, insertSalvagedAnswer, scanSalvagedAnswer},
		{"llm_usage", "SELECT max(id) FROM llm_usage", salvageUsageRows, insertSalvagedUsage, scanSalvagedUsage},
	} {
		var has bool
		err := x.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = ?", table.name).Scan(&has)
		if err != nil || !has {
			continue
		}
		last, known := x.lastID(ctx, table.lastID)
		unread := 0
		for first := int64(1); first <= last && (known || unread < salvageGap); first += salvageRows {
			rows, readable := x.readRange(ctx, table.scan, table.query, first, min(first+salvageRows-1, last))
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.insertAll(ctx, table.insert, rows); err != nil {
				return err
			}
			if unread++; readable {
				unread = 0
			}
		}
	}
	return nil
}

// readRange reads the rows of a range of ids. If that fails, it reads them one by one, and leaves out those that cannot be read.
// readable is false if it can read nothing.
func (x *index) readRange(ctx context.Context, scan func(*sql.Rows) ([]any, error), query string, first, last int64) (found [][]any, readable bool) {
	read := func(first, last int64) ([][]any, error) {
		var list [][]any
		err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
			row, err := scan(rows)
			if row != nil {
				list = append(list, row)
			}
			return err
		}, query, first, last)
		return list, err
	}
	found, err := read(first, last)
	if err == nil {
		return found, true
	}
	found = nil
	for id := first; id <= last && ctx.Err() == nil; id++ {
		if one, err := read(id, id); err == nil {
			found, readable = append(found, one...), true
		}
	}
	return found, readable
}

// scanSalvagedAnswer reads a row of salvageAnswerRows; nil if the answer does not have its checksum.
func scanSalvagedAnswer(rows *sql.Rows) ([]any, error) {
	var contract, model, answer, episodes string
	var input, sum []byte
	var in, out, used int64
	if err := rows.Scan(&contract, &model, &input, &answer, &sum, &episodes, &in, &out, &used); err != nil {
		return nil, err
	}
	if want := sha256.Sum256([]byte(answer)); string(want[:]) != string(sum) {
		return nil, nil
	}
	return []any{contract, model, input, answer, sum, episodes, in, out, used}, nil
}

// scanSalvagedUsage reads a row of salvageUsageRows.
func scanSalvagedUsage(rows *sql.Rows) ([]any, error) {
	var day, hour, model, purpose string
	var calls, in, out, reserved int64
	if err := rows.Scan(&day, &hour, &model, &purpose, &calls, &in, &out, &reserved); err != nil {
		return nil, err
	}
	return []any{day, hour, model, purpose, calls, in, out, reserved}, nil
}

// insertAll inserts rows in one transaction.
func (s *Store) insertAll(ctx context.Context, query string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := use(ctx, s, func(x *index) (struct{}, error) {
		return struct{}{}, inTx(ctx, x.db.writer, func(tx *sql.Tx) error {
			for _, row := range rows {
				if _, err := tx.ExecContext(ctx, query, row...); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return err
}

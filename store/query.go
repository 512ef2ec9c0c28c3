package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"kioku/memory"
	"kioku/search"
)

// selectAllowed is the ids of the chunks that a filter lets through; its placeholders are those of filterArgs. A chunk
// without a date is let through only where no date is asked for.
const selectAllowed = `SELECT c.id FROM chunks c JOIN files f ON f.id = c.file
	WHERE (?1 = '' OR instr(?1, ',' || f.source || ',') > 0)
	AND substr(f.path, 1, length(?2)) = ?2
	AND (?3 = '' OR c.date >= ?3) AND (?4 = '' OR c.date <> '' AND c.date <= ?4)`

// filterArgs are the placeholders of selectAllowed.
func filterArgs(f memory.Filter) []any {
	sources := ""
	if len(f.Sources) > 0 {
		sources = "," + strings.Join(f.Sources, ",") + ","
	}
	return []any{sources, f.PathPrefix, f.Since, f.Until}
}

// selectNewest lists the chunks that a filter lets through by chunks_date, the last days first. Its bounds are spelled out,
// as "no bound" in an OR would keep SQLite from the index.
const selectNewest = `SELECT c.id FROM chunks c JOIN files f ON f.id = c.file
	WHERE (?1 = '' OR instr(?1, ',' || f.source || ',') > 0)
	AND substr(f.path, 1, length(?2)) = ?2
	AND c.date BETWEEN ?3 AND ?4
	ORDER BY c.date DESC, c.file DESC, c.id DESC LIMIT ?5`

// newestArgs are the placeholders of selectNewest but for its limit.
func newestArgs(f memory.Filter) []any {
	args := filterArgs(f)
	if f.Since == "" && f.Until != "" {
		// Every day is greater, and no date is less.
		args[2] = "0"
	}
	if f.Until == "" {
		args[3] = "9999-12-31"
	}
	return args
}

// filters reports whether f keeps anything out.
func filters(f memory.Filter) bool {
	return len(f.Sources) > 0 || f.PathPrefix != "" || f.Since != "" || f.Until != ""
}

// selectFreq looks each term of a JSON array up; CROSS JOIN keeps SQLite from walking the whole vocabulary instead.
const selectFreq = "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN chunks_vocab v WHERE v.term = j.value"

// DocFreq implements search.Reader.
func (v *view) DocFreq(ctx context.Context, terms []string) (map[string]int, error) {
	freq := make(map[string]int)
	err := each(ctx, v.text, selectFreq, terms, func(rows *sql.Rows) error {
		var t string
		var n int
		err := rows.Scan(&t, &n)
		freq[t] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read vocabulary: %w", err)
	}
	return freq, nil
}

// Dated implements search.Reader.
func (v *view) Dated(ctx context.Context, first, last string) (bool, error) {
	var found bool
	err := v.text.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM chunks WHERE date BETWEEN ? AND ?)", first, last).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("look for a date: %w", err)
	}
	return found, nil
}

// Match implements search.Reader.
func (v *view) Match(ctx context.Context, t search.Terms, f memory.Filter, limit int) ([]int64, error) {
	if limit <= 0 {
		return nil, nil
	}
	if len(t.All()) == 0 {
		ids, err := queryIDs(ctx, v.text, selectNewest, append(newestArgs(f), limit)...)
		if err != nil {
			return nil, fmt.Errorf("list the newest: %w", err)
		}
		return ids, nil
	}
	ids, err := v.match(ctx, t.Expr(), f, limit)
	if len(ids) < limit && len(t.Also) > 0 && err == nil {
		ids, err = v.match(ctx, search.MatchExpr(t.All()), f, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("match: %w", err)
	}
	return ids, nil
}

// match returns the ids of the best chunks that an FTS5 expression finds. With ORDER BY rank, FTS5 would sort all that it
// finds; SQLite keeps the best alone.
func (v *view) match(ctx context.Context, expr string, f memory.Filter, limit int) ([]int64, error) {
	if expr == "" {
		return nil, nil
	}
	query := "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?5 ORDER BY bm25(chunks_fts), rowid LIMIT ?6"
	if filters(f) {
		// Without the plus sign, FTS5 would look the whole expression up anew for each chunk that is let through.
		query = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?5 AND +rowid IN (" + selectAllowed +
			") ORDER BY bm25(chunks_fts), rowid LIMIT ?6"
	}
	return queryIDs(ctx, v.text, query, append(filterArgs(f), expr, limit)...)
}

// One statement for all ids takes a fourth of the time of one for each. CROSS JOIN keeps their order.
const (
	selectChunks = `SELECT c.id, f.path, f.source, c.start_line, c.end_line, c.headings, c.date, f.evergreen, c.fence, c.closed, c.text
		FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value CROSS JOIN files f ON f.id = c.file`
	selectVectors = "SELECT j.key, v.embedding FROM json_each(?) j CROSS JOIN chunks_vec v ON v.rowid = j.value"
)

// Chunks implements search.Reader.
func (v *view) Chunks(ctx context.Context, ids []int64, vectors bool) ([]search.Chunk, error) {
	chunks := make([]search.Chunk, 0, len(ids))
	err := each(ctx, v.text, selectChunks, ids, func(rows *sql.Rows) error {
		var c search.Chunk
		err := rows.Scan(&c.ID, &c.Path, &c.Source, &c.StartLine, &c.EndLine, &c.Headings, &c.Date,
			&c.Evergreen, &c.Fence, &c.Closed, &c.Text)
		chunks = append(chunks, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	if vectors && !v.meta.space.IsZero() {
		return chunks, v.attachVectors(ctx, chunks)
	}
	return chunks, nil
}

// attachVectors reads the vectors of chunks; chunks without one keep nil.
func (v *view) attachVectors(ctx context.Context, chunks []search.Chunk) error {
	if v.slab != nil {
		for i := range chunks {
			chunks[i].Vector = v.slab.Vector(chunks[i].ID)
		}
		return nil
	}
	ids := make([]int64, len(chunks))
	for i, c := range chunks {
		ids[i] = c.ID
	}
	err := each(ctx, v.vec, selectVectors, ids, func(rows *sql.Rows) error {
		var i int
		var blob sql.RawBytes
		err := rows.Scan(&i, &blob)
		if err == nil {
			chunks[i].Vector = decodeVector(blob)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	return nil
}

// each calls f with each row of a query whose only placeholder is a list, as a JSON array.
func each(ctx context.Context, q queryer, query string, of any, f func(*sql.Rows) error) error {
	list, err := json.Marshal(of)
	if err != nil {
		return err
	}
	rows, err := q.QueryContext(ctx, query, string(list))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// queryIDs returns the first column of a query.
func queryIDs(ctx context.Context, q queryer, query string, args ...any) ([]int64, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

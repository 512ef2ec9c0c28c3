package kioku

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kioku/search"
)

// selectAllowed is the ids of the chunks that a filter lets through; its placeholders are those of filterArgs. A chunk
// without a date is let through only where no date is asked for.
const selectAllowed = `SELECT c.id FROM chunks c JOIN files f ON f.id = c.file
	WHERE (?1 = '' OR instr(?1, ',' || f.source || ',') > 0)
	AND substr(f.path, 1, length(?2)) = ?2
	AND (?3 = '' OR c.date >= ?3) AND (?4 = '' OR c.date <> '' AND c.date <= ?4)`

// filterArgs are the placeholders of selectAllowed.
func filterArgs(f search.Filter) []any {
	sources := ""
	if len(f.Sources) > 0 {
		sources = "," + strings.Join(f.Sources, ",") + ","
	}
	return []any{sources, f.PathPrefix, f.Since, f.Until}
}

// filters reports whether f keeps anything out.
func filters(f search.Filter) bool {
	return len(f.Sources) > 0 || f.PathPrefix != "" || f.Since != "" || f.Until != ""
}

// selectFreq looks each term of a JSON array up; CROSS JOIN keeps SQLite from walking the whole vocabulary instead.
const selectFreq = "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN chunks_vocab v WHERE v.term = j.value"

// DocFreq implements search.Reader.
func (v *view) DocFreq(ctx context.Context, terms []string) (map[string]int, error) {
	list, err := json.Marshal(terms)
	if err != nil {
		return nil, fmt.Errorf("read vocabulary: %w", err)
	}
	rows, err := v.text.QueryContext(ctx, selectFreq, string(list))
	if err != nil {
		return nil, fmt.Errorf("read vocabulary: %w", err)
	}
	defer rows.Close()
	freq := make(map[string]int)
	for rows.Next() {
		var t string
		var n int
		if err := rows.Scan(&t, &n); err != nil {
			return nil, fmt.Errorf("read vocabulary: %w", err)
		}
		freq[t] = n
	}
	return freq, rows.Err()
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
func (v *view) Match(ctx context.Context, terms []string, f search.Filter, limit int) ([]int64, error) {
	expr := search.MatchExpr(terms)
	if expr == "" || limit <= 0 {
		return nil, nil
	}
	query := "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?5 ORDER BY rank LIMIT ?6"
	if filters(f) {
		query = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?5 AND rowid IN (" + selectAllowed +
			") ORDER BY rank LIMIT ?6"
	}
	ids, err := queryIDs(ctx, v.text, query, append(filterArgs(f), expr, limit)...)
	if err != nil {
		return nil, fmt.Errorf("match: %w", err)
	}
	return ids, nil
}

// Nearest implements search.Reader; k is cut to what vec0 answers.
func (v *view) Nearest(ctx context.Context, vector []float32, f search.Filter, k int) ([]search.Neighbor, error) {
	if v.meta.space.IsZero() || len(vector) != v.meta.space.Dims || k <= 0 {
		return nil, nil
	}
	query := "SELECT rowid, distance FROM chunks_vec WHERE embedding MATCH ?5 AND k = ?6"
	if filters(f) {
		query += " AND rowid IN (" + selectAllowed + ")"
	}
	args := append(filterArgs(f), encodeVector(vector), min(k, maxNeighbors))
	rows, err := v.vec.QueryContext(ctx, query+" ORDER BY distance", args...)
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	defer rows.Close()
	var near []search.Neighbor
	for rows.Next() {
		var n search.Neighbor
		var distance float64
		if err := rows.Scan(&n.ID, &distance); err != nil {
			return nil, fmt.Errorf("nearest: %w", err)
		}
		n.Cosine = 1 - distance
		near = append(near, n)
	}
	return near, rows.Err()
}

const (
	selectChunk = `SELECT c.id, f.path, f.source, c.start_line, c.end_line, c.headings, c.date, f.evergreen, c.fence, c.closed, c.text
		FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?`
	selectVector = "SELECT embedding FROM chunks_vec WHERE rowid = ?"
)

// Chunks implements search.Reader.
func (v *view) Chunks(ctx context.Context, ids []int64, vectors bool) ([]search.Chunk, error) {
	stmt, err := v.text.PrepareContext(ctx, selectChunk)
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	defer stmt.Close()
	chunks := make([]search.Chunk, 0, len(ids))
	for _, id := range ids {
		var c search.Chunk
		err := stmt.QueryRowContext(ctx, id).Scan(&c.ID, &c.Path, &c.Source, &c.StartLine, &c.EndLine, &c.Headings,
			&c.Date, &c.Evergreen, &c.Fence, &c.Closed, &c.Text)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read chunks: %w", err)
		}
		chunks = append(chunks, c)
	}
	if vectors && !v.meta.space.IsZero() {
		return chunks, v.attachVectors(ctx, chunks)
	}
	return chunks, nil
}

// attachVectors reads the vectors of chunks; chunks without one keep nil.
func (v *view) attachVectors(ctx context.Context, chunks []search.Chunk) error {
	stmt, err := v.vec.PrepareContext(ctx, selectVector)
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	defer stmt.Close()
	for i := range chunks {
		var blob []byte
		err := stmt.QueryRowContext(ctx, chunks[i].ID).Scan(&blob)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
		chunks[i].Vector = decodeVector(blob)
	}
	return nil
}

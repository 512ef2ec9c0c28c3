package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
)

// selectFreq looks up the terms of a JSON array. CROSS JOIN makes SQLite start with the array instead of scanning the whole
// vocabulary.
const selectFreq = "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN chunks_vocab v WHERE v.term = j.value"

// DocFreq implements search.Reader.
func (v *view) DocFreq(ctx context.Context, terms []string) (map[string]int, error) {
	freq := make(map[string]int)
	if v.words != nil {
		for _, term := range terms {
			if n := v.words.DocFreq(term); n > 0 {
				freq[term] = n
			}
		}
		return freq, nil
	}
	list := array(terms)
	err := forEachRow(ctx, v.wordsTx, func(rows *sql.Rows) error {
		var term string
		var n int
		err := rows.Scan(&term, &n)
		freq[term] = n
		return err
	}, selectFreq, list)
	if err != nil {
		return nil, fmt.Errorf("read vocabulary: %w", err)
	}
	return freq, nil
}

// The terms that begin with a term, and those that end with it. The latter reads the whole vocabulary.
const (
	selectBeginning = "SELECT term, doc FROM chunks_vocab WHERE term >= ?1 AND term <= ?1 || char(1114111) ORDER BY doc DESC, term LIMIT ?2"
	selectEnding    = "SELECT term, doc FROM chunks_vocab WHERE substr(term, -length(?1)) = ?1 ORDER BY doc DESC, term LIMIT ?2"
)

// Longer implements search.Reader.
func (v *view) Longer(ctx context.Context, term string, end bool, limit int) (map[string]int, error) {
	if v.words != nil {
		return v.words.Longer(term, end, limit), nil
	}
	freq := make(map[string]int)
	query := selectBeginning
	if end {
		query = selectEnding
	}
	err := forEachRow(ctx, v.wordsTx, func(rows *sql.Rows) error {
		var term string
		var n int
		err := rows.Scan(&term, &n)
		freq[term] = n
		return err
	}, query, term, limit)
	if err != nil {
		return nil, fmt.Errorf("read longer terms: %w", err)
	}
	return freq, nil
}

// Dated implements search.Reader.
func (v *view) Dated(ctx context.Context, first, last string) (bool, error) {
	var dated bool
	err := v.wordsTx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM chunks c JOIN files f ON f.id = c.file
		WHERE c.date BETWEEN ? AND ?)`, first, last).Scan(&dated)
	if err != nil {
		return false, fmt.Errorf("look for a date: %w", err)
	}
	return dated, nil
}

// Match implements search.Reader.
func (v *view) Match(ctx context.Context, t search.Terms, f memory.Filter, limit int) ([]int64, error) {
	if limit <= 0 {
		return nil, nil
	}
	if len(t.All()) == 0 {
		ids, err := column[int64](ctx, v.wordsTx, selectNewest, append(newestArgs(f), limit)...)
		if err != nil {
			return nil, fmt.Errorf("list the newest: %w", err)
		}
		return ids, nil
	}
	if v.words != nil && areTokens(t.All()) {
		return v.matchCached(ctx, t, f, limit)
	}
	ids, err := v.matchExpr(ctx, termsExpr(t), f, limit)
	if len(ids) < limit && len(t.Also) > 0 && err == nil {
		ids, err = v.matchExpr(ctx, AnyExpr(t.All()), f, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("match: %w", err)
	}
	return ids, nil
}

// matchExpr returns the ids of the best chunks that an FTS5 expression finds. With ORDER BY rank, FTS5 would sort all chunks
// that it finds, whereas SQLite keeps only the best.
func (v *view) matchExpr(ctx context.Context, expr string, f memory.Filter, limit int) ([]int64, error) {
	if expr == "" {
		return nil, nil
	}
	query := "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?6 ORDER BY bm25(chunks_fts), rowid LIMIT ?7"
	if Restricts(f) {
		// Without the plus sign, FTS5 would evaluate the whole expression for each chunk that the filter allows.
		query = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?6 AND +rowid IN (" + selectAllowed +
			") ORDER BY bm25(chunks_fts), rowid LIMIT ?7"
	}
	return column[int64](ctx, v.wordsTx, query, append(FilterArgs(f), expr, limit)...)
}

// matchCached is Match over the cached words.
func (v *view) matchCached(ctx context.Context, t search.Terms, f memory.Filter, limit int) ([]int64, error) {
	allow, err := v.allowedIDs(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("match: %w", err)
	}
	q := slab.Query{Any: t.Any, Also: t.Also, Allow: allow, Limit: limit}
	ids := v.words.Match(q)
	if len(ids) < limit && len(t.Also) > 0 {
		q.Any, q.Also = t.All(), nil
		ids = v.words.Match(q)
	}
	return ids, nil
}

// areTokens reports whether the tokenizer of FTS5 leaves each of the terms as it is.
func areTokens(terms []string) bool {
	isOther := func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 'A' && r <= 'Z' }
	return !slices.ContainsFunc(terms, func(t string) bool { return t == "" || strings.ContainsFunc(t, isOther) })
}

// termsExpr returns the FTS5 expression that finds the chunks with at least one term of t.Any. The terms of t.Also count half
// as much in their rank. FTS5 finds the places of a term quickly, but ranks a chunk slowly.
func termsExpr(t search.Terms) string {
	any, all := AnyExpr(t.Any), AnyExpr(t.All())
	if any == all || any == "" {
		return all
	}
	return "(" + any + ") AND (" + all + ")"
}

// AnyExpr returns the FTS5 expression that finds any of the terms: each a string in double quotes, joined by OR. No text in a
// term can become an operator. It returns "" if no term is left to search for.
func AnyExpr(terms []string) string {
	var b strings.Builder
	for _, t := range terms {
		// FTS5 reads no further than a NUL, which would leave the string open.
		t = strings.ReplaceAll(t, "\x00", "")
		if t == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(t, `"`, `""`))
		b.WriteByte('"')
	}
	return b.String()
}

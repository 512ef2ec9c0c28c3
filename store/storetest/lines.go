package storetest

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
)

// IndexLines returns what the index at path contains, one line for each file and each chunk, sorted: texts, the positions of
// all terms, and vectors. Two indexes of the same folder have the same lines, whatever happened to them.
func IndexLines(path string) (lines []string, err error) {
	vec.Auto()
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=5000")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // that has the temporary table
	if _, err := db.Exec("CREATE VIRTUAL TABLE temp.postings USING fts5vocab (main, chunks_fts, instance)"); err != nil {
		return nil, fmt.Errorf("read the terms of %s: %w", path, err)
	}
	terms, err := postings(db)
	if err != nil {
		return nil, fmt.Errorf("read the terms of %s: %w", path, err)
	}
	vectors := "NULL"
	var n int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'chunks_vec'").Scan(&n); err != nil {
		return nil, err
	}
	if n > 0 {
		vectors = "(SELECT hex(v.embedding) FROM chunks_vec v WHERE v.rowid = c.id AND c.checksum IS NOT NULL)"
	}
	rows, err := db.Query(`SELECT 0, format('file %s %s %s %s %s %d', path, source, hex(sha256), date, error, chunks) FROM files UNION ALL
		SELECT c.id, format('chunk %s:%d-%d %s %s %d %s %s vector %s', f.path, c.start_line, c.end_line, c.headings, c.date, c.terms,
			hex(c.sha256), c.text, ` + vectors + `) FROM chunks c JOIN files f ON f.id = c.file`)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var line string
		if err := rows.Scan(&id, &line); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if id != 0 {
			line += fmt.Sprintf(" terms %x", terms[id])
			delete(terms, id)
		}
		lines = append(lines, line)
	}
	for id := range terms {
		lines = append(lines, fmt.Sprintf("terms of no chunk %d", id))
	}
	slices.Sort(lines)
	return lines, rows.Err()
}

// postings returns a checksum of the terms of each chunk and their positions.
func postings(db *sql.DB) (map[int64][]byte, error) {
	rows, err := db.Query("SELECT doc, term, offset FROM temp.postings ORDER BY doc, offset, term")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sums := map[int64][]byte{}
	for rows.Next() {
		var doc, offset int64
		var term string
		if err := rows.Scan(&doc, &term, &offset); err != nil {
			return nil, err
		}
		next := sha256.Sum256(fmt.Appendf(sums[doc], "%s %d", term, offset))
		sums[doc] = next[:8]
	}
	return sums, rows.Err()
}

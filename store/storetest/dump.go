package storetest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// dumps are the queries of Dump. Each returns one text a row, and none contains what differs between two indexes of the same
// files: ids, times and the order of writing.
var dumps = []string{
	`SELECT 'file ' || quote(path) || ' ' || source || ' ' || hex(sha256) || ' ' || size || ' ' || date || ' ' || evergreen || ' ' ||
		quote(error) || ' ' || chunks || ' ' || embedded || ' ' || quote(title) || ' ' || quote(names) || ' ' ||
		quote(folders) || ' ' || aliases || ' ' || tags FROM files ORDER BY path`,
	`SELECT 'field ' || quote(f.path) || ' ' || quote(d.name) || ' ' || quote(d.value) || ' ' || quote(d.number) || ' ' || quote(d.day)
		FROM fields d JOIN files f ON f.id = d.file ORDER BY f.path, d.name, d.value`,
	`SELECT 'aka ' || quote(f.path) || ' ' || quote(a.name) FROM aka a JOIN files f ON f.id = a.file ORDER BY f.path, a.name`,
	`SELECT 'link ' || quote(f.path) || ' ' || l.line || ' ' || quote(l.text) || ' ' || quote(l.target) || ' ' || l.kind || ' ' || quote(l.name)
		FROM links l JOIN files f ON f.id = l.file ORDER BY f.path, l.rowid`,
	`SELECT 'chunk ' || quote(f.path) || ' ' || c.start_line || '-' || c.end_line || ' ' || quote(c.headings) || ' ' || c.date || ' ' ||
		hex(c.sha256) || ' ' || quote(c.fence) || ' ' || c.closed || ' ' || c.terms || ' ' || hex(coalesce((SELECT w.terms FROM words w WHERE w.chunk = c.id), '')) || ' ' || c.embedded || ' ' ||
		quote(c.text) FROM chunks c JOIN files f ON f.id = c.file ORDER BY f.path, c.start_line, c.end_line, c.sha256`,
	`SELECT 'word ' || quote(f.path) || ' ' || c.start_line || ' ' || i.offset || ' ' || quote(i.term) FROM temp.postings i
		JOIN chunks c ON c.id = i.doc JOIN files f ON f.id = c.file ORDER BY f.path, c.start_line, c.sha256, i.offset, i.term`,
	`SELECT 'meta ' || space_provider || ' ' || space_model || ' ' || space_dims || ' ' || files || ' ' || chunks || ' ' || embedded ||
		' ' || terms FROM meta`,
}

// dumpVectors returns the vectors of the chunks.
const dumpVectors = `SELECT 'vector ' || quote(f.path) || ' ' || c.start_line || ' ' || hex(v.embedding) || ' ' || hex(w.codes) FROM chunks c
	JOIN files f ON f.id = c.file CROSS JOIN chunks_vec v ON v.rowid = c.id JOIN windows w ON w.chunk = c.id ORDER BY f.path, c.start_line, c.sha256`

// Dump returns everything that is read from the index at path: files, fields, names, links, chunks, words and vectors. Two indexes of the same
// files, however they were made, have the same dump.
func Dump(t testing.TB, path string) string {
	t.Helper()
	db := openIndex(t, path)
	defer db.Close()
	if _, err := db.Exec("CREATE VIRTUAL TABLE temp.postings USING fts5vocab(main, chunks_fts, instance)"); err != nil {
		t.Fatal(err)
	}
	queries := dumps
	var vectors bool
	if err := db.QueryRow("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec')").Scan(&vectors); err != nil {
		t.Fatal(err)
	}
	if vectors {
		queries = append(queries[:len(queries):len(queries)], dumpVectors)
	}
	var b strings.Builder
	for _, q := range queries {
		if err := dumpRows(&b, db, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return b.String()
}

// dumpRows writes the rows of a query, one a line.
func dumpRows(b *strings.Builder, db *sql.DB, query string) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		fmt.Fprintln(b, line)
	}
	return rows.Err()
}

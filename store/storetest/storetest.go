// Package storetest looks into index files, and damages them, for the tests of several packages.
package storetest

import (
	"database/sql"
	"net/url"
	"os"
	"testing"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"kioku/store/checksumvfs"
)

// Exec runs statements on the index at path, as another program with vec0 at hand would.
func Exec(t testing.TB, path string, stmts ...string) {
	t.Helper()
	db := openIndex(t, path)
	defer db.Close()
	for _, stmt := range stmts {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

// Count returns the one number that a query of the index at path gives.
func Count(t testing.TB, path, query string) int {
	t.Helper()
	db := openIndex(t, path)
	defer db.Close()
	var n int
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Copy copies the index at path into a new file, as sqlite3 -readonly with VACUUM INTO does.
func Copy(t testing.TB, path, to string) {
	t.Helper()
	vec.Auto()
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("VACUUM INTO ?", to); err != nil {
		t.Fatal(err)
	}
}

// CheckIndex fails the test unless the index at path is intact, and its tables hold as many chunks as it says.
func CheckIndex(t testing.TB, path string) {
	t.Helper()
	db := openIndex(t, path)
	defer db.Close()
	var integrity string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&integrity); err != nil || integrity != "ok" {
		t.Errorf("integrity_check: %q, %v", integrity, err)
	}
	var want, chunks, words, embedded, windowed int
	err := db.QueryRow(`SELECT chunks, embedded, (SELECT count(*) FROM chunks), (SELECT count(*) FROM chunks_fts_docsize),
		(SELECT count(*) FROM chunks WHERE embedded = 1) FROM meta`).Scan(&want, &embedded, &chunks, &words, &windowed)
	if err != nil || chunks != want || words != want || windowed != embedded {
		t.Errorf("%d chunks are told of, %d are there, with words %d; %d vectors are told of, %d are there; %v",
			want, chunks, words, embedded, windowed, err)
	}
}

// openIndex opens an index with vec0 at hand, and with its page checksums if it has any.
func openIndex(t testing.TB, path string) *sql.DB {
	t.Helper()
	vec.Auto()
	options := url.Values{"_busy_timeout": {"5000"}}
	if page, err := os.ReadFile(path); err == nil && len(page) >= checksumvfs.PageSize {
		if id, ok := checksumvfs.PageID(page[:checksumvfs.PageSize], 1); ok {
			f, err := checksumvfs.Open(id)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(f.Close)
			f.AddTo(options)
		}
	}
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

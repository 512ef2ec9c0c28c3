package kioku

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/indexer"
	"kioku/search"
)

// corpus writes n Markdown files of about size bytes with words of a Zipf distribution, every tenth in Japanese, and
// returns how many bytes there are.
func corpus(b *testing.B, dir string, n, size int) (total int64) {
	b.Helper()
	r := rand.New(rand.NewPCG(42, 42))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		var text strings.Builder
		name := day.AddDate(0, 0, i).Format(time.DateOnly)
		fmt.Fprintf(&text, "# %s\n", name)
		for text.Len() < size {
			fmt.Fprintf(&text, "\n## %02d:%02d - topic %d\n\n", r.IntN(24), r.IntN(60), zipf.Uint64())
			for range 4 {
				writeSentence(&text, r, zipf, i%10 == 9)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "memory", name+".md"), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
		total += int64(text.Len())
	}
	return total
}

// writeSentence writes one line of words.
func writeSentence(text *strings.Builder, r *rand.Rand, zipf *rand.Zipf, japanese bool) {
	for range 10 + r.IntN(15) {
		if japanese {
			text.WriteRune(rune(0x4e00 + zipf.Uint64()%3000))
			text.WriteRune(rune(0x3042 + zipf.Uint64()%80))
			continue
		}
		text.WriteString(word(zipf.Uint64()))
		text.WriteByte(' ')
	}
	text.WriteString(".\n")
}

// word spells a number with syllables, so that frequent words are short.
func word(n uint64) string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var w []byte
	for n += 20; n > 0; n /= 90 {
		w = append(w, consonants[n%18], vowels[n/18%5])
	}
	return string(w)
}

// seconds runs f and returns how long it took.
func seconds(b *testing.B, f func() error) float64 {
	b.Helper()
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds()
}

// BenchmarkIndex compares a full index of 2,000 files, 20 MB, with a bare insert of the same chunks and terms into a
// table and FTS5 through go-sqlite3. Goal: at least a third of the bare rate, and a database of at most 3x the text.
func BenchmarkIndex(b *testing.B) {
	ws := b.TempDir()
	bytes := corpus(b, ws, 2000, 10_000)
	var ours, bare []float64
	var chunks, size int64
	for b.Loop() {
		m := benchMemory(b, ws)
		ours = append(ours, seconds(b, func() error { _, err := m.Sync(b.Context(), SyncOptions{}, nil); return err }))
		bare = append(bare, bareInsert(b, m))
		st, err := m.Status(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		chunks = int64(st.State.Chunks)
		if _, err := m.store.db.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			b.Fatal(err)
		}
		size = fileSize(m.store.db.path)
	}
	b.ReportMetric(float64(bytes)/1e6, "MB_text")
	b.ReportMetric(float64(chunks)/median(ours), "chunks/s")
	b.ReportMetric(median(ours)/median(bare), "x_bare(goal<=3)")
	b.ReportMetric(float64(size)/float64(bytes), "x_text_db(goal<=3)")
}

// benchMemory opens an empty memory.
func benchMemory(b *testing.B, ws string) *Memory {
	b.Helper()
	m, err := Open(b.Context(), Options{Workspace: ws, State: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	return m
}

// bareInsert times the insertion of the chunks of m, a file a transaction, into tables without any of Kioku.
func bareInsert(b *testing.B, m *Memory) float64 {
	b.Helper()
	type row struct {
		file        int64
		text, terms string
	}
	var rows []row
	read, err := m.store.db.readers.Query("SELECT file, headings, date, text FROM chunks ORDER BY id")
	if err != nil {
		b.Fatal(err)
	}
	defer read.Close()
	for read.Next() {
		var r row
		var headings, date string
		if err := read.Scan(&r.file, &headings, &date, &r.text); err != nil {
			b.Fatal(err)
		}
		r.terms = strings.Join(search.ChunkTerms(headings, date, r.text), " ")
		rows = append(rows, r)
	}
	db := connect(filepath.Join(b.TempDir(), "bare.sqlite"), false).writer
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE chunks (id INTEGER PRIMARY KEY, file INTEGER, text TEXT);
		CREATE VIRTUAL TABLE fts USING fts5 (terms, content = '', contentless_delete = 1)`); err != nil {
		b.Fatal(err)
	}
	return seconds(b, func() error {
		for len(rows) > 0 {
			n := slices.IndexFunc(rows, func(r row) bool { return r.file != rows[0].file })
			if n < 0 {
				n = len(rows)
			}
			if err := insertBare(db, n, func(i int) (string, string) { return rows[i].text, rows[i].terms }); err != nil {
				return err
			}
			rows = rows[n:]
		}
		return nil
	})
}

// insertBare inserts n rows in one transaction.
func insertBare(db *sql.DB, n int, row func(int) (text, terms string)) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range n {
		text, terms := row(i)
		res, err := tx.Exec("INSERT INTO chunks (file, text) VALUES (1, ?)", text)
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO fts (rowid, terms) VALUES (?, ?)", id, terms); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// BenchmarkResync compares a sync of 2,000 unchanged files with a stat of each. No content is read.
func BenchmarkResync(b *testing.B) {
	ws := b.TempDir()
	corpus(b, ws, 2000, 2_000)
	m := benchMemory(b, ws)
	if _, err := m.Sync(b.Context(), SyncOptions{}, nil); err != nil {
		b.Fatal(err)
	}
	time.Sleep(3 * time.Second) // beyond the time in which equal times prove nothing
	if _, err := m.Sync(b.Context(), SyncOptions{}, nil); err != nil {
		b.Fatal(err)
	}
	var ours, stats []float64
	read := 0
	for b.Loop() {
		for range 9 {
			ours = append(ours, seconds(b, func() error {
				r, err := m.Sync(b.Context(), SyncOptions{}, nil)
				read += r.Read
				return err
			}))
			stats = append(stats, seconds(b, func() error { return statAll(ws) }))
		}
	}
	b.ReportMetric(median(ours)*1e3, "ms")
	b.ReportMetric(median(ours)/median(stats), "x_stat")
	b.ReportMetric(float64(read), "files_read(goal=0)")
}

// statAll walks a folder and stats each file.
func statAll(dir string) error {
	return filepath.Walk(dir, func(string, os.FileInfo, error) error { return nil })
}

// frequent is how many of the most frequent words of the corpus stand for the stop words of a natural language.
const frequent = 120

// BenchmarkSearch asks questions of six content words of 10,000 chunks, keywords only, and compares the median with the
// plain FTS5 query of the same terms. Goal: 5 ms at the median.
func BenchmarkSearch(b *testing.B) {
	ws := b.TempDir()
	corpus(b, ws, 840, 10_000)
	m := benchMemory(b, ws)
	if _, err := m.Sync(b.Context(), SyncOptions{}, nil); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	var ours, plain []float64
	for b.Loop() {
		for range 300 {
			words := make([]string, 6)
			for i := range words {
				n := zipf.Uint64()
				for n < frequent {
					n = zipf.Uint64()
				}
				words[i] = word(n)
			}
			q := search.Query{Text: "what did we say about " + strings.Join(words, " ") + "?"}
			ours = append(ours, seconds(b, func() error { _, err := m.Search(b.Context(), q); return err }))
			plain = append(plain, seconds(b, func() error { return plainMatch(b.Context(), m, search.Analyze(q.Text)) }))
		}
	}
	st, err := m.State(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(st.Chunks), "chunks")
	b.ReportMetric(median(ours)*1e3, "ms_p50(goal<=5)")
	b.ReportMetric(quantile(ours, 0.95)*1e3, "ms_p95")
	b.ReportMetric(median(ours)/median(plain), "x_plain_fts")
}

// plainMatch runs the plain FTS5 query of all terms.
func plainMatch(ctx context.Context, m *Memory, terms []string) error {
	_, err := queryIDs(ctx, m.store.db.readers,
		"SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT 100", search.MatchExpr(terms))
	return err
}

// BenchmarkEdit measures the time from the last write to the commit that makes it searchable, with the default debounce
// of 1.5 s and in a workspace of 2,000 files. Goal: 2.5 s.
func BenchmarkEdit(b *testing.B) {
	ws := b.TempDir()
	corpus(b, ws, 2000, 2_000)
	m := benchMemory(b, ws)
	events := m.Subscribe(b.Context())
	go m.Watch(b.Context())
	await := func(kind, path string) error {
		for ev := range events {
			if ev.Kind == kind && (path == "" || ev.Path == path) {
				return nil
			}
		}
		return b.Context().Err()
	}
	if err := await(indexer.SyncDone, ""); err != nil {
		b.Fatal(err)
	}
	var took []float64
	for b.Loop() {
		for i := range 5 {
			name := fmt.Sprintf("memory/2020-02-0%d.md", i+1)
			if err := os.WriteFile(filepath.Join(ws, name), fmt.Appendf(nil, "# Edit\n\nzzunique%d\n", i), 0o644); err != nil {
				b.Fatal(err)
			}
			took = append(took, seconds(b, func() error { return await(indexer.FileIndexed, name) }))
			a, err := m.Search(b.Context(), search.Query{Text: fmt.Sprintf("zzunique%d", i)})
			if err != nil || len(a.Hits) == 0 || a.Hits[0].Path != name {
				b.Fatalf("%s is not found: %+v, %v", name, a, err)
			}
		}
	}
	b.ReportMetric(slices.Max(took), "s_edit_to_searchable(goal<=2.5)")
}

// median returns the middle of v.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile returns the value below which a share q of v lies.
func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(int(math.Floor(q*float64(len(s)))), len(s)-1)]
}

package speed

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"kioku"
	"kioku/chunker"
	"kioku/embed"
)

// indexRounds is how often each of the full indexes is measured.
const indexRounds = 3

// indexBenches measure a full index of 20 MB in 2,000 files.
func indexBenches() []Bench {
	return []Bench{
		{Name: "index words", Unit: "ms", Goal: 1, Run: indexWords},
		{Name: "index vectors", Unit: "ms", Goal: 1.3, Run: indexVectors},
		{Name: "index size", Unit: "MB", Goal: 2.5, Run: indexSize},
	}
}

// indexWords compares a full index without vectors with the least that it has to do, on one core: hash the text, count its
// tokens, and insert it into a plain FTS5 table.
func indexWords(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	f, err := newIndexFixture(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	full := func() error { return f.index(ctx, nil, nil) }
	return f.rounds(full, func() error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		return f.bareWords(ctx)
	})
}

// indexVectors compares a full index with the vectors of a provider that answers at once with the same without vectors and
// a plain insert of the vectors into vec0.
func indexVectors(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	f, err := newIndexFixture(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	vectors := newIndexProvider()
	full := func() error { return f.index(ctx, vectors, nil) }
	return f.rounds(full, func() error {
		if err := f.index(ctx, nil, nil); err != nil {
			return err
		}
		return f.bareVectors(ctx, vectors)
	})
}

// indexSize compares the size of the database after a full index with vectors, and again after every tenth file was
// edited, deleted or made, with that of the texts and their vectors. It returns the worse of the two.
func indexSize(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	f, err := newIndexFixture(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	for _, change := range []func() error{func() error { return nil }, f.change} {
		var size, least float64
		err := f.index(ctx, newIndexProvider(), func(m *kioku.Memory) error {
			if err := change(); err != nil {
				return err
			}
			_, err := m.Sync(ctx, kioku.SyncOptions{Verify: true}, nil)
			if err != nil {
				return err
			}
			size, least, err = f.size(ctx, m)
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		if yardstick == 0 || size/least > ours/yardstick {
			ours, yardstick = size, least
		}
	}
	return ours, yardstick, nil
}

// indexFixture is a workspace and what its index is made of.
type indexFixture struct {
	env       *Env
	workspace string
	texts     []string // of the files
	chunks    []string // their texts, overlaps included
	made      int      // databases so far
}

// newIndexFixture writes the files, and cuts them once, so that what is loaded at the first use is there.
func newIndexFixture(ctx context.Context, e *Env) (*indexFixture, error) {
	f := &indexFixture{env: e, workspace: filepath.Join(e.Dir, "workspace")}
	cut, err := chunker.New(chunker.Options{})
	if err != nil {
		return nil, err
	}
	if f.texts, err = writeIndexCorpus(f.workspace); err != nil {
		return nil, err
	}
	for _, text := range f.texts {
		for _, c := range cut.Split(chunker.Notes, []byte(text)).Chunks {
			f.chunks = append(f.chunks, c.Text)
		}
	}
	return f, ctx.Err()
}

// rounds measures both in turn, after each has run once.
func (f *indexFixture) rounds(ours, yardstick func() error) (float64, float64, error) {
	step := 0
	counted := func(run func() error) func() error {
		return func() error {
			step++
			f.env.Step(step, 2*indexRounds)
			return run()
		}
	}
	return medians(indexRounds, counted(ours), counted(yardstick))
}

// database returns the folder of a new database; the one before is removed.
func (f *indexFixture) database() string {
	os.RemoveAll(filepath.Join(f.env.Dir, fmt.Sprint("index", f.made)))
	f.made++
	return filepath.Join(f.env.Dir, fmt.Sprint("index", f.made))
}

// index makes a full index, with the vectors of p where it is not nil, and hands it on.
func (f *indexFixture) index(ctx context.Context, p *indexProvider, use func(*kioku.Memory) error) (err error) {
	opt := kioku.Options{Workspace: f.workspace, State: f.database()}
	if p != nil {
		opt.Embedder, err = embed.New(embed.Config{Provider: "openai", BaseURL: "http://localhost", Transport: p})
		if err != nil {
			return err
		}
	}
	m, err := kioku.Open(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	r, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	if err == nil {
		err = f.complete(r, p != nil)
	}
	if err == nil && use != nil {
		err = use(m)
	}
	return err
}

// complete is an error where an index lacks something, and so was made too fast.
func (f *indexFixture) complete(r kioku.SyncReport, vectors bool) error {
	switch {
	case r.Files != len(f.texts) || r.Chunks != len(f.chunks):
		return fmt.Errorf("%d files and %d chunks were indexed, of %d and %d", r.Files, r.Chunks, len(f.texts), len(f.chunks))
	case vectors && (r.EmbedErr != nil || r.Embedded+r.Known < len(f.chunks)):
		return fmt.Errorf("%d of %d texts were embedded: %w", r.Embedded+r.Known, len(f.chunks), r.EmbedErr)
	}
	return nil
}

// size returns the size of the database and of what it is made for, the texts of the files and a vector a chunk, in MB.
func (f *indexFixture) size(ctx context.Context, m *kioku.Memory) (size, least float64, err error) {
	s, err := m.Status(ctx)
	if err != nil {
		return 0, 0, err
	}
	if s.Embedded < s.State.Chunks {
		return 0, 0, fmt.Errorf("%d of %d chunks have a vector", s.Embedded, s.State.Chunks)
	}
	for _, text := range f.texts {
		least += float64(len(text))
	}
	least += float64(4 * indexDims * s.Embedded)
	return float64(max(s.DatabaseBytes, f.pages(ctx, s.Database))) / 1e6, least / 1e6, nil
}

// pages returns the size that a database has with what is still in its write-ahead log, 0 where it cannot be read.
func (f *indexFixture) pages(ctx context.Context, path string) (n int64) {
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		return 0
	}
	defer db.Close()
	row := db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	if row.Scan(&n) != nil {
		return 0
	}
	return n
}

// change edits every tenth file, deletes every tenth and makes as many others.
func (f *indexFixture) change() error {
	for i := 0; i < len(f.texts); i += 10 {
		path, gone, made := indexFile(f.workspace, i), indexFile(f.workspace, i+1), indexFile(f.workspace, len(f.texts)+i)
		half := len(f.texts[i]) / 2
		end := half + strings.IndexByte(f.texts[i][half:], '\n') + 1
		edited := f.texts[i][:end] + "\nOne more line.\n" + f.texts[i][end:]
		other := strings.ReplaceAll(f.texts[i+1], "e", "o")
		if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
			return err
		}
		if err := os.Remove(gone); err != nil {
			return err
		}
		if err := os.WriteFile(made, []byte(other), 0o600); err != nil {
			return err
		}
		f.texts[i], f.texts[i+1] = edited, other
	}
	return nil
}

// bareWords is the yardstick of indexWords.
func (f *indexFixture) bareWords(ctx context.Context) error {
	cut, err := chunker.New(chunker.Options{})
	if err != nil {
		return err
	}
	tokens, sums := 0, make([][sha256.Size]byte, len(f.chunks))
	for i, text := range f.chunks {
		tokens += cut.Count(text)
		sums[i] = sha256.Sum256([]byte(text))
	}
	insert := func(tx *sql.Tx, i int) error {
		_, err := tx.Exec("INSERT INTO bare (text) VALUES (?)", f.chunks[i])
		return err
	}
	return f.bare(ctx, "CREATE VIRTUAL TABLE bare USING fts5 (text)", insert)
}

// bareVectors inserts the vector of each chunk into vec0.
func (f *indexFixture) bareVectors(ctx context.Context, p *indexProvider) error {
	table := fmt.Sprintf("CREATE VIRTUAL TABLE bare USING vec0 (embedding float[%d] distance_metric=cosine)", indexDims)
	return f.bare(ctx, table, func(tx *sql.Tx, i int) error {
		_, err := tx.Exec("INSERT INTO bare (rowid, embedding) VALUES (?, ?)", i+1, p.blob(f.chunks[i]))
		return err
	})
}

// bareBatch is how many rows go into a transaction of a yardstick.
const bareBatch = 256

// bare inserts a row a chunk into a table of its own, with the settings of the index.
func (f *indexFixture) bare(ctx context.Context, table string, insert func(tx *sql.Tx, i int) error) error {
	dir := f.database()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "bare.sqlite")+
		"?_journal_mode=WAL&_synchronous=NORMAL&_cache_size=-64000&_secure_delete=true&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, table); err != nil {
		return err
	}
	for from := 0; from < len(f.chunks); from += bareBatch {
		if err := insertRows(ctx, db, from, min(from+bareBatch, len(f.chunks)), insert); err != nil {
			return err
		}
	}
	return nil
}

// insertRows inserts the rows from, ..., end-1 in one transaction.
func insertRows(ctx context.Context, db *sql.DB, from, end int, insert func(tx *sql.Tx, i int) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := from; i < end; i++ {
		if err := insert(tx, i); err != nil {
			return err
		}
	}
	return tx.Commit()
}

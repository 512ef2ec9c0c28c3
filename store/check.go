package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kioku/indexer"
	"kioku/search/analysis"
)

const (
	// checkRows is the number of rows that one step of a check reads.
	checkRows = 128
	// sampleRate is 1 / the share of the chunks whose words a check analyses again.
	sampleRate = 16
	// lookupTerms is the number of words that a check looks up at a time.
	lookupTerms = 32
)

// Checked tells what a check of the index has looked at and found.
type Checked struct {
	// Pages is the number of pages whose checksums were compared.
	Pages int `json:"pages"`
	// Tables is the number of tables whose structure was checked.
	Tables int `json:"tables"`
	// Texts is the number of chunks whose text was compared with its hash.
	Texts int `json:"texts"`
	// Words is the number of chunks whose words were compared with their text.
	Words int `json:"words"`
	// Vectors is the number of vectors that were compared with the cache.
	Vectors int `json:"vectors"`
	// Found lists what was wrong, for people. None if the index is intact.
	Found []string `json:"found,omitempty"`
	// Forgotten is the number of files that the next sync indexes again, because rows of them were wrong.
	Forgotten int `json:"forgotten,omitempty"`
}

// Check compares the index with its checksums and its tables with each other, and mends what is wrong: files with wrong rows
// are forgotten, so that the next sync indexes them again; wrong vectors are removed, so that they are embedded again; after
// other damage, the index is replaced. Check calls pace after each step with the time that the step took, and ends with the
// error of pace. pace may be nil.
//
// If the index is replaced during the check, Check says so in Found and checks the new one.
func (s *Store) Check(ctx context.Context, pace func(worked time.Duration) error) (Checked, error) {
	var found []string
	for try := 1; ; try++ {
		x := s.current()
		c := checker{index: x, file: x.db.raw, pace: pace}
		err := c.checkAll(ctx)
		replaced := s.current() != x
		c.Found = append(found, c.Found...)
		if !replaced {
			return s.mendChecked(ctx, x, c.Checked, err)
		}
		if err := ctx.Err(); err != nil {
			return c.Checked, err
		}
		found = append(c.Found, s.replacedCause())
		if try == maxTries {
			return Checked{Found: found}, ErrReplaced
		}
	}
}

// replacedCause says why the index was replaced.
func (s *Store) replacedCause() string {
	if r := s.Repair(); r != nil {
		return r.Cause
	}
	return "the index was damaged and was replaced during the check"
}

// mendChecked ends the check of an index. It replaces the index if err says that it is damaged.
func (s *Store) mendChecked(ctx context.Context, x *index, checked Checked, err error) (Checked, error) {
	damage := x.damage(err)
	if !IsDamage(damage) {
		return checked, err
	}
	checked.Found = append(checked.Found, damage.Error())
	if err := s.noticeDamage(ctx, x, damage); err != nil {
		return checked, fmt.Errorf("mend the index: %w", err)
	}
	return checked, nil
}

// checker is one check of an index.
type checker struct {
	*index
	Checked
	file io.ReaderAt // the file of the index
	pace func(worked time.Duration) error
	// sampled counts chunks, so that every sampleRate-th is analysed again.
	sampled    int
	wrong      []string      // paths of files with wrong rows
	badVectors []wrongVector // of the index
}

// checkAll takes all steps. It returns an error of damage that only a new index mends.
func (c *checker) checkAll(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		c.checkPages, c.checkTables, c.checkTexts, c.checkCache, c.checkVectors, c.checkTotals, c.mend,
	} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step takes one step and paces it.
func (c *checker) step(ctx context.Context, f func() error) error {
	start := time.Now()
	if err := f(); err != nil {
		return err
	}
	if c.pace != nil {
		if err := c.pace(time.Since(start)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// checkTables has SQLite check the structure of each table, its indexes, and the words.
func (c *checker) checkTables(ctx context.Context) error {
	names, err := column[string](ctx, c.db.readers, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('chunks_vec', 'chunks_vocab')")
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	for _, name := range names {
		if err := c.step(ctx, func() error { return c.checkTable(ctx, name) }); err != nil {
			return err
		}
		c.Tables++
	}
	return nil
}

// checkTable checks one table.
func (c *checker) checkTable(ctx context.Context, name string) error {
	tx, err := c.db.readers.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("check table %s: %w", name, err)
	}
	defer tx.Rollback()
	// FTS5 checks the segments that the connection knows from its last query, which may be gone since. A query updates them.
	if name == "chunks_fts" {
		err = forEachRow(ctx, tx, func(*sql.Rows) error { return nil }, fmt.Sprintf("SELECT 1 FROM %s LIMIT 1", name))
	}
	if err == nil {
		// A pragma takes no placeholders; the name is one of the schema.
		err = forEachRow(ctx, tx, scanCheckResult, fmt.Sprintf("PRAGMA quick_check('%s')", name))
	}
	if err != nil {
		return fmt.Errorf("check table %s: %w", name, err)
	}
	return nil
}

// scanCheckResult returns an error for a row of quick_check that is not "ok".
func scanCheckResult(rows *sql.Rows) error {
	var result string
	if err := rows.Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, result)
	}
	return nil
}

// checkedChunk is a chunk as checkTexts reads it.
type checkedChunk struct {
	analysis.Chunk
	id    int64
	path  string
	hash  indexer.Hash
	terms int
	words []byte
}

// checkTexts compares the text of every chunk with its hash, and the words of some with their text.
func (c *checker) checkTexts(ctx context.Context) error {
	for last := int64(-1); ; {
		var chunks []checkedChunk
		err := c.step(ctx, func() (err error) {
			if chunks, err = c.readChecked(ctx, last); err != nil {
				return fmt.Errorf("check texts: %w", err)
			}
			return c.compareTexts(ctx, chunks)
		})
		if err != nil || len(chunks) == 0 {
			return err
		}
		last = chunks[len(chunks)-1].id
	}
}

// readChecked reads the chunks that follow an id.
func (c *checker) readChecked(ctx context.Context, after int64) ([]checkedChunk, error) {
	var chunks []checkedChunk
	err := forEachRow(ctx, c.db.readers, func(rows *sql.Rows) error {
		var k checkedChunk
		var hash sql.RawBytes
		err := rows.Scan(&k.id, &k.path, &k.First, &k.Names, &k.Folders, &k.Language, &k.Headings, &k.Date, &k.Text, &hash, &k.terms, &k.words)
		copy(k.hash[:], hash) // a hash of another length differs
		chunks = append(chunks, k)
		return err
	}, `SELECT c.id, f.path, c.id = (SELECT min(id) FROM chunks WHERE file = c.file), f.names, f.folders, c.language, c.headings, c.date, c.text, c.sha256, c.terms, w.terms FROM chunks c JOIN files f ON f.id = c.file LEFT JOIN words w ON w.chunk = c.id
		WHERE c.id > ? ORDER BY c.id LIMIT ?`, after, checkRows)
	return chunks, err
}

// compareTexts compares chunks with their hashes, and some with their words.
func (c *checker) compareTexts(ctx context.Context, chunks []checkedChunk) error {
	for _, k := range chunks {
		c.Texts++
		if indexer.EmbeddedHash(k.Names, k.Text) != k.hash {
			c.foundWrong(k.path, "the text of a chunk does not have its hash")
			continue
		}
		if c.sampled++; c.sampled%sampleRate != 1 {
			continue
		}
		c.Words++
		same, err := c.sameWords(ctx, k)
		if err != nil {
			return fmt.Errorf("check words: %w", err)
		}
		if !same {
			c.foundWrong(k.path, "the words of a chunk are not those of its text")
		}
	}
	return nil
}

// foundWrong records a file with wrong rows.
func (c *checker) foundWrong(path, what string) {
	c.Found = append(c.Found, path+": "+what)
	c.wrong = append(c.wrong, path)
}

// sameWords reports whether the index finds a chunk by all of its words, and knows how often each occurs. It reports true for a
// chunk that was deleted meanwhile.
func (c *checker) sameWords(ctx context.Context, k checkedChunk) (bool, error) {
	tx, _, err := c.snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	var exists bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM chunks WHERE id = ? AND sha256 = ?)", k.id, k.hash[:]).Scan(&exists); err != nil || !exists {
		return true, err
	}
	terms := analysis.ChunkTerms(k.Chunk)
	if len(terms) != k.terms || !bytes.Equal(analysis.EncodeTerms(terms), k.words) {
		return false, nil
	}
	slices.Sort(terms)
	for part := range slices.Chunk(slices.Compact(terms), lookupTerms) {
		quoted := make([]string, len(part))
		for i, t := range part {
			quoted[i] = AnyExpr([]string{t})
		}
		var found bool
		err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid = ?)",
			strings.Join(quoted, " "), k.id).Scan(&found)
		if err != nil || !found {
			return false, err
		}
	}
	return true, nil
}

// checkCache compares the vectors of the cache with their checksums, and removes wrong ones.
func (c *checker) checkCache(ctx context.Context) error {
	n, found, err := c.opt.Cache.Check(ctx, c.pace)
	c.Checked.Vectors += n
	c.Found = append(c.Found, found...)
	return err
}

// checkVectors compares the vectors of the index with the cache, if there is one.
func (c *checker) checkVectors(ctx context.Context) error {
	if c.opt.Cache.ID() == 0 {
		return nil
	}
	if !c.opt.ReadOnly {
		if err := c.reconcile(ctx); err != nil {
			return err
		}
	}
	for last := int64(-1); ; {
		n := 0
		err := c.step(ctx, func() error {
			wrong, next, compared, err := c.compareVectors(ctx, last, !c.opt.ReadOnly)
			if len(wrong) > 0 {
				c.Found = append(c.Found, fmt.Sprintf("vectors that are not those of the cache, or lack windows there: %d", len(wrong)))
				c.badVectors = append(c.badVectors, wrong...)
			}
			last, n = next, compared
			return err
		})
		if err != nil {
			return fmt.Errorf("check vectors: %w", err)
		}
		if c.Checked.Vectors += n; n == 0 {
			return nil
		}
	}
}

// checkTotals compares the numbers of rows in one snapshot.
func (c *checker) checkTotals(ctx context.Context) error {
	return c.step(ctx, func() error {
		tx, m, err := c.snapshot(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		agree, err := consistent(ctx, tx, m)
		if err != nil {
			return err
		}
		var wrong int
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM files f LEFT JOIN
			(SELECT file, count(*) AS chunks, sum(embedded) AS embedded FROM chunks GROUP BY file) c ON c.file = f.id
			WHERE f.chunks <> coalesce(c.chunks, 0) OR f.embedded <> coalesce(c.embedded, 0)`).Scan(&wrong)
		if err == nil && (wrong > 0 || !agree) {
			err = fmt.Errorf("%w: its tables do not agree", errDamaged)
		}
		return err
	})
}

// consistent reports whether the tables of the index contain the same chunks.
func consistent(ctx context.Context, q queryer, m meta) (bool, error) {
	var chunks, fts, files, vecs int
	err := q.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM chunks_fts_docsize),
		(SELECT count(*) FROM files WHERE error = '')`).Scan(&chunks, &fts, &files)
	if err != nil {
		return false, fmt.Errorf("count rows: %w", err)
	}
	if vecs, err = countVectors(ctx, q, m.space); err != nil {
		return false, err
	}
	return chunks == m.chunks && fts == m.chunks && files == m.files && vecs == m.embedded, nil
}

package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
	"kioku/search/analysis"
	"kioku/store/slab"
)

// maxSnapshotTries is the number of times that View tries to get two connections with the same snapshot. After that it
// uses one connection.
const maxSnapshotTries = 5

// view is a snapshot of the index. It implements search.Reader.
type view struct {
	wordsTx, vectorsTx *sql.Tx // the same transaction if there is no second one with the same snapshot
	meta               meta
	languages          []analysis.Language
	words              *slab.Words   // the words of this snapshot, nil if they are not in memory
	vectors            *slab.Vectors // the vectors of this snapshot, nil if they are not in memory
	allowed            *allowedCache
}

// withView calls f with a snapshot of the index. Match and Nearest use a connection each, so that they can run at the same
// time; both see the same generation of the index.
func (x *index) withView(ctx context.Context, vectors bool, f func(search.Reader) error) error {
	for try := 1; ; try++ {
		done, err := x.tryView(ctx, vectors, try < maxSnapshotTries, f)
		if done || err != nil {
			return err
		}
	}
}

// tryView calls f with a view. It returns false if a commit came between its two transactions. With two, it begins a second
// transaction unless the vectors are in memory.
func (x *index) tryView(ctx context.Context, vectors, two bool, f func(search.Reader) error) (done bool, err error) {
	wordsTx, m, err := x.snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer wordsTx.Rollback()
	v := &view{wordsTx: wordsTx, vectorsTx: wordsTx, meta: m, allowed: &x.allowed}
	if v.languages, err = readLanguages(ctx, wordsTx); err != nil {
		return false, err
	}
	v.words, v.vectors = x.findSlab(m)
	if vectors && v.vectors == nil && two && !m.space.IsZero() {
		vectorsTx, other, err := x.snapshot(ctx)
		if err != nil {
			return false, err
		}
		defer vectorsTx.Rollback()
		if other.generation != m.generation {
			return false, nil
		}
		v.vectorsTx = vectorsTx
	}
	return true, f(v)
}

// snapshot begins a reading transaction and reads meta, at which SQLite takes the snapshot. It returns an error of damage if
// the snapshot is of another index, or older than the last commit: somebody has copied other files over those of the index.
func (x *index) snapshot(ctx context.Context) (*sql.Tx, meta, error) {
	committed := x.generation.Load()
	tx, err := x.db.readers.BeginTx(ctx, nil)
	if err != nil {
		return nil, meta{}, fmt.Errorf("begin: %w", err)
	}
	m, err := readMeta(ctx, tx)
	if err == nil {
		err = x.verifyState(m.id, m.generation, committed)
	}
	if err != nil {
		return nil, meta{}, errors.Join(err, tx.Rollback())
	}
	return tx, m, nil
}

// selectLanguages looks up each language once, however many chunks have it.
const selectLanguages = `WITH RECURSIVE next (language) AS (
		SELECT min(language) FROM chunks WHERE language > ''
		UNION ALL SELECT (SELECT min(language) FROM chunks WHERE language > '' AND language > next.language) FROM next
			WHERE next.language IS NOT NULL)
	SELECT language FROM next WHERE language IS NOT NULL`

// readLanguages returns the languages of the chunks beside English.
func readLanguages(ctx context.Context, tx *sql.Tx) ([]analysis.Language, error) {
	var languages []analysis.Language
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var l analysis.Language
		err := rows.Scan(&l)
		languages = append(languages, l)
		return err
	}, selectLanguages)
	if err != nil {
		return nil, fmt.Errorf("read languages: %w", err)
	}
	return languages, nil
}

// Index implements search.Reader.
func (v *view) Index() search.Index {
	m := v.meta
	ix := search.Index{Space: m.space, Files: m.files, Chunks: m.chunks, Embedded: m.embedded,
		Generation: m.generation, Languages: v.languages}
	if m.chunks > 0 {
		ix.AvgTerms = float64(m.nTerms) / float64(m.chunks)
	}
	return ix
}

// selectChunks and selectVectors look up the ids of a JSON array. One statement for all ids takes a fourth of the time of one
// statement for each. CROSS JOIN keeps the order of the ids.
const (
	selectChunks = `SELECT c.id, f.path, f.source, f.title, f.names, f.folders, c.language, c.start_line, c.end_line, c.headings, c.date, f.evergreen, c.fence, c.closed, c.text
		FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value CROSS JOIN files f ON f.id = c.file`
	selectVerified = `SELECT f.names, c.text, c.sha256 FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value
		CROSS JOIN files f ON f.id = c.file`
	selectOrigins = `SELECT c.id, o.start_line, o.end_line, o.origin FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value
		CROSS JOIN origins o ON o.file = c.file AND o.start_line <= c.end_line AND o.end_line >= c.start_line ORDER BY c.id, o.start_line`
	selectVectors = "SELECT j.key, v.embedding FROM json_each(?) j CROSS JOIN chunks_vec v ON v.rowid = j.value"
	selectWindows = "SELECT j.key, w.codes FROM json_each(?) j CROSS JOIN windows w ON w.chunk = j.value"
)

// Chunks implements search.Reader.
func (v *view) Chunks(ctx context.Context, ids []int64, vectors bool) ([]search.Chunk, error) {
	list := array(ids)
	chunks := make([]search.Chunk, 0, len(ids))
	err := forEachRow(ctx, v.wordsTx, func(rows *sql.Rows) error {
		var c search.Chunk
		err := rows.Scan(&c.ID, &c.Path, &c.Source, &c.Title, &c.Names, &c.Folders, &c.Language, &c.StartLine, &c.EndLine, &c.Headings, &c.Date,
			&c.Evergreen, &c.Fence, &c.Closed, &c.Text)
		chunks = append(chunks, c)
		return err
	}, selectChunks, list)
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	if vectors && !v.meta.space.IsZero() {
		err = v.readVectors(ctx, chunks)
		if err == nil {
			err = v.readWindows(ctx, chunks)
		}
	}
	return chunks, err
}

// Verify implements search.Reader.
func (v *view) Verify(ctx context.Context, ids []int64) error {
	list := array(ids)
	err := forEachRow(ctx, v.wordsTx, func(rows *sql.Rows) error {
		var names, text string
		var hash sql.RawBytes
		if err := rows.Scan(&names, &text, &hash); err != nil {
			return err
		}
		if sum := indexer.EmbeddedHash(names, text); !bytes.Equal(sum[:], hash) {
			return fmt.Errorf("%w: the text of a chunk does not have its hash", errDamaged)
		}
		return nil
	}, selectVerified, list)
	if err != nil {
		return fmt.Errorf("verify texts: %w", err)
	}
	return nil
}

// Origins implements search.Reader.
func (v *view) Origins(ctx context.Context, ids []int64) (map[int64][]memory.LineOrigin, error) {
	list := array(ids)
	origins := map[int64][]memory.LineOrigin{}
	err := forEachRow(ctx, v.wordsTx, func(rows *sql.Rows) error {
		var chunk int64
		var o memory.LineOrigin
		var text string
		if err := rows.Scan(&chunk, &o.From, &o.To, &text); err != nil {
			return err
		}
		origins[chunk] = append(origins[chunk], o)
		return json.Unmarshal([]byte(text), &origins[chunk][len(origins[chunk])-1].Origin)
	}, selectOrigins, list)
	if err != nil {
		return nil, fmt.Errorf("read origins: %w", err)
	}
	return origins, nil
}

// readVectors sets the vectors of chunks. Those of chunks without a vector stay nil.
func (v *view) readVectors(ctx context.Context, chunks []search.Chunk) error {
	if v.vectors != nil {
		for i := range chunks {
			chunks[i].Vector = v.vectors.Vector(chunks[i].ID)
		}
		return nil
	}
	list := array(idsOf(chunks))
	err := forEachRow(ctx, v.vectorsTx, func(rows *sql.Rows) error {
		var i int
		var blob sql.RawBytes
		err := rows.Scan(&i, &blob)
		if err == nil {
			chunks[i].Vector = decodeVector(blob)
		}
		return err
	}, selectVectors, list)
	if err != nil {
		return fmt.Errorf("read vectors: %w", vectorError(err))
	}
	return nil
}

// readWindows sets the windows of chunks. Those of chunks without windows stay nil, and damaged ones too: Check finds them, and
// the search goes on without.
func (v *view) readWindows(ctx context.Context, chunks []search.Chunk) error {
	list := array(idsOf(chunks))
	err := forEachRow(ctx, v.vectorsTx, func(rows *sql.Rows) error {
		var i int
		var codes sql.RawBytes
		err := rows.Scan(&i, &codes)
		if err == nil {
			if windows, err := embed.DecodeWindows(codes, v.meta.space.Dims); err == nil && len(windows) > 0 {
				chunks[i].Windows = windows
			}
		}
		return err
	}, selectWindows, list)
	if err != nil {
		return fmt.Errorf("read windows: %w", err)
	}
	return nil
}

// idsOf returns the ids of chunks.
func idsOf(chunks []search.Chunk) []int64 {
	ids := make([]int64, len(chunks))
	for i, c := range chunks {
		ids[i] = c.ID
	}
	return ids
}

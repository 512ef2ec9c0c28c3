package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"time"

	"kioku/atlas"
	"kioku/memory"
	"kioku/search/analysis"
)

// mapReader reads one snapshot of the index for a map; it is an atlas.Rows.
type mapReader struct {
	tx   *sql.Tx
	meta meta
}

// ReadMap calls f with a snapshot of the index, and again if that turns out to be damaged.
func (s *Store) ReadMap(ctx context.Context, f func(atlas.Rows) error) error {
	return s.read(ctx, "read a map", func(tx *sql.Tx, m meta) error { return f(&mapReader{tx, m}) })
}

const (
	selectMapFiles  = "SELECT id, path, title, tags, mtime FROM files WHERE chunks > 0 ORDER BY path"
	selectMapChunks = `SELECT c.id, c.file, c.sha256, c.start_line, c.end_line, c.headings, c.date FROM chunks c
		JOIN files f ON f.id = c.file ORDER BY c.file, c.start_line, c.id`
	selectMapTexts = "SELECT j.key, c.language, c.text FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value"
)

// Chunks returns all chunks that searches find, and their files.
func (r *mapReader) Chunks(ctx context.Context) ([]atlas.Chunk, []memory.MapFile, error) {
	files, at, err := r.files(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the files of a map: %w", err)
	}
	chunks := make([]atlas.Chunk, 0, r.meta.chunks)
	err = forEachRow(ctx, r.tx, func(rows *sql.Rows) error {
		var c atlas.Chunk
		var file int64
		var hash sql.RawBytes
		err := rows.Scan(&c.ID, &file, &hash, &c.StartLine, &c.EndLine, &c.Heading, &c.Date)
		if err != nil {
			return err
		}
		i, ok := at[file]
		if !ok {
			return fmt.Errorf("%w: a chunk has no file with chunks", errDamaged)
		}
		c.File, c.Key = i, mapKey(files[i].Path, hash)
		chunks = append(chunks, c)
		return nil
	}, selectMapChunks)
	if err != nil {
		return nil, nil, fmt.Errorf("read the chunks of a map: %w", err)
	}
	return chunks, files, nil
}

// files returns the files of the snapshot, and the index of each by its id.
func (r *mapReader) files(ctx context.Context) (files []memory.MapFile, at map[int64]int, err error) {
	at = map[int64]int{}
	err = forEachRow(ctx, r.tx, func(rows *sql.Rows) error {
		var f memory.MapFile
		var id, mtime int64
		if err := rows.Scan(&id, &f.Path, &f.Title, jsonColumn{&f.Tags}, &mtime); err != nil {
			return err
		}
		if mtime > 0 {
			f.ModTime = time.Unix(0, mtime)
		}
		at[id] = len(files)
		files = append(files, f)
		return nil
	}, selectMapFiles)
	return files, at, err
}

// mapKey returns the key of a chunk: the hash of its path and of the hash of its text.
func mapKey(path string, hash []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // which never fails
	_, _ = h.Write(hash)
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// Vectors calls each with the vectors of chunks that at contains, in no particular order. The vector must not be kept. The int is what
// at has for the chunk.
func (r *mapReader) Vectors(ctx context.Context, at map[int64]int, each func(i int, vector []float32)) error {
	if r.meta.space.IsZero() {
		return nil
	}
	return forEachVector(ctx, r.tx, r.meta, func(id int64, vector []float32) error {
		if i, ok := at[id]; ok {
			each(i, vector)
		}
		return nil
	})
}

// textsAtOnce is the number of chunks whose texts one query reads.
const textsAtOnce = 2000

// Texts calls each with the language and the text of the chunks with ids, in their order, and with the index of the id.
func (r *mapReader) Texts(ctx context.Context, ids []int64, each func(i int, language analysis.Language, text string) error) error {
	for from := 0; from < len(ids); from += textsAtOnce {
		list := array(ids[from:min(from+textsAtOnce, len(ids))])
		err := forEachRow(ctx, r.tx, func(rows *sql.Rows) error {
			var i int
			var language analysis.Language
			var text string
			if err := rows.Scan(&i, &language, &text); err != nil {
				return err
			}
			return each(from+i, language, text)
		}, selectMapTexts, list)
		if err != nil {
			return fmt.Errorf("read the texts of a map: %w", err)
		}
	}
	return nil
}

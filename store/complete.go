package store

import (
	"context"
	"database/sql"
	"errors"
	"hash/crc32"

	"kioku/indexer"
)

// heldFile is what the index holds of a file.
type heldFile struct {
	id                      int64
	source                  string
	sha256                  []byte
	skipped                 bool
	chunks, embedded, terms int
}

const findFile = `SELECT id, source, sha256, error <> '', chunks, embedded,
	(SELECT coalesce(sum(terms), 0) FROM chunks WHERE file = files.id) FROM files WHERE path = ?`

// held returns what the index holds of a file; found is false where that is nothing.
func (w *fileWriter) held(ctx context.Context, path string) (h heldFile, found bool, err error) {
	err = w.find.QueryRowContext(ctx, path).Scan(&h.id, &h.source, &h.sha256, &h.skipped, &h.chunks, &h.embedded, &h.terms)
	if errors.Is(err, sql.ErrNoRows) {
		return heldFile{}, false, nil
	}
	return h, err == nil, err
}

// heldChunk is what the index holds of a chunk, as far as a chunk of the same file and way of cutting can differ from it.
type heldChunk struct {
	id        int64
	hash      []byte
	startLine int
	checksum  sql.Null[uint32]
}

// complete adds the vectors that came after the words of a file; done is false where anything else of f is new. The words
// stay as they are: to write them costs ten times as much as the vectors.
func (w *fileWriter) complete(ctx context.Context, h heldFile, f *indexer.File) (done bool, err error) {
	if w.vec == nil || !w.sameCut || h.skipped || f.Gone || f.Skipped != "" || h.source != f.Source ||
		string(h.sha256) != string(f.SHA256[:]) || h.chunks != len(f.Chunks) {
		return false, nil
	}
	chunks, err := heldChunks(ctx, w.tx, h.id)
	if err != nil || len(chunks) != len(f.Chunks) {
		return false, err
	}
	blobs := make([][]byte, len(chunks))
	for i, c := range chunks {
		n := &f.Chunks[i]
		if string(c.hash) != string(n.Hash[:]) || c.startLine != n.StartLine || c.checksum.Valid && n.Vector == nil {
			return false, nil
		}
		if n.Vector == nil {
			continue
		}
		blobs[i] = encodeVector(n.Vector)
		if c.checksum.Valid {
			if c.checksum.V != crc32.Checksum(blobs[i], castagnoli) {
				return false, nil
			}
			blobs[i] = nil
		}
	}
	return true, w.addVectors(ctx, h, f, chunks, blobs)
}

// addVectors gives chunks their vectors, where there is one.
func (w *fileWriter) addVectors(ctx context.Context, h heldFile, f *indexer.File, chunks []heldChunk, blobs [][]byte) error {
	set, err := w.tx.PrepareContext(ctx, "UPDATE chunks SET checksum = ? WHERE id = ?")
	if err != nil {
		return err
	}
	defer set.Close()
	for i, blob := range blobs {
		if blob == nil {
			continue
		}
		h.embedded++
		if err := w.insertVector(ctx, chunks[i].id, &f.Chunks[i], blob); err != nil {
			return err
		}
		if _, err := set.ExecContext(ctx, crc32.Checksum(blob, castagnoli), chunks[i].id); err != nil {
			return err
		}
	}
	_, err = w.tx.ExecContext(ctx, "UPDATE files SET mtime = ?, size = ?, embedded = ? WHERE id = ?",
		f.ModTime.UnixNano(), f.Size, h.embedded, h.id)
	return err
}

// heldChunks returns what the index holds of the chunks of a file, in their order.
func heldChunks(ctx context.Context, q queryer, file int64) ([]heldChunk, error) {
	rows, err := q.QueryContext(ctx, "SELECT id, sha256, start_line, checksum FROM chunks WHERE file = ? ORDER BY id", file)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var chunks []heldChunk
	for rows.Next() {
		var c heldChunk
		if err := rows.Scan(&c.id, &c.hash, &c.startLine, &c.checksum); err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
	}
	return chunks, rows.Err()
}

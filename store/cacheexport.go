package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"kioku/embed"
	"kioku/indexer"
)

// An export is a text of JSON lines, because every program can write and read it, a part of it is still useful, and it
// compresses well. The first line is exportHeader, every other one an exportedVector.

// exportFormat is the format of exports, and exportVersion its version.
const (
	exportFormat  = "kioku-embeddings"
	exportVersion = 1
)

// exportHeader is the first line of an export.
type exportHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// exportedVector is a line of an export.
type exportedVector struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Dims     int    `json:"dims"`
	Endpoint string `json:"endpoint,omitempty"`
	SHA256   string `json:"sha256"`
	// Vector is float32, little-endian, and Windows embed.EncodeWindows, both as base64.
	Vector   []byte `json:"vector"`
	Windows  []byte `json:"windows,omitempty"`
	Checksum uint32 `json:"checksum"`
}

const (
	exportCachedSQL = `SELECT provider, model, dims, endpoint, sha256, vector, windows, checksum FROM embedding_cache
		WHERE input = 'document' ORDER BY id`
	exportIndexedSQL = `SELECT m.space_provider, m.space_model, m.space_dims, m.space_endpoint, c.sha256, v.embedding, w.codes, c.checksum
		FROM chunks c CROSS JOIN meta m CROSS JOIN chunks_vec v ON v.rowid = c.id LEFT JOIN windows w ON w.chunk = c.id
		WHERE c.checksum IS NOT NULL ORDER BY c.id`
)

// ExportVectors writes all vectors of the index and of the cache, and returns how many.
func (s *Store) ExportVectors(ctx context.Context, to io.Writer) (int, error) {
	return use(ctx, s, func(x *index) (int, error) { return x.exportVectors(ctx, to) })
}

// exportVectors implements Store.ExportVectors.
func (x *index) exportVectors(ctx context.Context, to io.Writer) (n int, err error) {
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	w := bufio.NewWriter(to)
	enc := json.NewEncoder(w)
	if err := enc.Encode(exportHeader{exportFormat, exportVersion}); err != nil {
		return 0, err
	}
	write := func(rows *sql.Rows) error {
		var v exportedVector
		var hash []byte
		if err := rows.Scan(&v.Provider, &v.Model, &v.Dims, &v.Endpoint, &hash, &v.Vector, &v.Windows, &v.Checksum); err != nil {
			return err
		}
		v.SHA256 = hex.EncodeToString(hash)
		n++
		return enc.Encode(v)
	}
	err = forEachRow(ctx, tx, write, exportCachedSQL)
	if err == nil && m.embedded > 0 {
		err = forEachRow(ctx, tx, write, exportIndexedSQL)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return n, fmt.Errorf("export vectors: %w", vectorError(err))
	}
	return n, nil
}

// Imported is the outcome of an import.
type Imported struct {
	// Read counts the vectors that the file has, Damaged those that were left out because they are not whole, and Usable those
	// of texts that are indexed now.
	Read, Damaged, Usable int
}

// maxExportLine is the maximum length of a line of an export in bytes.
const maxExportLine = 64 << 20

// errNoExport: a file is no export.
var errNoExport = errors.New("it is neither an export of kioku cache export nor an index of OpenClaw")

// ImportVectors reads an export into the cache. Vectors that are there already stay as they are. Lines that are not whole are left
// out.
func (s *Store) ImportVectors(ctx context.Context, from io.Reader) (Imported, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxExportLine)
	var h exportHeader
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil || h.Format != exportFormat {
		return Imported{}, errNoExport
	}
	if h.Version != exportVersion {
		return Imported{}, fmt.Errorf("the export has version %d, this program reads version %d", h.Version, exportVersion)
	}
	in := importer{store: s}
	for lines.Scan() {
		var v exportedVector
		err := json.Unmarshal(lines.Bytes(), &v)
		space := embed.Space{Provider: v.Provider, Model: v.Model, Dims: v.Dims, Endpoint: v.Endpoint}
		hash, hexErr := hex.DecodeString(v.SHA256)
		stored := storedVector{v.Vector, v.Windows}
		whole := err == nil && hexErr == nil && len(hash) == len(indexer.Hash{}) && stored.intact(v.Checksum, v.Dims)
		if err := in.add(ctx, space, hash, stored, whole); err != nil {
			return in.done, err
		}
	}
	return in.done, errors.Join(lines.Err(), in.flush(ctx))
}

// importer writes vectors to the cache, some at a time.
type importer struct {
	store   *Store
	done    Imported
	pending []salvagedVector
}

// add adds a vector, or counts it as damaged if it is not whole.
func (in *importer) add(ctx context.Context, space embed.Space, hash []byte, v storedVector, whole bool) error {
	in.done.Read++
	if !whole || space.Provider == "" || space.Model == "" {
		in.done.Damaged++
		return nil
	}
	in.pending = append(in.pending, salvagedVector{v, space, indexer.Hash(hash)})
	if len(in.pending) < salvageRows {
		return nil
	}
	return in.flush(ctx)
}

// flush writes the pending vectors, and counts those of indexed texts.
func (in *importer) flush(ctx context.Context) error {
	hashes := make([]indexer.Hash, len(in.pending))
	for i, v := range in.pending {
		hashes[i] = v.hash
	}
	list, err := hexList(hashes)
	if err != nil {
		return err
	}
	usable, err := use(ctx, in.store, func(x *index) (n int, err error) {
		err = x.db.readers.QueryRowContext(ctx, `SELECT count(*) FROM json_each(?) j
			WHERE EXISTS (SELECT 1 FROM chunks WHERE sha256 = unhex(j.value))`, list).Scan(&n)
		return n, err
	})
	if err != nil {
		return fmt.Errorf("count usable vectors: %w", err)
	}
	in.done.Usable += usable
	err = in.store.cacheSalvaged(ctx, in.pending)
	in.pending = nil
	if err != nil {
		return fmt.Errorf("import vectors: %w", err)
	}
	return nil
}

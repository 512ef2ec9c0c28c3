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
	"slices"

	"kioku/embed"
	"kioku/indexer"
)

// An export is a text of JSON lines, because every program can write and read it, a part of it is still useful, and it
// compresses well. The first line is ExportHeader, every other one an ExportedLine.

const (
	// exportFormat is the format of exports, and exportVersion its version.
	exportFormat  = "kioku-export"
	exportVersion = 2
	// vectorsFormat and vectorsVersion are those of exports of earlier programs, which have only vectors.
	vectorsFormat  = "kioku-embeddings"
	vectorsVersion = 1
)

// ExportHeader is the first line of an export.
type ExportHeader struct {
	// Format is "kioku-export".
	Format string `json:"format"`
	// Version of the format, 2.
	Version int `json:"version"`
	// Provider, Model, Dims and Endpoint are the space of the index, empty if it has no vectors.
	Provider string `json:"provider"`
	// Model, see Provider.
	Model string `json:"model"`
	// Dims, see Provider.
	Dims int `json:"dims"`
	// Endpoint is a fingerprint of the base URL of the provider, empty for its own.
	Endpoint string `json:"endpoint,omitempty"`
	// Chunks is the number of chunks that follow; the lines behind them are cached vectors.
	Chunks int `json:"chunks"`
}

// ExportedLine is a line of an export: a chunk, with its vector if it has one, or a cached vector.
type ExportedLine struct {
	// Path of the file, empty for a cached vector.
	Path string `json:"path,omitempty"`
	// StartLine is the first line of the chunk, 1-based.
	StartLine int `json:"startLine,omitempty"`
	// EndLine is its last line, inclusive.
	EndLine int `json:"endLine,omitempty"`
	// Headings above the chunk, "# Projects > ## Acme".
	Headings string `json:"headings,omitempty"`
	// Date is the day of the chunk, YYYY-MM-DD.
	Date string `json:"date,omitempty"`
	// Text of the chunk.
	Text string `json:"text,omitempty"`
	// SHA256 of what is embedded: the names of the file and the text.
	SHA256 string `json:"sha256"`
	// Provider, Model, Dims and Endpoint are the space of the vector, empty if there is none.
	Provider string `json:"provider,omitempty"`
	// Model, see Provider.
	Model string `json:"model,omitempty"`
	// Dims, see Provider.
	Dims int `json:"dims,omitempty"`
	// Endpoint, see Provider.
	Endpoint string `json:"endpoint,omitempty"`
	// Vector is float32, little-endian, as base64.
	Vector []byte `json:"vector,omitempty"`
	// Windows are the vectors of the lines of the chunk as base64, for kioku import.
	Windows []byte `json:"windows,omitempty"`
	// Checksum is the CRC-32 (Castagnoli) of Vector and Windows.
	Checksum uint32 `json:"checksum,omitempty"`
}

const (
	exportCachedSQL = `SELECT provider, model, dims, endpoint, sha256, vector, windows, checksum FROM embedding_cache
		WHERE input = 'document' ORDER BY id`
	exportChunksSQL = `SELECT f.path, f.out_of_scope, c.start_line, c.end_line, c.headings, c.date, c.text, c.sha256, %s
		FROM chunks c JOIN files f ON f.id = c.file %s ORDER BY c.id`
	// exportVectorSQL and joinVectorSQL read the vectors too, of an index that has some.
	exportVectorSQL = "v.embedding, w.codes, c.checksum"
	joinVectorSQL   = "LEFT JOIN chunks_vec v ON v.rowid = c.id LEFT JOIN windows w ON w.chunk = c.id"
	noVectorSQL     = "NULL, NULL, NULL"
)

// Exported is the outcome of an export.
type Exported struct {
	// Chunks and Vectors count what was written; cached vectors count too.
	Chunks, Vectors int
}

// Export writes the chunks of the index with their vectors, and the vectors of the cache. With vectorsOnly it writes hashes and no texts.
func (s *Store) Export(ctx context.Context, to io.Writer, vectorsOnly bool) (Exported, error) {
	return use(ctx, s, func(x *index) (Exported, error) {
		tx, m, err := x.snapshot(ctx)
		if err != nil {
			return Exported{}, err
		}
		defer tx.Rollback()
		w := bufio.NewWriter(to)
		e := exporter{enc: json.NewEncoder(w), meta: m, vectorsOnly: vectorsOnly}
		e.enc.SetEscapeHTML(false)
		if err = e.export(ctx, tx); err == nil {
			err = w.Flush()
		}
		if err != nil {
			err = fmt.Errorf("export: %w", vectorError(err))
		}
		return e.done, err
	})
}

// exporter writes one export.
type exporter struct {
	enc         *json.Encoder
	meta        meta
	vectorsOnly bool
	done        Exported
}

// export writes all lines.
func (e *exporter) export(ctx context.Context, q queryer) error {
	space := e.meta.space
	h := ExportHeader{exportFormat, exportVersion, space.Provider, space.Model, space.Dims, space.Endpoint, e.meta.chunks - e.meta.out.chunks}
	if e.vectorsOnly {
		h.Chunks = 0
	}
	if err := e.enc.Encode(h); err != nil {
		return err
	}
	chunks := fmt.Sprintf(exportChunksSQL, noVectorSQL, "")
	if e.meta.embedded > 0 {
		chunks = fmt.Sprintf(exportChunksSQL, exportVectorSQL, joinVectorSQL)
	}
	if err := forEachRow(ctx, q, e.writeChunk, chunks); err != nil {
		return err
	}
	return forEachRow(ctx, q, e.writeCached, exportCachedSQL)
}

// writeChunk writes a chunk. Of one that is out of scope, and with vectorsOnly, it writes only the vector.
func (e *exporter) writeChunk(rows *sql.Rows) error {
	var l ExportedLine
	var hash []byte
	var out bool
	var sum sql.NullInt64
	err := rows.Scan(&l.Path, &out, &l.StartLine, &l.EndLine, &l.Headings, &l.Date, &l.Text, &hash, &l.Vector, &l.Windows, &sum)
	if err != nil {
		return err
	}
	if out || e.vectorsOnly {
		l = ExportedLine{Vector: l.Vector, Windows: l.Windows}
	} else {
		e.done.Chunks++
	}
	l.SHA256 = hex.EncodeToString(hash)
	if !sum.Valid || l.Vector == nil {
		if l.Vector, l.Windows = nil, nil; l.Path == "" {
			return nil
		}
		return e.enc.Encode(l)
	}
	space := e.meta.space
	l.Provider, l.Model, l.Dims, l.Endpoint, l.Checksum = space.Provider, space.Model, space.Dims, space.Endpoint, uint32(sum.Int64)
	e.done.Vectors++
	return e.enc.Encode(l)
}

// writeCached writes a cached vector.
func (e *exporter) writeCached(rows *sql.Rows) error {
	var l ExportedLine
	var hash []byte
	if err := rows.Scan(&l.Provider, &l.Model, &l.Dims, &l.Endpoint, &hash, &l.Vector, &l.Windows, &l.Checksum); err != nil {
		return err
	}
	l.SHA256 = hex.EncodeToString(hash)
	e.done.Vectors++
	return e.enc.Encode(l)
}

// Imported is the outcome of an import.
type Imported struct {
	// Chunks counts the chunks with their text that the file has; texts are not imported.
	Chunks int
	// Read counts the vectors that the file has, Damaged those that were left out because they are not whole, and Usable those
	// of texts that are indexed now.
	Read, Damaged, Usable int
	// Missing counts the chunks that the file should have and does not, because its end is missing.
	Missing int
	// Spaces are those of the vectors that are whole.
	Spaces []embed.Space
}

// maxExportLine is the maximum length of a line of an export in bytes.
const maxExportLine = 64 << 20

// errNoExport: a file is no export.
var errNoExport = errors.New("it is neither an export of kioku export nor an index of OpenClaw")

// ImportVectors reads the vectors of an export into the cache. Vectors that are there already stay as they are. Lines that are not whole are left
// out.
func (s *Store) ImportVectors(ctx context.Context, from io.Reader) (Imported, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxExportLine)
	var h ExportHeader
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil || h.Format != exportFormat && h.Format != vectorsFormat {
		return Imported{}, errNoExport
	}
	if h.Format == exportFormat && h.Version != exportVersion || h.Format == vectorsFormat && h.Version != vectorsVersion {
		return Imported{}, fmt.Errorf("the export has version %d, this program reads version %d", h.Version, exportVersion)
	}
	in := importer{store: s}
	for lines.Scan() {
		var v ExportedLine
		err := json.Unmarshal(lines.Bytes(), &v)
		if v.Path != "" {
			in.done.Chunks++
		}
		if err == nil && v.Path != "" && v.Vector == nil {
			continue // a chunk without a vector
		}
		space := embed.Space{Provider: v.Provider, Model: v.Model, Dims: v.Dims, Endpoint: v.Endpoint}
		hash, hexErr := hex.DecodeString(v.SHA256)
		stored := storedVector{v.Vector, v.Windows}
		whole := err == nil && hexErr == nil && len(hash) == len(indexer.Hash{}) && stored.intact(v.Checksum, v.Dims)
		if err := in.add(ctx, space, hash, stored, whole); err != nil {
			return in.done, err
		}
	}
	if h.Format == exportFormat {
		in.done.Missing = max(0, h.Chunks-in.done.Chunks)
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
	if !slices.Contains(in.done.Spaces, space) {
		in.done.Spaces = append(in.done.Spaces, space)
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

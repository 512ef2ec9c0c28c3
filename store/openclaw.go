package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"kioku/embed"
	"kioku/indexer"
)

// openClawCaches are the tables in which OpenClaw caches embeddings: that of its schema of 2026 and the one before. Both have the
// columns provider, model, provider_key, hash (hexadecimal SHA-256 of the text), embedding (a JSON array, or floats of 64 or 32 bits as
// bytes) and dims.
var openClawCaches = []string{"memory_embedding_cache", "embedding_cache"}

// OpenClawSource says which vectors of an index of OpenClaw are of the space that is configured here. The zero value means those whose
// provider and model have the same names.
type OpenClawSource struct {
	// Provider is OpenClaw's name of the configured provider, such as "openai-compatible". The model has to have the same name, and
	// both have to reach it at the same address, without a prefix.
	Provider string
}

// ImportOpenClaw reads the cached embeddings of an index of OpenClaw. Their keys are hashes of OpenClaw's chunks, so those whose
// text is also a text of this index get its key, and the others keep theirs for a text that comes. Vectors of the source are of space;
// all others are of their own. It reads a copy, so that the files of OpenClaw stay as they are.
func (s *Store) ImportOpenClaw(ctx context.Context, path string, source OpenClawSource, space embed.Space) (done Imported, err error) {
	failed := func(err error) error { return fmt.Errorf("import from %s: %w", path, err) }
	dir, err := os.MkdirTemp("", "kioku-import-")
	if err != nil {
		return done, failed(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	copied := filepath.Join(dir, "index.sqlite")
	if err := copyOpenClaw(path, copied); err != nil {
		return done, failed(err)
	}
	db, err := openDatabase(copied, 0, modeCheck)
	if err != nil {
		return done, failed(err)
	}
	done, err = s.importOpenClaw(ctx, db.readers, source, space)
	if err != nil {
		err = failed(err)
	}
	return done, errors.Join(err, db.close())
}

// errOpenClawWrites: the files changed each time they were copied.
var errOpenClawWrites = errors.New("OpenClaw is writing to it; stop the gateway (openclaw gateway stop) and try again")

// copyOpenClaw copies a database with its write-ahead log while nobody writes to them.
func copyOpenClaw(from, to string) error {
	for range 3 {
		before, err := sizesAndTimes(from)
		if err != nil {
			return err
		}
		for _, suffix := range []string{"", "-wal"} {
			if err := copyFile(from+suffix, to+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
				return err
			}
		}
		if after, err := sizesAndTimes(from); err != nil || after == before {
			return err
		}
	}
	return errOpenClawWrites
}

// sizesAndTimes returns what changes if somebody writes to a database.
func sizesAndTimes(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	state := fmt.Sprint(info.Size(), info.ModTime())
	if wal, err := os.Stat(path + "-wal"); err == nil {
		state += fmt.Sprint(" ", wal.Size(), wal.ModTime())
	}
	return state, nil
}

// copyFile copies a file to a new or an existing one.
func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// importOpenClaw is ImportOpenClaw from an open database.
func (s *Store) importOpenClaw(ctx context.Context, db *sql.DB, source OpenClawSource, space embed.Space) (Imported, error) {
	table, err := openClawCache(ctx, db)
	if err != nil {
		return Imported{}, err
	}
	keys, err := s.plainKeys(ctx)
	if err != nil {
		return Imported{}, err
	}
	live := openClawKey(ctx, db)
	in := importer{store: s}
	err = forEachRow(ctx, db, func(rows *sql.Rows) error {
		var row openClawRow
		if err := rows.Scan(&row.provider, &row.model, &row.key, &row.hash, &row.embedding, &row.dims); err != nil {
			return err
		}
		hash, err := hex.DecodeString(row.hash)
		v := row.vector()
		whole := err == nil && len(hash) == len(indexer.Hash{}) && embed.Check(v, 0) == nil
		if !whole {
			return in.add(ctx, space, nil, storedVector{}, false)
		}
		if ours, ok := keys[indexer.Hash(hash)]; ok {
			hash = ours[:]
		}
		of := row.space(source, live, space, len(v))
		return in.add(ctx, of, hash, storedVector{vector: encodeVector(embed.Normalized(v))}, true)
	}, "SELECT provider, model, provider_key, hash, embedding, coalesce(dims, 0) FROM "+table) // one of two constants
	if err != nil {
		return in.done, err
	}
	return in.done, in.flush(ctx)
}

// openClawCache returns the name of the table of cached embeddings.
func openClawCache(ctx context.Context, db *sql.DB) (string, error) {
	for _, table := range openClawCaches {
		var n int
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info(?) WHERE name IN ('provider', 'model', 'provider_key', 'hash', 'embedding')", table).Scan(&n)
		if err != nil {
			return "", errors.Join(errNoExport, err)
		}
		if n == 5 {
			return table, nil
		}
	}
	return "", errNoExport
}

// openClawKey returns the key of the provider with which the index was made last; empty if it says none. The key is a hash of the
// provider's address and other settings.
func openClawKey(ctx context.Context, db *sql.DB) string {
	var key sql.NullString
	err := db.QueryRowContext(ctx, "SELECT value ->> 'providerKey' FROM memory_index_meta WHERE key = 'memory_index_meta_v1'").Scan(&key)
	if err != nil {
		return "" // earlier versions have no such table
	}
	return key.String
}

// openClawRow is a cached embedding of OpenClaw.
type openClawRow struct {
	provider, model, key, hash string
	embedding                  []byte
	dims                       int
}

// space returns the space of the vector: the wanted one if it is of the source, or if the names and dimensions fit and its texts are
// sent as OpenClaw sends them: to the provider's own address, without a prefix. live is the key of the provider in use.
func (r openClawRow) space(source OpenClawSource, live string, wanted embed.Space, dims int) embed.Space {
	ofSource := source.Provider != "" && r.provider == source.Provider && (live == "" || r.key == live)
	sameNames := wanted.Endpoint == "" && r.provider == wanted.Provider
	if (ofSource || sameNames) && r.model == wanted.Model && (wanted.Dims == 0 || wanted.Dims == dims) {
		wanted.Dims = dims
		return wanted
	}
	return embed.Space{Provider: r.provider, Model: r.model, Dims: dims}
}

// vector returns the vector of a JSON array or of bytes, nil if it is neither. The number of dimensions tells floats of 64 bits from
// those of 32.
func (r openClawRow) vector() []float32 {
	b := r.embedding
	if len(b) > 0 && b[0] == '[' {
		var v []float32
		if err := json.Unmarshal(b, &v); err == nil {
			return v
		}
	}
	if r.dims > 0 && len(b) == 8*r.dims {
		v := make([]float32, r.dims)
		for i := range v {
			v[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
		return v
	}
	if len(b)%4 == 0 {
		return decodeVector(b)
	}
	return nil
}

// plainKeys returns the keys of the indexed texts by the hashes of these texts with and without a line break at their end: of
// OpenClaw's chunks only the last of a file has one.
func (s *Store) plainKeys(ctx context.Context) (map[indexer.Hash]indexer.Hash, error) {
	return use(ctx, s, func(x *index) (map[indexer.Hash]indexer.Hash, error) {
		keys := map[indexer.Hash]indexer.Hash{}
		err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
			var names, text string
			var hash sql.RawBytes
			if err := rows.Scan(&names, &text, &hash); err != nil {
				return err
			}
			h, err := hashOf(hash)
			plain := strings.TrimRight(indexer.EmbeddedText(names, text), "\n")
			keys[sha256.Sum256([]byte(plain))], keys[sha256.Sum256([]byte(plain+"\n"))] = h, h
			return err
		}, "SELECT f.names, c.text, c.sha256 FROM chunks c JOIN files f ON f.id = c.file")
		if err != nil {
			return nil, fmt.Errorf("read texts: %w", err)
		}
		return keys, nil
	})
}

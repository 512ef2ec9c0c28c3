package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kioku/embed"
	"kioku/indexer"
)

// openClawCaches are the tables in which OpenClaw caches embeddings: that of its schema of 2026 and the one before. Both have the
// columns provider, model, hash (hexadecimal SHA-256 of the text), embedding (a JSON array, or float32 as bytes) and dims.
var openClawCaches = []string{"memory_embedding_cache", "embedding_cache"}

// ImportOpenClaw reads the cached embeddings of an index of OpenClaw. Their keys are hashes of OpenClaw's chunks, so those whose
// text is also a text of this index get its key, and the others keep theirs for a text that comes. Vectors of the provider and
// model of space are of that space; all others are of their own.
func (s *Store) ImportOpenClaw(ctx context.Context, path string, space embed.Space) (Imported, error) {
	db, err := openDatabase(path, 0, modeCheck)
	if err != nil {
		return Imported{}, err
	}
	imported, err := s.importOpenClaw(ctx, db.readers, space)
	if err != nil {
		err = fmt.Errorf("import from %s: %w", path, err)
	}
	return imported, errors.Join(err, db.close())
}

// importOpenClaw is ImportOpenClaw from an open database.
func (s *Store) importOpenClaw(ctx context.Context, db *sql.DB, space embed.Space) (Imported, error) {
	table, err := openClawCache(ctx, db)
	if err != nil {
		return Imported{}, err
	}
	keys, err := s.plainKeys(ctx)
	if err != nil {
		return Imported{}, err
	}
	in := importer{store: s}
	err = forEachRow(ctx, db, func(rows *sql.Rows) error {
		var provider, model, key string
		var embedding []byte
		if err := rows.Scan(&provider, &model, &key, &embedding); err != nil {
			return err
		}
		hash, err := hex.DecodeString(key)
		v := decodeOpenClaw(embedding)
		whole := err == nil && len(hash) == len(indexer.Hash{}) && embed.Check(v, 0) == nil
		if !whole {
			return in.add(ctx, space, nil, storedVector{}, false)
		}
		if ours, ok := keys[indexer.Hash(hash)]; ok {
			hash = ours[:]
		}
		return in.add(ctx, openClawSpace(space, provider, model, len(v)), hash, storedVector{vector: encodeVector(embed.Normalized(v))}, true)
	}, "SELECT provider, model, hash, embedding FROM "+table) // one of two constants
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

// openClawSpace returns the space of a vector of OpenClaw: the wanted one if provider, model and dimensions fit, and its texts are
// sent as OpenClaw sends them: to the provider's own address, without a prefix.
func openClawSpace(wanted embed.Space, provider, model string, dims int) embed.Space {
	if wanted.Endpoint == "" && provider == wanted.Provider && model == wanted.Model && (wanted.Dims == 0 || wanted.Dims == dims) {
		wanted.Dims = dims
		return wanted
	}
	return embed.Space{Provider: provider, Model: model, Dims: dims}
}

// decodeOpenClaw returns the vector of a JSON array or of bytes, nil if it is neither.
func decodeOpenClaw(embedding []byte) []float32 {
	var v []float32
	if len(embedding) > 0 && embedding[0] == '[' {
		if err := json.Unmarshal(embedding, &v); err == nil {
			return v
		}
	}
	if len(embedding)%4 == 0 {
		return decodeVector(embedding)
	}
	return nil
}

// plainKeys returns the keys of the indexed texts by the hashes of these texts without the line break at their end, which
// OpenClaw's chunks lack.
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
			keys[sha256.Sum256([]byte(strings.TrimRight(indexer.EmbeddedText(names, text), "\n")))] = h
			return err
		}, "SELECT f.names, c.text, c.sha256 FROM chunks c JOIN files f ON f.id = c.file")
		if err != nil {
			return nil, fmt.Errorf("read texts: %w", err)
		}
		return keys, nil
	})
}

package vectors

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"kioku/embed"
)

// castagnoli is the polynomial of the checksums of vectors.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	// findSpace and addSpace look up the id of a space; the latter adds it.
	findSpace = "SELECT id FROM spaces WHERE provider = ? AND model = ? AND dims = ? AND endpoint = ?"
	addSpace  = `INSERT INTO spaces (provider, model, dims, endpoint) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET dims = excluded.dims RETURNING id`
	// findDims looks up the dimension of a space whose provider has not told it, the newest first.
	findDims = "SELECT dims FROM spaces WHERE provider = ? AND model = ? AND endpoint = ? ORDER BY id DESC LIMIT 1"

	// selectVectors looks up the hashes of a JSON array; CROSS JOIN makes SQLite start with it.
	selectVectors = `SELECT e.id, e.sha256, e.vector, e.checksum FROM json_each(?3) j CROSS JOIN embedding_cache e
		WHERE e.space = ?1 AND e.kind = ?2 AND e.sha256 = unhex(j.value)`
	selectKnown = `SELECT e.sha256 FROM json_each(?3) j CROSS JOIN embedding_cache e
		WHERE e.space = ?1 AND e.kind = ?2 AND e.sha256 = unhex(j.value)`
	insertVector = `INSERT INTO embedding_cache (space, kind, sha256, vector, checksum, used) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum, used = excluded.used`

	// lookupKeys is the number of keys that are looked up at a time.
	lookupKeys = 512
)

// queryer is implemented by *sql.DB and *sql.Tx.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// forEachRow calls scan with each row of a query, until scan returns an error.
func forEachRow(ctx context.Context, q queryer, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// spaceID returns the id of a space, 0 if the cache has nothing of it.
func (f *file) spaceID(ctx context.Context, s embed.Space) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := f.spaces[s]; id != 0 {
		return id, nil
	}
	var id int64
	err := f.readers.QueryRowContext(ctx, findSpace, s.Provider, s.Model, s.Dims, s.Endpoint).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err == nil {
		f.spaces[s] = id
	}
	return id, err
}

// Resolve returns a space with its dimension, if the provider has not told it yet and the cache knows it.
func (c *Cache) Resolve(ctx context.Context, s embed.Space) (embed.Space, error) {
	if s.IsZero() || s.Dims != 0 {
		return s, nil
	}
	err := c.read(ctx, func(f *file) error {
		err := f.readers.QueryRowContext(ctx, findDims, s.Provider, s.Model, s.Endpoint).Scan(&s.Dims)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("look up dimension: %w", err)
	}
	return s, err
}

// Documents returns the vectors of documents that the cache has in a space.
func (c *Cache) Documents(ctx context.Context, s embed.Space, hashes []Hash) (map[Hash][]float32, error) {
	found := make(map[Hash][]float32, len(hashes))
	err := c.forEachVector(ctx, s, Document, hashes, func(h Hash, b []byte) {
		if v := decodeDocument(b); embed.Check(v, s.Dims) == nil {
			found[h] = v
		}
	})
	return found, err
}

// Windows returns the windows that the cache has in a space, without their lines. One that the provider refuses has no codes.
func (c *Cache) Windows(ctx context.Context, s embed.Space, hashes []Hash) (map[Hash]embed.Window, error) {
	found := make(map[Hash]embed.Window, len(hashes))
	err := c.forEachVector(ctx, s, Window, hashes, func(h Hash, b []byte) {
		if w, ok := decodeWindow(b, s.Dims); ok {
			found[h] = w
		}
	})
	return found, err
}

// forEachVector calls each with the vectors of a kind. The bytes are valid only during the call. A row without its checksum is removed, so
// that it counts as missing.
func (c *Cache) forEachVector(ctx context.Context, s embed.Space, kind Kind, hashes []Hash, each func(Hash, []byte)) error {
	var wrong rowsOf
	err := c.lookUp(ctx, s, kind, hashes, selectVectors, wrong.begin, func(rows *sql.Rows) error {
		var id int64
		var hash, vector sql.RawBytes
		var sum uint32
		if err := rows.Scan(&id, &hash, &vector, &sum); err != nil {
			return err
		}
		if len(hash) == len(Hash{}) && crc32.Checksum(vector, castagnoli) == sum {
			each(Hash(hash), vector)
		} else {
			wrong.ids = append(wrong.ids, id)
		}
		return nil
	})
	if err == nil && !c.opt.ReadOnly {
		err = c.deleteRows(ctx, wrong)
	}
	return err
}

// Known returns which texts of a kind the cache has in a space.
func (c *Cache) Known(ctx context.Context, s embed.Space, kind Kind, hashes []Hash) (map[Hash]bool, error) {
	known := make(map[Hash]bool, len(hashes))
	err := c.lookUp(ctx, s, kind, hashes, selectKnown, func(*file) {}, func(rows *sql.Rows) error {
		var hash sql.RawBytes
		err := rows.Scan(&hash)
		if err == nil && len(hash) == len(Hash{}) {
			known[Hash(hash)] = true
		}
		return err
	})
	return known, err
}

// lookUp runs a query for hashes, some at a time. It calls begin before it begins, and again if it begins anew with another file.
func (c *Cache) lookUp(ctx context.Context, s embed.Space, kind Kind, hashes []Hash, query string, begin func(*file), scan func(*sql.Rows) error) error {
	if len(hashes) == 0 {
		return nil
	}
	err := c.read(ctx, func(f *file) error {
		begin(f)
		id, err := f.spaceID(ctx, s)
		if err != nil || id == 0 {
			return err
		}
		for from := 0; from < len(hashes); from += lookupKeys {
			list, err := hexList(hashes[from:min(from+lookupKeys, len(hashes))])
			if err == nil {
				err = forEachRow(ctx, f.readers, scan, query, id, kind, list)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("look up embeddings: %w", err)
	}
	return err
}

// Put stores vectors of a space, in one transaction. A nil vector of a window says that the provider refuses it.
func (c *Cache) Put(ctx context.Context, s embed.Space, vectors map[Key][]float32) error {
	rows := make([]row, 0, len(vectors))
	for key, v := range vectors {
		if v != nil || key.Kind == Document {
			if err := embed.Check(v, s.Dims); err != nil {
				return fmt.Errorf("store embeddings: %w", err)
			}
		}
		rows = append(rows, row{key, encode(key.Kind, v)})
	}
	return c.putRows(ctx, s, rows)
}

// row is a vector as the table has it.
type row struct {
	Key
	vector []byte
}

// putRows stores encoded vectors of a space.
func (c *Cache) putRows(ctx context.Context, s embed.Space, rows []row) error {
	err := c.write(ctx, func(f *file, tx *sql.Tx) error {
		var id int64
		if err := tx.QueryRowContext(ctx, addSpace, s.Provider, s.Model, s.Dims, s.Endpoint).Scan(&id); err != nil {
			return err
		}
		insert, err := tx.PrepareContext(ctx, insertVector)
		if err != nil {
			return err
		}
		now := c.opt.Now().Unix()
		for _, r := range rows {
			if _, err := insert.Exec(id, r.Kind, r.Hash[:], r.vector, crc32.Checksum(r.vector, castagnoli), now); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		err = fmt.Errorf("store embeddings: %w", err)
	}
	return err
}

// encode returns a vector as the table has it.
func encode(kind Kind, v []float32) []byte {
	if v == nil {
		return []byte{}
	}
	if kind == Document {
		b := make([]byte, 0, 4*len(v))
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	return encodeWindow(embed.QuantizeWindow(0, 0, v))
}

// encodeWindow returns a window as the table has it: its scale, and a byte a number.
func encodeWindow(w embed.Window) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(w.Codes)), math.Float32bits(w.Scale))
	for _, code := range w.Codes {
		b = append(b, byte(code))
	}
	return b
}

// decodeDocument is the inverse of encode for a document.
func decodeDocument(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// decodeWindow is the inverse of encode for a window. It returns false for bytes that are none.
func decodeWindow(b []byte, dims int) (w embed.Window, ok bool) {
	if len(b) == 0 {
		return w, true
	}
	if len(b) != 4+dims {
		return w, false
	}
	w.Scale = math.Float32frombits(binary.LittleEndian.Uint32(b))
	w.Codes = make([]int8, dims)
	for i, x := range b[4:] {
		w.Codes[i] = int8(x)
	}
	return w, w.Scale >= 0 && !math.IsInf(float64(w.Scale), 0)
}

// hexList returns hashes as a JSON array of hexadecimal strings.
func hexList(hashes []Hash) (string, error) {
	digits := make([]string, len(hashes))
	for i, h := range hashes {
		digits[i] = hex.EncodeToString(h[:])
	}
	b, err := json.Marshal(digits)
	return string(b), err
}

// Whole is a document with its windows, which are quantized already.
type Whole struct {
	// Hash is the key of the document.
	Hash Hash
	// Vector is its unit vector.
	Vector []float32
	// Windows are by their keys.
	Windows map[Hash]embed.Window
}

// PutWhole stores documents with their windows, in one transaction.
func (c *Cache) PutWhole(ctx context.Context, s embed.Space, list []Whole) error {
	var rows []row
	for _, w := range list {
		rows = append(rows, row{Key{Document, w.Hash}, encode(Document, w.Vector)})
		for hash, window := range w.Windows {
			rows = append(rows, row{Key{Window, hash}, encodeWindow(window)})
		}
	}
	return c.putRows(ctx, s, rows)
}

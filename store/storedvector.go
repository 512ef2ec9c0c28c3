package store

import (
	"bytes"
	"context"
	"database/sql"
	"hash/crc32"

	"kioku/embed"
	"kioku/indexer"
)

// castagnoli is the polynomial of the checksums of vectors.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// storedVector is the vector of a text with its windows, in the form of the tables.
type storedVector struct {
	vector  []byte // encodeVector
	windows []byte // embed.EncodeWindows, nil if they are not known
}

// newStoredVector returns the form of the tables of what a provider made of a text.
func newStoredVector(v indexer.Vectors) storedVector {
	s := storedVector{vector: encodeVector(v.Vector)}
	if v.Windows != nil {
		s.windows = embed.EncodeWindows(v.Windows)
	}
	return s
}

// checksum returns the checksum that the tables store with a vector and its windows.
func (s storedVector) checksum() uint32 {
	return crc32.Update(crc32.Checksum(s.vector, castagnoli), castagnoli, s.windows)
}

// intact reports whether a vector that was read has its checksum and dimensions.
func (s storedVector) intact(checksum uint32, dims int) bool {
	return s.checksum() == checksum && embed.Check(decodeVector(s.vector), dims) == nil
}

// clone returns a copy that outlives the row that it was read from.
func (s storedVector) clone() storedVector {
	return storedVector{bytes.Clone(s.vector), bytes.Clone(s.windows)}
}

// windowsValue returns the windows as a value of a column, NULL if they are not known.
func (s storedVector) windowsValue() any {
	if s.windows == nil {
		return nil
	}
	return s.windows
}

// vectorsByHash are vectors by the hashes of their texts.
type vectorsByHash = map[indexer.Hash]storedVector

// collectVectors adds to found the vectors that a query selects: rows of hash, vector, windows and checksum. It returns the
// hashes of damaged vectors.
func collectVectors(ctx context.Context, q queryer, found vectorsByHash, dims int, query string, args ...any) ([]indexer.Hash, error) {
	var damaged []indexer.Hash
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var hash, vector, windows sql.RawBytes
		var sum uint32
		if err := rows.Scan(&hash, &vector, &windows, &sum); err != nil {
			return err
		}
		h, err := hashOf(hash)
		if err != nil {
			return err
		}
		if v := (storedVector{vector, windows}); v.intact(sum, dims) {
			found[h] = v.clone()
		} else {
			damaged = append(damaged, h)
		}
		return nil
	}, query, args...)
	return damaged, err
}

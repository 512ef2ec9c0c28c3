package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kioku/memory"
	"kioku/store/checksumvfs"
)

// Format is what the files of one kind are marked with.
type Format struct {
	// ApplicationID of the files.
	ApplicationID uint32
	// Schema is the version of the schema that this program writes.
	Schema int
}

// indexFormat is that of indexes.
var indexFormat = Format{applicationID, schemaVersion}

// Header is what the first page of a database file says, read without SQLite: neither a log nor other pages take part.
type Header struct {
	// ID of the database.
	ID uint64
	// Schema is the version of its schema, 0 for an empty file.
	Schema int
	// Checked reports that the page has its checksum. Indexes of schemas before 7 have none.
	Checked bool
	// Kind says what to do with the file.
	Kind FileKind

	applicationID uint32
}

// FileKind is what a file is.
type FileKind int

// Kinds of files.
const (
	FileAbsent  FileKind = iota // there is none, or it is empty
	FileCurrent                 // a database of this schema
	FileOlder                   // one of an older schema
	fileNewer                   // one of a newer schema
	fileForeign                 // a database of another program
	FileDamaged                 // no database, or one whose first page is damaged
)

// sqliteMagic begins every SQLite database.
const sqliteMagic = "SQLite format 3\x00"

// ReadHeader reads the first page of a file. It returns an error if the file is not a regular one or cannot be read, and memory.ErrForeignFile or
// memory.ErrNewerSchema for one that must not be changed.
func ReadHeader(path string, of Format) (Header, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return Header{}, nil
	}
	if err != nil {
		return Header{}, err
	}
	if !info.Mode().IsRegular() {
		return Header{}, errors.New("it is not a regular file; move it away or choose another state folder")
	}
	f, err := OpenRawFile(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Release()
	page := make([]byte, checksumvfs.PageSize)
	n, err := f.ReadAt(page, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Header{}, err
	}
	h := decodeHeader(page[:n], of)
	return h, h.refusal(of)
}

// ID returns the id of the index at path.
func ID(path string) (uint64, error) {
	h, err := ReadHeader(path, indexFormat)
	if err == nil && h.Kind != FileCurrent {
		err = errDamaged
	}
	return h.ID, err
}

// decodeHeader decodes the first page of a file that is not empty. A page with the reserve of this schema is one of ours even
// if its checksum does not hold; then none of its numbers can be trusted.
func decodeHeader(page []byte, of Format) Header {
	if len(page) < 100 || !bytes.HasPrefix(page, []byte(sqliteMagic)) {
		return Header{Kind: FileDamaged}
	}
	h := Header{Schema: int(binary.BigEndian.Uint32(page[60:])), applicationID: binary.BigEndian.Uint32(page[68:])}
	reserve := page[20]
	h.ID, h.Checked = checksumvfs.PageID(page, 1)
	switch {
	case reserve == checksumvfs.Reserve && !h.Checked:
		h.Kind = FileDamaged
	case h.applicationID != of.ApplicationID:
		h.Kind = fileForeign
	case h.Schema > of.Schema:
		h.Kind = fileNewer
	case h.Schema < of.Schema:
		h.Kind = FileOlder
	case !h.Checked:
		h.Kind = FileDamaged // a database of this schema has a reserve
	default:
		h.Kind = FileCurrent
	}
	return h
}

// refusal returns memory.ErrForeignFile or memory.ErrNewerSchema for a file that must not be changed, else nil.
func (h Header) refusal(of Format) error {
	switch h.Kind {
	case fileForeign:
		return fmt.Errorf("%w: its application id is %#x; move it away or choose another state folder",
			memory.ErrForeignFile, h.applicationID)
	case fileNewer:
		return fmt.Errorf("%w: schema %d, this program knows %d; update kioku, or move the file away to build a new index",
			memory.ErrNewerSchema, h.Schema, of.Schema)
	}
	return nil
}

// pageID returns the id with which the pages of the file are verified, 0 if they have no checksums.
func (h Header) pageID() uint64 {
	if h.Checked {
		return h.ID
	}
	return 0
}

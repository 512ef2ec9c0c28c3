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

// header is what the first page of a database file says, read without SQLite: neither a log nor other pages take part.
type header struct {
	id            uint64 // of the index
	schema        int    // 0 for an empty file
	applicationID uint32
	// checked reports that the page has its checksum. Indexes of schemas before 7 have none.
	checked bool
	// kind says what to do with the file.
	kind fileKind
}

// fileKind is what a file at the path of an index is.
type fileKind int

const (
	fileAbsent  fileKind = iota // there is none, or it is empty
	fileCurrent                 // an index of this schema
	fileOlder                   // an index of an older schema
	fileNewer                   // an index of a newer schema
	fileForeign                 // a database of another program
	fileDamaged                 // no database, or one whose first page is damaged
)

// sqliteMagic begins every SQLite database.
const sqliteMagic = "SQLite format 3\x00"

// readHeader reads the first page of a file. It returns an error if the file is not a regular one or cannot be read.
func readHeader(path string) (header, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return header{}, nil
	}
	if err != nil {
		return header{}, err
	}
	if !info.Mode().IsRegular() {
		return header{}, errors.New("it is not a regular file; move it away or choose another state folder")
	}
	f, err := openRawFile(path)
	if err != nil {
		return header{}, err
	}
	defer f.release()
	page := make([]byte, checksumvfs.PageSize)
	n, err := f.ReadAt(page, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return header{}, err
	}
	return decodeHeader(page[:n]), nil
}

// decodeHeader decodes the first page of a file that is not empty. A page with the reserve of this schema is one of ours even
// if its checksum does not hold; then none of its numbers can be trusted.
func decodeHeader(page []byte) header {
	if len(page) < 100 || !bytes.HasPrefix(page, []byte(sqliteMagic)) {
		return header{kind: fileDamaged}
	}
	h := header{schema: int(binary.BigEndian.Uint32(page[60:])), applicationID: binary.BigEndian.Uint32(page[68:])}
	reserve := page[20]
	h.id, h.checked = checksumvfs.PageID(page, 1)
	switch {
	case reserve == checksumvfs.Reserve && !h.checked:
		h.kind = fileDamaged
	case h.applicationID != applicationID:
		h.kind = fileForeign
	case h.schema > schemaVersion:
		h.kind = fileNewer
	case h.schema < schemaVersion:
		h.kind = fileOlder
	case !h.checked:
		h.kind = fileDamaged // an index of this schema has a reserve
	default:
		h.kind = fileCurrent
	}
	return h
}

// refusal returns memory.ErrForeignFile or memory.ErrNewerSchema for a file that must not be changed, else nil.
func (h header) refusal() error {
	switch h.kind {
	case fileForeign:
		return fmt.Errorf("%w: its application id is %#x; move it away or choose another state folder",
			memory.ErrForeignFile, h.applicationID)
	case fileNewer:
		return fmt.Errorf("%w: schema %d, this program knows %d; update kioku, or move the file away to build a new index",
			memory.ErrNewerSchema, h.schema, schemaVersion)
	}
	return nil
}

// pageID returns the id with which the pages of the file are verified, 0 if they have no checksums.
func (h header) pageID() uint64 {
	if h.checked {
		return h.id
	}
	return 0
}

// Package checksumvfs is a file layer for SQLite that gives each page of a database a checksum. It notices a page that was
// changed, moved or cut off by anything but SQLite as soon as SQLite reads it, and it can make writes fail in tests.
//
// The last 16 bytes of a page, which SQLite leaves free if told so before the database is created, contain the id of the
// database and a checksum of the page and its number. The log (-wal) has checksums of SQLite's own.
//
// SQLite maps the shared memory (-shm), so that a program that cuts it off would end the process by SIGBUS. The package handles
// the signal for the addresses of shared memory, and passes it on to Go for all others.
package checksumvfs

// #include "vfs.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	// PageSize is the size of a page in bytes, the default of SQLite.
	PageSize = C.KIOKU_PAGE
	// Reserve is the number of bytes at the end of a page that SQLite must leave free.
	Reserve = C.KIOKU_RESERVE
	// name of the VFS.
	name = "kioku"
)

// register adds the VFS to SQLite, once.
var register = sync.OnceValue(func() error {
	if rc := C.kioku_register(); rc != 0 {
		return fmt.Errorf("register the VFS: SQLite returns %d", int(rc))
	}
	return nil
})

// File is the record of one open database: it counts the pages that did not have their checksum, and knows whether the shared
// memory was cut off or overwritten.
type File struct {
	id      uint64
	number  int64
	bad     atomic.Int64
	first   atomic.Uint32
	lostShm atomic.Bool
}

var (
	records    sync.Map // number -> *File
	lastRecord atomic.Int64
)

// Open returns a new record for the database with an id. The caller closes it after the last connection.
func Open(id uint64) (*File, error) {
	f := &File{id: id, number: lastRecord.Add(1)}
	records.Store(f.number, f)
	return f, register()
}

// Close forgets the record.
func (f *File) Close() { records.Delete(f.number) }

// ID returns the id of the database.
func (f *File) ID() uint64 { return f.id }

// AddTo adds to the parameters of a SQLite URI those that open the database with this record.
func (f *File) AddTo(uri url.Values) {
	uri.Set("vfs", name)
	uri.Set("kioku_record", strconv.FormatInt(f.number, 10))
	uri.Set("kioku_id", strconv.FormatUint(f.id, 16))
}

// BadPages returns how often SQLite has read a page without its checksum, and the number of the first such page, from 1.
func (f *File) BadPages() (n int64, first uint32) { return f.bad.Load(), f.first.Load() }

// LostShm reports whether another program has cut off or overwritten the -shm file while it was in use. The transactions that ran meanwhile may
// have read pages of different commits, and no transaction begins any more, until all connections of the process are closed.
// A transaction that has met it has told so when it ends.
func (f *File) LostShm() bool { return f.lostShm.Load() }

// PageID returns the id at the end of a page, and whether the checksum fits the page and its number, which counts from 1.
func PageID(page []byte, number uint32) (id uint64, ok bool) {
	if len(page) != PageSize {
		return 0, false
	}
	sum := uint64(C.kioku_sum(unsafe.Pointer(&page[0]), C.uint32_t(number)))
	id = binary.NativeEndian.Uint64(page[PageSize-Reserve:])
	return id, binary.NativeEndian.Uint64(page[PageSize-8:]) == sum
}

//export kiokuBadPage
func kiokuBadPage(record C.int64_t, page C.uint32_t) {
	if f, ok := records.Load(int64(record)); ok {
		f := f.(*File)
		f.first.CompareAndSwap(0, uint32(page))
		f.bad.Add(1)
	}
}

//export kiokuLostShm
func kiokuLostShm(record C.int64_t) {
	if f, ok := records.Load(int64(record)); ok {
		f.(*File).lostShm.Store(true)
	}
}

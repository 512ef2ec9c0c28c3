package checksumvfs

// #include "vfs.h"
import "C"

import (
	"errors"
	"sync/atomic"
	"syscall"
)

// Op is an operation on a file that a test can let fail.
type Op int

// Operations.
const (
	Write Op = iota
	Sync
)

// Fault decides whether an operation fails. path is the file as SQLite names it, "" for a temporary one, and n the number of
// bytes to write. It returns nil, syscall.ENOSPC or another error.
type Fault func(op Op, path string, n int) error

var fault atomic.Pointer[Fault]

// SetFault has every write and sync of the process ask f; with nil, none asks. It is for tests.
func SetFault(f Fault) {
	if f == nil {
		C.kioku_faults(0)
		fault.Store(nil)
		return
	}
	fault.Store(&f)
	C.kioku_faults(1)
}

// Result codes of SQLite.
const (
	resultOK       = 0
	resultFull     = 13
	resultIOErrors = 10
	resultWrite    = resultIOErrors | 3<<8
	resultFsync    = resultIOErrors | 4<<8
)

//export kiokuFault
func kiokuFault(path *C.char, op, n C.int) C.int {
	f := fault.Load()
	if f == nil {
		return resultOK
	}
	name := ""
	if path != nil {
		name = C.GoString(path)
	}
	switch err := (*f)(Op(op), name, int(n)); {
	case err == nil:
		return resultOK
	case errors.Is(err, syscall.ENOSPC):
		return resultFull
	case Op(op) == Sync:
		return resultFsync
	}
	return resultWrite
}

package storetest

import (
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"kioku/store/checksumvfs"
)

// Disk makes what SQLite writes below a folder fail. Databases elsewhere are not affected.
type Disk struct {
	dir string

	mu    sync.Mutex
	quota int64 // bytes that may still be written, -1: any number
	left  int   // operations until err, -1: no error
	err   error
}

var (
	disksMu sync.Mutex
	disks   = map[*Disk]bool{}
)

// NewDisk returns a disk on which all works, until the end of the test.
func NewDisk(t testing.TB, dir string) *Disk {
	t.Helper()
	d := &Disk{dir: filepath.Clean(dir) + "/", quota: -1, left: -1}
	disksMu.Lock()
	disks[d] = true
	disksMu.Unlock()
	checksumvfs.SetFault(askDisks)
	t.Cleanup(func() {
		disksMu.Lock()
		defer disksMu.Unlock()
		if delete(disks, d); len(disks) == 0 {
			checksumvfs.SetFault(nil)
		}
	})
	return d
}

// SetQuota lets a number of bytes be written, and then fails as a full disk. Bytes that are written again count again.
func (d *Disk) SetQuota(bytes int64) { d.set(bytes, -1, nil) }

// FailAfter lets n writes and syncs succeed, and fails all later ones with err.
func (d *Disk) FailAfter(n int, err error) { d.set(-1, n, err) }

// Broken reports whether operations fail as FailAfter says.
func (d *Disk) Broken() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.left == 0
}

// Heal lets all succeed again.
func (d *Disk) Heal() { d.set(-1, -1, nil) }

func (d *Disk) set(quota int64, left int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quota, d.left, d.err = quota, left, err
}

// askDisks asks the disks that a file is on whether an operation fails.
func askDisks(_ checksumvfs.Op, path string, n int) error {
	disksMu.Lock()
	defer disksMu.Unlock()
	for d := range disks {
		if strings.HasPrefix(path, d.dir) {
			if err := d.operate(int64(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// operate counts an operation that writes n bytes, and returns its error.
func (d *Disk) operate(n int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.quota >= 0 && n > d.quota {
		return syscall.ENOSPC
	}
	if d.quota >= 0 {
		d.quota -= n
	}
	if d.left == 0 {
		return d.err
	}
	if d.left > 0 {
		d.left--
	}
	return nil
}

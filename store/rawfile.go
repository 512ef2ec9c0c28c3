package store

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// RawFile is a database file that is read without SQLite.
//
// If a process closes any descriptor of a file, the kernel drops all of its locks on the file, also those of SQLite, and another
// process takes the database for its own. So all users of a file in a process share one descriptor, which is closed after the
// last of them, and after the connections of the database.
type RawFile struct {
	*os.File
	id   fileID
	uses int        // guarded by rawFilesMu
	more []*os.File // further descriptors of the file; guarded by rawFilesMu
}

// fileID is the identity of a file under any name.
type fileID struct{ device, inode uint64 }

var (
	rawFilesMu sync.Mutex
	rawFiles   = map[fileID]*RawFile{} // guarded by rawFilesMu
)

// OpenRawFile opens a file for reading, and for writing if that is allowed. The caller releases it.
func OpenRawFile(path string) (*RawFile, error) {
	rawFilesMu.Lock()
	defer rawFilesMu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if open := rawFiles[identify(info)]; open != nil {
		open.uses++
		return open, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
	}
	if info, err = f.Stat(); err != nil { // the name may stand for another file by now
		return nil, errors.Join(err, f.Close())
	}
	if open := rawFiles[identify(info)]; open != nil {
		open.uses++
		open.more = append(open.more, f)
		return open, nil
	}
	raw := &RawFile{File: f, id: identify(info), uses: 1}
	rawFiles[raw.id] = raw
	return raw, nil
}

// identify returns the identity of a file.
func identify(info fs.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), st.Ino}
}

// Release ends one use of the file.
func (f *RawFile) Release() error {
	rawFilesMu.Lock()
	defer rawFilesMu.Unlock()
	if f.uses--; f.uses > 0 {
		return nil
	}
	delete(rawFiles, f.id)
	err := f.File.Close()
	for _, more := range f.more {
		err = errors.Join(err, more.Close())
	}
	return err
}

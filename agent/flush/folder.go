package flush

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"kioku/internal/atomicfile"
	"kioku/internal/filelock"
)

const (
	recordSuffix  = ".json"
	spoolSuffix   = ".spool.jsonl"
	journalSuffix = ".journal.jsonl"
	// lostSuffix ends the name of a spool whose record is gone.
	lostSuffix = ".lost.jsonl"
	lockName   = "lock"
)

// folder is the folder of a ledger while it is locked for other processes and goroutines.
type folder struct {
	path string
	root *os.Root
	// lock is nil if the folder is only read.
	lock *os.File
}

// openLocked opens the folder and waits for its lock, at most until ctx ends. If it is not there, it is made, or ErrUnknown is returned.
func (l *Ledger) openLocked(ctx context.Context, create bool) (*folder, error) {
	if create {
		if err := makeFolder(l.folder); err != nil {
			return nil, fmt.Errorf("%w; the folder must be writable", err)
		}
	}
	f, err := l.peek()
	if err != nil {
		return nil, err
	}
	f.lock, err = f.root.OpenFile(lockName, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		f.close()
		return nil, fmt.Errorf("lock %s: %w; the folder must be writable", l.folder, err)
	}
	if err := filelock.Lock(ctx, f.lock); err != nil {
		f.close()
		return nil, fmt.Errorf("lock %s: %w", l.folder, err)
	}
	return f, nil
}

// peek opens the folder for reading, without the lock. It returns ErrUnknown if the folder is not there.
func (l *Ledger) peek() (*folder, error) {
	root, err := os.OpenRoot(l.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return &folder{path: l.folder, root: root}, nil
}

// makeFolder makes a folder that is for its owner alone, and makes its name last.
func makeFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Sync()
}

func (f *folder) close() {
	if f.lock != nil {
		f.lock.Close()
	}
	f.root.Close()
}

// record reads the record of a flush and reports whether there is one.
func (f *folder) record(id string) (r record, begun bool, err error) {
	data, err := f.root.ReadFile(id + recordSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && flushID(r.Session, r.Cycle) != id {
		err = errors.New("it is that of another flush")
	}
	if err != nil {
		return record{}, false, f.damaged(id, recordSuffix, err)
	}
	return r, true, nil
}

// held reads the record of a flush that holder holds.
func (f *folder) held(id, holder string) (record, error) {
	if !idForm.MatchString(id) || holder == "" {
		return record{}, ErrUnknown
	}
	r, begun, err := f.record(id)
	if err == nil && (!begun || r.Holder != holder) {
		err = ErrUnknown
	}
	return r, err
}

// damaged names a file of a flush that cannot be read as what it is.
func (f *folder) damaged(id, suffix string, err error) error {
	return fmt.Errorf("%s is damaged: %w; move the files %s.* out of the folder to begin this flush anew",
		filepath.Join(f.path, id+suffix), err, id)
}

func (f *folder) writeRecord(id string, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.root, id+recordSuffix, append(data, '\n'), 0o600)
}

// writeSpool writes the spool of a flush that has no record, and returns how many messages it has. Another one that is
// there, because a record was moved away or a beginning was cut short, is set aside.
func (f *folder) writeSpool(id string, lines []byte, now time.Time) (messages int, err error) {
	name := id + spoolSuffix
	have, err := f.root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if len(have) > 0 && !bytes.Equal(have, lines) {
		aside := id + now.UTC().Format("-20060102T150405.000000000") + lostSuffix
		if err := f.root.Rename(name, aside); err != nil {
			return 0, err
		}
	}
	return bytes.Count(lines, []byte("\n")), atomicfile.Write(f.root, name, lines, 0o600)
}

func (f *folder) readSpool(id string, messages int) ([]json.RawMessage, error) {
	lines, err := f.root.ReadFile(id + spoolSuffix)
	if err != nil {
		return nil, f.damaged(id, spoolSuffix, err)
	}
	spool, err := parseSpool(lines, messages)
	if err != nil {
		return nil, f.damaged(id, spoolSuffix, err)
	}
	return spool, nil
}

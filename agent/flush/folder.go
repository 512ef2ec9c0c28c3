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

// folder is the open folder of a ledger.
type folder struct {
	path string
	root *os.Root
	// lock excludes other processes and goroutines until it is closed; nil if the folder is only read.
	lock *os.File
}

// openLocked opens the folder and waits for its lock until ctx ends. If the folder does not exist, openLocked creates it or
// returns ErrUnknown.
func (l *Ledger) openLocked(ctx context.Context, create bool) (*folder, error) {
	if create {
		if err := makeFolder(l.folder); err != nil {
			return nil, fmt.Errorf("%w; the folder must be writable", err)
		}
	}
	f, err := l.openFolder()
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

// openFolder opens the folder without the lock. It returns ErrUnknown if the folder does not exist.
func (l *Ledger) openFolder() (*folder, error) {
	root, err := os.OpenRoot(l.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return &folder{path: l.folder, root: root}, nil
}

// makeFolder creates a folder that only its owner can use, and flushes its name to the disk.
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

// record returns the record of a flush, or ErrUnknown if there is none.
func (f *folder) record(id string) (r Record, err error) {
	data, err := f.root.ReadFile(id + recordSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrUnknown
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && flushID(r.Session, r.Cycle) != id {
		err = errors.New("it is that of another flush")
	}
	if err != nil {
		return Record{}, f.damaged(id, recordSuffix, err)
	}
	return r, nil
}

// heldRecord returns the record of a flush that holder has, or ErrUnknown.
func (f *folder) heldRecord(id, holder string) (Record, error) {
	if !idForm.MatchString(id) || holder == "" {
		return Record{}, ErrUnknown
	}
	r, err := f.record(id)
	if err == nil && r.Holder != holder {
		err = ErrUnknown
	}
	return r, err
}

// damaged returns an error that names a damaged file of a flush.
func (f *folder) damaged(id, suffix string, err error) error {
	return fmt.Errorf("%s is damaged: %w; move the files %s.* out of the folder to begin this flush again",
		filepath.Join(f.path, id+suffix), err, id)
}

func (f *folder) writeRecord(id string, r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.root, id+recordSuffix, append(data, '\n'), 0o600)
}

// writeSpool writes the spool of a flush that has no record, and returns the number of its messages. If there is another
// spool, because the record was moved away or a Begin was interrupted, writeSpool renames that one.
func (f *folder) writeSpool(id string, lines []byte, now time.Time) (messages int, err error) {
	name := id + spoolSuffix
	old, err := f.root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if len(old) > 0 && !bytes.Equal(old, lines) {
		lost := id + now.UTC().Format("-20060102T150405.000000000") + lostSuffix
		if err := f.root.Rename(name, lost); err != nil {
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

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
	"regexp"
	"strings"
	"syscall"
	"time"

	"kioku/internal/files"
	"kioku/llm"
)

const (
	recordSuffix  = ".json"
	spoolSuffix   = ".spool.jsonl"
	damagedSuffix = ".damaged"
	lockName      = "lock"

	// maxSpoolBytes is the maximum size in bytes of the spools of an agent, and maxSpoolAge that of a spool.
	maxSpoolBytes = 64 << 20
	maxSpoolAge   = 30 * 24 * time.Hour
	// maxRecordAge is the time after which a session that was not used is forgotten.
	maxRecordAge = 365 * 24 * time.Hour
)

// sessionForm matches the name of the files of a session, which is safe whatever the session is called.
var sessionForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

func fileOf(session string) string { return hashOf(session)[:32] }

// folder is the open folder of a ledger.
type folder struct {
	path string
	root *os.Root
	// lock excludes other processes and goroutines until it is closed; nil if the folder is only read.
	lock *os.File
}

// openLocked opens the folder, which it creates if it does not exist, and waits for its lock until ctx ends.
func (l *Ledger) openLocked(ctx context.Context) (*folder, error) {
	if err := makeFolder(l.opt.Folder); err != nil {
		return nil, stateError(err)
	}
	f, err := l.openFolder()
	if err != nil {
		return nil, err
	}
	f.lock, err = f.root.OpenFile(lockName, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		f.close()
		return nil, stateError(err)
	}
	if err := files.Lock(ctx, f.lock); err != nil {
		f.close()
		return nil, fmt.Errorf("lock %s: %w", l.opt.Folder, err)
	}
	f.removeTemps()
	return f, nil
}

// locked runs do with the folder locked.
func (l *Ledger) locked(ctx context.Context, do func(f *folder) error) error {
	f, err := l.openLocked(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	return do(f)
}

// look runs do with the folder without its lock. It does nothing if there is no folder.
func (l *Ledger) look(do func(f *folder) error) error {
	f, err := l.openFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.close()
	return do(f)
}

// stateError returns an error of the folder as an ErrState, nil for none.
func stateError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; its folder must be writable and its disk have room: %w", ErrState, err)
}

// openFolder opens the folder without the lock.
func (l *Ledger) openFolder() (*folder, error) {
	root, err := os.OpenRoot(l.opt.Folder)
	if err != nil {
		return nil, stateError(err)
	}
	return &folder{path: l.opt.Folder, root: root}, nil
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

// record returns the state of a session, by the name of its file. A session without a file has the zero value. So has one
// whose file is damaged, with a warning.
func (f *folder) record(name string) (r record, err error) {
	data, err := f.root.ReadFile(name + recordSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	if err != nil {
		return record{}, err
	}
	if err := json.Unmarshal(data, &r); err != nil || fileOf(r.Session) != name {
		r = record{}
		r.warn(fmt.Sprintf("the state %s was damaged and is begun anew; messages that it covered are flushed again", name+recordSuffix))
	}
	return r, nil
}

// writeRecord replaces the state of a session. It keeps a damaged file under another name.
func (f *folder) writeRecord(r record, now time.Time) error {
	name := fileOf(r.Session)
	if old, err := f.root.ReadFile(name + recordSuffix); err == nil && !json.Valid(old) {
		if err := f.root.Rename(name+recordSuffix, name+damagedSuffix); err != nil {
			return stateError(err)
		}
	}
	r.Used = now
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return stateError(files.Write(f.root, name+recordSuffix, append(data, '\n'), 0o600))
}

// spool returns the spooled messages of a session. It skips what is damaged.
func (f *folder) spool(name string) []Message {
	data, err := f.root.ReadFile(name + spoolSuffix)
	if err != nil {
		return nil
	}
	var out []Message
	for line := range bytes.Lines(data) {
		var m Message
		if json.Unmarshal(line, &m) == nil && checkName("id", m.ID) == nil && isRole(m.Role) {
			out = append(out, m)
		}
	}
	return out
}

func isRole(r llm.Role) bool { return r == llm.RoleUser || r == llm.RoleAssistant || r == llm.RoleTool }

// writeSpool replaces the spooled messages of a session; none removes the file.
func (f *folder) writeSpool(name string, list []Message) error {
	if len(list) == 0 {
		err := f.root.Remove(name + spoolSuffix)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var lines bytes.Buffer
	for _, m := range list {
		line, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("spool message %s: %w", m.ID, err)
		}
		lines.Write(append(line, '\n'))
	}
	return stateError(files.Write(f.root, name+spoolSuffix, lines.Bytes(), 0o600))
}

// sessions returns the names of the sessions that have a file with a suffix.
func (f *folder) sessions(suffix string) []string {
	var out []string
	for _, file := range f.fileNames() {
		if name, ok := strings.CutSuffix(file, suffix); ok && sessionForm.MatchString(name) {
			out = append(out, name)
		}
	}
	return out
}

func (f *folder) fileNames() []string {
	d, err := f.root.Open(".")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return names
}

// removeTemps removes temporary files. The folder must be locked: then the processes that wrote them are gone.
func (f *folder) removeTemps() {
	for _, name := range f.fileNames() {
		if files.IsTemp(name) {
			f.root.Remove(name)
		}
	}
}

package turns

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	"kioku/internal/files"
	"kioku/internal/text"
)

const (
	// current and previous are the names of the files.
	current  = "turns.jsonl"
	previous = "turns.1.jsonl"
	// defaultMaxBytes is the default of Options.MaxBytes.
	defaultMaxBytes = 4 << 20
	// maxMessage is the maximum size of a message in bytes, and maxReason that of a reason in characters.
	maxMessage, maxReason = 8 << 10, 300
)

// Options of a Log. Folder is required.
type Options struct {
	// Folder of the record. It is created when it is needed.
	Folder string
	// Off says that nothing is recorded. What was recorded before can be listed.
	Off bool
	// Messages says that messages of users are recorded even if no transcript contains them.
	Messages bool
	// MaxBytes is the size at which a file is full; 0 means 4 MiB. There are at most two files.
	MaxBytes int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives the first of several failures in sequence; nil discards them.
	Log *slog.Logger
}

// Log is the record of one agent. Several processes may use the same folder, and the methods may be called concurrently.
type Log struct {
	opt Options
	// mu is locked while a line is written. failed says that the last one was not; guarded by mu.
	mu     sync.Mutex
	failed bool
}

// New returns the record in a folder.
func New(opt Options) *Log {
	opt.MaxBytes = cmp.Or(opt.MaxBytes, defaultMaxBytes)
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Log{opt: opt}
}

// Kept reports whether turns are recorded, and messages whether messages of users are too.
func (l *Log) Kept() (kept, messages bool) { return !l.opt.Off, l.opt.Messages }

// Record appends an entry. If it cannot be written, the log of the process says so once, and the entry is lost.
func (l *Log) Record(e Entry) {
	if l.opt.Off {
		return
	}
	if e.Time.IsZero() {
		e.Time = l.opt.Now()
	}
	e.ID = fmt.Sprintf("%016x%08x", e.Time.UnixNano(), rand.Uint32())
	l.restrict(&e)
	line, err := json.Marshal(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		err = l.append(append(line, '\n'))
	}
	if err != nil && !l.failed {
		l.opt.Log.Warn("a turn is not recorded", "folder", l.opt.Folder, "err", err)
	}
	l.failed = err != nil
}

// restrict takes out of an entry what must not be recorded.
func (l *Log) restrict(e *Entry) {
	keep := l.opt.Messages || e.Transcript
	if !keep {
		e.Message = ""
	}
	e.Message = text.HeadBytes(e.Message, maxMessage)
	if e.Recall != nil {
		own := *e.Recall
		if !keep || own.Query == e.Message {
			own.Query = "" // the message says it already
		}
		own.Query = text.HeadBytes(own.Query, maxMessage)
		e.Recall = &own
	}
	if e.Flush != nil {
		own := *e.Flush
		own.Reason = text.Shorten(own.Reason, maxReason)
		e.Flush = &own
	}
}

// append appends a line to the current file.
func (l *Log) append(line []byte) error {
	if err := os.MkdirAll(l.opt.Folder, 0o700); err != nil {
		return err
	}
	folder, err := os.OpenRoot(l.opt.Folder)
	if err != nil {
		return err
	}
	defer folder.Close()
	f, size, err := openCurrent(folder)
	if err != nil {
		return err
	}
	if size > 0 && size+int64(len(line)) > l.opt.MaxBytes {
		err := rotate(folder, f)
		if f.Close(); err != nil {
			return err
		}
		if f, size, err = openCurrent(folder); err != nil {
			return err
		}
	}
	defer f.Close()
	if torn(f, size) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line) // one write to a file that is opened for appending: lines of two processes do not mix
	return err
}

// openCurrent opens or creates the current file, which must be a regular one, and returns its size.
func openCurrent(folder *os.Root) (*os.File, int64, error) {
	f, err := folder.OpenFile(current, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file; move it away", current)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// rotate renames the current file, which is full, unless another process just does or has.
func rotate(folder *os.Root, f *os.File) error {
	if err := files.TryLock(f); errors.Is(err, files.ErrHeld) {
		return nil
	} else if err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := folder.Lstat(current)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, now) {
		return nil
	}
	if err != nil {
		return err
	}
	return folder.Rename(current, previous)
}

// torn reports whether the file does not end with a whole line: a process ended while it wrote.
func torn(f *os.File, size int64) bool {
	if size == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err := f.ReadAt(last, size-1)
	return err == nil && last[0] != '\n' || errors.Is(err, io.EOF)
}

package turns

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"kioku/internal/records"
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
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.append(e)
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

// append appends an entry to the current file, which is put aside once it is full.
func (l *Log) append(e Entry) error {
	if err := os.MkdirAll(l.opt.Folder, 0o700); err != nil {
		return err
	}
	folder, err := os.OpenRoot(l.opt.Folder)
	if err != nil {
		return err
	}
	defer folder.Close()
	return records.Lines{Root: folder, Name: current, Max: l.opt.MaxBytes, Aside: previous}.Append(e)
}

// Package audit records who has read or written which agent's memory: one line of JSON a call, without any text of a note or
// a query.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"kioku/server"
)

// Options say where and how calls are recorded.
type Options struct {
	// File is the path of the log. It is made with mode 0600, and its folder with 0700.
	File string
	// MaxBytes is the size above which the file is renamed to FILE.1 and a new one begun; 0 means never. Of the renamed files the
	// newest 5 are kept.
	MaxBytes int64
	// Required has calls refused while they cannot be recorded.
	Required bool
	// Log is told when records cannot be written, and when they can again; nil discards that.
	Log *slog.Logger
}

const (
	// maxWaiting is how many records wait for a disk that is slow or full; more are lost, and counted.
	maxWaiting = 8192
	// retryPause is the pause after a failed write.
	retryPause = time.Second
	// closeWait is how long Close waits for the last records.
	closeWait = 3 * time.Second
)

// errLost: records were lost because the disk does not keep up.
var errLost = errors.New("too many records wait for the disk")

// Log is an audit log. It never delays a call: records wait in memory until a goroutine has written them.
type Log struct {
	opt     Options
	records chan Record
	// closing is closed by Close, ended when the goroutine has ended.
	closing, ended chan struct{}
	close          sync.Once

	mu   sync.Mutex
	err  error // guarded by mu; why records cannot be written now, nil if they can
	lost int64 // guarded by mu; records that were lost since the last line about that

	// file is the open file, nil after an error; owned by the goroutine.
	file *file
}

// Record is a line of the log.
type Record struct {
	// Time is when the call arrived, in UTC.
	Time time.Time `json:"time"`
	// Request is the id of the request, as in the service's log.
	Request string `json:"request,omitempty"`
	// Caller is the name of the token or certificate; empty if none was needed.
	Caller string `json:"caller,omitempty"`
	// Credential is "token" or "certificate"; empty if none was needed.
	Credential string `json:"credential,omitempty"`
	// From is the other end of the connection: a process with its user, an address, or "this process".
	From string `json:"from,omitempty"`
	// Method is the name of the service and the method.
	Method string `json:"method,omitempty"`
	// Agent is the agent that the caller asked for; empty if for none.
	Agent string `json:"agent,omitempty"`
	// Reached are the agents whose memory the call could use; empty if it was refused.
	Reached []string `json:"reached,omitempty"`
	// Access is "read" or "write", the right that the call needed.
	Access string `json:"access,omitempty"`
	// Outcome is the code of gRPC, "OK" or the name of an error.
	Outcome string `json:"outcome,omitempty"`
	// TookMillis is how long the call took.
	TookMillis float64 `json:"took_ms"`
	// Lost is the number of records that could not be written before this line, which then is about no call; 0 in all others.
	Lost int64 `json:"lost,omitempty"`
}

// Open opens the log, or returns an error if it cannot be written. Close ends it.
func Open(opt Options) (*Log, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	f, err := openFile(opt.File, opt.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("audit.file: %w", err)
	}
	l := &Log{opt: opt, records: make(chan Record, maxWaiting), closing: make(chan struct{}), ended: make(chan struct{}), file: f}
	go l.writeRecords()
	return l, nil
}

// RecordCall records a call, unless it is a health check or the like, which concerns no agent. It does not wait.
func (l *Log) RecordCall(c server.CallRecord) {
	if strings.HasPrefix(c.Method, "/") && !strings.HasPrefix(c.Method, "/kioku.") {
		return
	}
	r := Record{
		Time: c.Start.UTC(), Request: c.RequestID, Caller: c.Caller, Credential: c.Credential, From: c.From, Method: strings.TrimPrefix(c.Method, "/"),
		Agent: c.Agent, Reached: c.Agents, Access: "read", Outcome: c.Code.String(), TookMillis: float64(c.Took.Microseconds()) / 1000,
	}
	if c.Write {
		r.Access = "write"
	}
	select {
	case l.records <- r:
	default:
		l.fail(errLost, 1)
	}
}

// Err returns why records cannot be written now, nil if they can, and whether calls are to be refused for that.
func (l *Log) Err() (err error, refuse bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err, l.err != nil && l.opt.Required
}

// Close writes the records that wait, and closes the file. It does not wait long for a disk that hangs.
func (l *Log) Close() error {
	l.close.Do(func() { close(l.closing) })
	select {
	case <-l.ended:
	case <-time.After(closeWait):
		return fmt.Errorf("audit.file: the last records were not written within %s", closeWait)
	}
	err, _ := l.Err()
	return err
}

// fail notes that records cannot be written, and that some are lost. The first time, it is logged.
func (l *Log) fail(err error, lost int64) {
	l.mu.Lock()
	first := l.err == nil
	l.err = err
	l.lost += lost
	l.mu.Unlock()
	if first {
		l.opt.Log.Error("calls are not recorded: the audit log cannot be written", "file", l.opt.File, "err", err, "calls_refused", l.opt.Required)
	}
}

// recover notes that records can be written again.
func (l *Log) recover() {
	l.mu.Lock()
	before := l.err
	l.err = nil
	l.mu.Unlock()
	if before != nil {
		l.opt.Log.Warn("calls are recorded again", "file", l.opt.File)
	}
}

// takeLost returns a line about records that were lost, and false if none were.
func (l *Log) takeLost() (Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.lost
	l.lost = 0
	return Record{Time: time.Now().UTC(), Lost: lost}, lost > 0
}

// writeRecords writes records until Close, and tries again what could not be written.
func (l *Log) writeRecords() {
	defer close(l.ended)
	for {
		select {
		case r := <-l.records:
			if !l.write(l.batch(r)) {
				return
			}
		case <-l.closing:
			for len(l.records) > 0 && l.tryWrite(l.batch(<-l.records)) {
			}
			l.fileClosed()
			return
		}
	}
}

// maxBatch is how many records are written at once.
const maxBatch = 512

// batch returns a record and those that wait behind it, as lines.
func (l *Log) batch(first Record) []byte {
	lines := line(nil, first)
	for n := 1; n < maxBatch && len(l.records) > 0; n++ {
		lines = line(lines, <-l.records)
	}
	if lost, ok := l.takeLost(); ok {
		lines = line(lines, lost)
	}
	return lines
}

// line appends a record as a line.
func line(lines []byte, r Record) []byte {
	text, err := json.Marshal(r)
	if err != nil { // of a record, never
		return lines
	}
	return append(append(lines, text...), '\n')
}

// write writes lines, after errors again and again. It returns false when the log is closed.
func (l *Log) write(lines []byte) bool {
	for !l.tryWrite(lines) {
		select {
		case <-l.closing:
			l.fileClosed()
			return false
		case <-time.After(retryPause):
		}
	}
	return true
}

// tryWrite writes lines once, and reports whether that succeeded.
func (l *Log) tryWrite(lines []byte) bool {
	err := l.reopen()
	if err == nil {
		err = l.file.write(lines)
	}
	if err != nil {
		l.fail(err, 0)
		return false
	}
	l.recover()
	return true
}

// reopen opens the file again if it could not be written, or if another program has renamed or removed it.
func (l *Log) reopen() error {
	if l.file != nil && l.file.isCurrent() {
		return nil
	}
	l.fileClosed()
	f, err := openFile(l.opt.File, l.opt.MaxBytes)
	if err == nil {
		l.file = f
	}
	return err
}

// fileClosed closes the file, if it is open.
func (l *Log) fileClosed() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrHeld: another holder has the lease; see HeldError.
	ErrHeld = errors.New("flush is held by somebody else")
	// ErrUnknown: there is no such flush, or another holder has it.
	ErrUnknown = errors.New("no such flush")
	// ErrExhausted: all attempts of this cycle have failed.
	ErrExhausted = errors.New("flush has failed too often")
)

// HeldError is ErrHeld with the time at which the lease expires.
type HeldError struct {
	// Until is the time at which the lease expires.
	Until time.Time
}

// Error implements error.
func (e *HeldError) Error() string {
	return ErrHeld.Error() + " until " + e.Until.Format(time.RFC3339) + "; try again then"
}

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Ledger keeps the flushes of one agent in a folder. Several processes may use the same folder, and the methods may be called
// concurrently. A method that takes a context waits for other processes until the context ends.
//
// A flush has a record, a spool with the messages to flush, and a journal of what a Runner did. The spool and the journal of
// a flush that succeeded are removed by Maintain, or when a later cycle of the session is begun; the spool of a Job with
// Through is removed at once. Begin and Maintain also remove everything of flushes that succeeded and were begun more than 30
// days ago; a process looks for them at most once an hour. The files of a flush that did not succeed stay.
type Ledger struct {
	folder   string
	settings Settings
	now      func() time.Time

	// mu guards swept, the time of the last look for old flushes.
	mu    sync.Mutex
	swept time.Time
}

// Lease is a flush that was begun.
type Lease struct {
	Record
	// ID names the flush in calls of Commit, Abort and Release.
	ID string
	// Resumed reports that the flush was begun before, by the same holder or by one that no longer has the lease. If the
	// flush is Done, nothing is leased.
	Resumed bool
	// Spool contains the messages with which the flush was begun first, as compact JSON; nil if the flush is done.
	Spool []json.RawMessage
	// NoteKey and the number of a note, from 1, make the idempotency key of that note. NoteKey changes when an attempt is
	// aborted, because the next attempt may word its notes differently.
	NoteKey string
}

// Progress is the state of a flush. The zero value is that of a flush that was never begun.
type Progress struct {
	Record
	// Left is the number of attempts that are left, 0 if the flush is done.
	Left int
	// Spool is the path of the file with the messages, empty if the flush is done.
	Spool string
}

// Unfinished reports whether the flush was begun and is not done.
func (p Progress) Unfinished() bool { return !p.Begun.IsZero() && !p.Done }

// NewLedger returns a ledger in a folder, which is created by the first Begin. It uses Lease, Attempts and MaxNotes of the
// settings; 0 means the value of Defaults. now is the clock; nil means time.Now.
func NewLedger(folder string, s Settings, now func() time.Time) *Ledger {
	defaults := Defaults()
	if s.Lease <= 0 {
		s.Lease = defaults.Lease
	}
	if s.Attempts <= 0 {
		s.Attempts = defaults.Attempts
	}
	if s.MaxNotes <= 0 {
		s.MaxNotes = defaults.MaxNotes
	}
	if now == nil {
		now = time.Now
	}
	return &Ledger{folder: folder, settings: s, now: now}
}

// Begin takes the lease of the flush of a cycle. When it returns, the spool is on disk. If the flush was begun before, and the
// holder is the same or the lease has expired or was given back, Begin returns the spool of the first time.
//
// Begin returns a *HeldError while another holder has the lease, ErrExhausted if no attempt is left, and an
// *memory.InputError if session or holder is empty, invalid UTF-8 or longer than 256 bytes, if cycle is negative, or if a
// message is not JSON. If a file is damaged, the error names it.
func (l *Ledger) Begin(ctx context.Context, session string, cycle int, holder string, spool []json.RawMessage) (Lease, error) {
	return l.acquire(ctx, Record{Session: session, Cycle: cycle, Holder: holder}, spool, false)
}

// acquire is Begin for a record. If forced is true, it succeeds even if no attempt is left.
func (l *Ledger) acquire(ctx context.Context, want Record, spool []json.RawMessage, forced bool) (Lease, error) {
	if err := checkFlush(want.Session, want.Cycle, want.Holder); err != nil {
		return Lease{}, err
	}
	lines, err := spoolLines(spool)
	if err != nil {
		return Lease{}, err
	}
	f, err := l.openLocked(ctx, true)
	if err != nil {
		return Lease{}, fmt.Errorf("begin flush: %w", err)
	}
	defer f.close()
	lease, err := l.acquireLocked(f, want, lines, forced)
	if err != nil {
		return Lease{}, fmt.Errorf("begin flush: %w", err)
	}
	return lease, nil
}

// acquireLocked is acquire with the folder locked.
func (l *Ledger) acquireLocked(f *folder, want Record, lines []byte, forced bool) (Lease, error) {
	id, now := flushID(want.Session, want.Cycle), l.now()
	r, err := f.record(id)
	begun := !errors.Is(err, ErrUnknown)
	switch {
	case begun && err != nil:
		return Lease{}, err
	case r.Done:
		return r.lease(id, true, nil), nil
	case r.Holder != "" && r.Holder != want.Holder && now.Before(r.Expires):
		return Lease{}, &HeldError{Until: r.Expires}
	case r.Failed >= l.settings.Attempts && !forced:
		return Lease{}, fmt.Errorf("%w (%d times), the last time: %s", ErrExhausted, r.Failed, r.Reason)
	}
	if !begun {
		r = want
		r.Begun = now
		if r.Messages, err = f.writeSpool(id, lines, now); err != nil {
			return Lease{}, err
		}
		f.removeTemps()
		f.removeDone(want.Session, want.Cycle)
		l.sweep(f)
	}
	spool, err := f.readSpool(id, r.Messages)
	if err != nil {
		return Lease{}, err
	}
	r.Holder, r.Expires, r.Aborted = want.Holder, now.Add(l.settings.Lease), false
	if err := f.writeRecord(id, r); err != nil {
		return Lease{}, err
	}
	return r.lease(id, begun, spool), nil
}

// Commit marks a flush as done. A second Commit has no effect. Commit returns ErrUnknown if there is no such flush, if it was
// aborted, or if another holder has it.
func (l *Ledger) Commit(ctx context.Context, id, holder string) error {
	return l.update(ctx, "commit flush", id, holder, func(r *Record) { r.Done = true })
}

// Abort gives a flush back as failed and returns the number of attempts that are left. It returns the errors of Commit. A
// flush that is done stays done and has no attempts left.
func (l *Ledger) Abort(ctx context.Context, id, holder, reason string) (left int, err error) {
	err = l.update(ctx, "abort flush", id, holder, func(r *Record) {
		r.Holder, r.Expires, r.Reason, r.Aborted = "", time.Time{}, cutReason(reason), true
		r.Failed++
		left = max(0, l.settings.Attempts-r.Failed)
	})
	if err != nil {
		return 0, err
	}
	return left, nil
}

// Release gives a flush back that was interrupted. The attempt does not count as failed, and any holder can continue it at
// once. Release returns the errors of Commit. A flush that is done stays done.
func (l *Ledger) Release(ctx context.Context, id, holder string) error {
	return l.update(ctx, "release flush", id, holder, func(r *Record) { r.Holder, r.Expires = "", time.Time{} })
}

// update changes the record of a flush that holder has, unless the flush is done.
func (l *Ledger) update(ctx context.Context, step, id, holder string, edit func(*Record)) error {
	f, err := l.openLocked(ctx, false)
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	defer f.close()
	r, err := f.heldRecord(id, holder)
	if err == nil && !r.Done {
		edit(&r)
		err = f.writeRecord(id, r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	if r.Done && r.Through != "" {
		f.root.Remove(id + spoolSuffix) // if this fails, Maintain removes it
	}
	return nil
}

// Progress returns the state of the flush of a cycle. It returns the zero value and no error if the flush was never begun.
func (l *Ledger) Progress(session string, cycle int) (p Progress, err error) {
	err = l.inspect("read flush", func(f *folder) error {
		r, err := f.record(flushID(session, cycle))
		if err == nil {
			p = l.progress(r)
		}
		return err
	})
	return p, err
}

// List returns the flushes of the sessions for which ours returns true, in the order in which they were begun. It reads all
// records of the ledger. It skips damaged ones; Begin reports them.
func (l *Ledger) List(ours func(session string) bool) (list []Progress, err error) {
	err = l.inspect("list flushes", func(f *folder) error {
		for _, id := range f.ids(recordSuffix) {
			if r, err := f.record(id); err == nil && ours(r.Session) {
				list = append(list, l.progress(r))
			}
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b Progress) int { return a.Begun.Compare(b.Begun) })
	return list, err
}

// NextCycle returns the lowest cycle of a session such that it and all later cycles can be flushed: the one after the last
// that is done or has no attempt left, or 0. An agent that has lost count of its cycles continues there.
func (l *Ledger) NextCycle(session string) (next int, err error) {
	err = l.inspect("read flushes", func(f *folder) error {
		for _, cycle := range slices.Backward(f.cycles(session, recordSuffix)) {
			r, err := f.record(flushID(session, cycle))
			if err != nil {
				return err
			}
			if r.Done || r.Failed >= l.settings.Attempts {
				next = cycle + 1
				break
			}
		}
		return nil
	})
	return next, err
}

// inspect calls read with the folder, without the lock. If the folder does not exist, inspect does nothing. It ignores
// ErrUnknown.
func (l *Ledger) inspect(step string, read func(*folder) error) error {
	f, err := l.openFolder()
	if err == nil {
		defer f.close()
		err = read(f)
	}
	if err == nil || errors.Is(err, ErrUnknown) {
		return nil
	}
	return fmt.Errorf("%s: %w", step, err)
}

func (l *Ledger) progress(r Record) Progress {
	p := Progress{Record: r}
	if !r.Done {
		p.Left = max(0, l.settings.Attempts-r.Failed)
		p.Spool = filepath.Join(l.folder, flushID(r.Session, r.Cycle)+spoolSuffix)
	}
	return p
}

package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrHeld: somebody else has begun this flush, and the lease has not ended; see HeldError.
	ErrHeld = errors.New("flush is held by somebody else")
	// ErrUnknown: no such flush, or it belongs to somebody else.
	ErrUnknown = errors.New("no such flush")
	// ErrExhausted: all attempts of this cycle are used up.
	ErrExhausted = errors.New("flush has failed too often")
)

// HeldError is ErrHeld with the end of the lease.
type HeldError struct{ Until time.Time }

// Error implements error.
func (e *HeldError) Error() string {
	return ErrHeld.Error() + " until " + e.Until.Format(time.RFC3339) + "; try again then"
}

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Ledger keeps the flushes of one agent in a folder. Several processes may use one folder. Its methods may be called
// concurrently.
//
// A flush has a record, a spool with the messages that were about to go, and a journal with what a Runner has done. Spool
// and journal of a flush that has succeeded are removed by Maintain, or when the flush of a later cycle of the session begins;
// the spool of a Job with Through as soon as it has succeeded. With its record they are removed 30 days after it began, by any
// Begin or Maintain; each process looks for such at most once an hour. Those of a flush that has not ended well stay.
//
// A method that takes a context waits for other processes at most until that ends.
type Ledger struct {
	folder   string
	settings Settings
	now      func() time.Time

	// mu guards swept, when old flushes were looked for last.
	mu    sync.Mutex
	swept time.Time
}

// Lease is a flush that was begun.
type Lease struct {
	ID      string
	Session string
	Cycle   int
	Holder  string
	Expires time.Time
	// Attempt counts from 1.
	Attempt int
	// Resumed says that the same holder, or one whose lease has ended or was given back, has begun it before; Done that it
	// has succeeded. Then nothing is leased.
	Resumed, Done bool
	// Spool are the messages that were given when it was first begun, without white space between their parts; nil if the
	// flush has succeeded.
	Spool []json.RawMessage
	// NoteKey before the number of a note, from 1, is the note's idempotency key. It stays the same until the attempt is
	// aborted: the notes of another attempt may be others.
	NoteKey string
	// Through is that of the Job that was begun first.
	Through string
}

// NewLedger returns a ledger in a folder, which is made when it is first written to. Of the settings, Lease, Attempts and
// MaxNotes count, and 0 means those of Defaults. now is the clock, nil means time.Now.
func NewLedger(folder string, s Settings, now func() time.Time) *Ledger {
	usual := Defaults()
	if s.Lease <= 0 {
		s.Lease = usual.Lease
	}
	if s.Attempts <= 0 {
		s.Attempts = usual.Attempts
	}
	if s.MaxNotes <= 0 {
		s.MaxNotes = usual.MaxNotes
	}
	if now == nil {
		now = time.Now
	}
	return &Ledger{folder: folder, settings: s, now: now}
}

// Begin takes the lease of a cycle's flush. The spool is on disk when it returns. A flush that was begun before, by the
// same holder or by one whose lease has ended or was given back, continues the spool of then.
//
// Begin returns a *HeldError while the lease of somebody else lasts, ErrExhausted if no attempt is left, and an
// *memory.InputError for a session or a holder that is empty, no valid text or longer than 256 bytes, for a negative cycle,
// and for a message that is not JSON. If a file is damaged, the error names it.
func (l *Ledger) Begin(ctx context.Context, session string, cycle int, holder string, spool []json.RawMessage) (Lease, error) {
	return l.acquire(ctx, record{Session: session, Cycle: cycle, Holder: holder}, spool, false)
}

// acquire is Begin for a record. One that is forced begins even if no attempt is left.
func (l *Ledger) acquire(ctx context.Context, want record, spool []json.RawMessage, forced bool) (Lease, error) {
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
func (l *Ledger) acquireLocked(f *folder, want record, lines []byte, forced bool) (Lease, error) {
	id, now := flushID(want.Session, want.Cycle), l.now()
	r, begun, err := f.record(id)
	if err != nil {
		return Lease{}, err
	}
	if r.Done {
		return r.lease(id, true, nil), nil
	}
	if r.Holder != "" && r.Holder != want.Holder && now.Before(r.Expires) {
		return Lease{}, &HeldError{Until: r.Expires}
	}
	if r.Failed >= l.settings.Attempts && !forced {
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

// Commit ends a flush well. Committing twice is harmless. It returns ErrUnknown for a flush that there is not, that was
// aborted, or that somebody else has taken over.
func (l *Ledger) Commit(ctx context.Context, id, holder string) error {
	err := l.change(ctx, id, holder, func(r *record) {
		r.Done = true
	})
	if err != nil {
		return fmt.Errorf("commit flush: %w", err)
	}
	return nil
}

// Abort gives a flush back and returns how many attempts are left. It returns ErrUnknown as Commit does. A flush that has
// ended well stays so, and has none left.
func (l *Ledger) Abort(ctx context.Context, id, holder, reason string) (left int, err error) {
	err = l.change(ctx, id, holder, func(r *record) {
		r.Holder, r.Expires, r.Reason = "", time.Time{}, clip(reason)
		r.Aborted = true
		r.Failed++
		left = max(0, l.settings.Attempts-r.Failed)
	})
	if err != nil {
		return 0, fmt.Errorf("abort flush: %w", err)
	}
	return left, nil
}

// Release gives a flush back that was interrupted. The attempt does not count as failed: who begins the flush again, at
// once and under any name, continues it. It returns ErrUnknown as Commit does. A flush that has succeeded stays so.
func (l *Ledger) Release(ctx context.Context, id, holder string) error {
	err := l.change(ctx, id, holder, func(r *record) {
		r.Holder, r.Expires = "", time.Time{}
	})
	if err != nil {
		return fmt.Errorf("release flush: %w", err)
	}
	return nil
}

// change changes the record of a flush that holder holds. That of a flush that has succeeded stays as it is.
func (l *Ledger) change(ctx context.Context, id, holder string, edit func(*record)) error {
	f, err := l.openLocked(ctx, false)
	if err != nil {
		return err
	}
	defer f.close()
	r, err := f.held(id, holder)
	if err != nil || r.Done {
		return err
	}
	edit(&r)
	if err := f.writeRecord(id, r); err != nil {
		return err
	}
	if r.Done && r.Through != "" {
		f.root.Remove(id + spoolSuffix) // or later, by Maintain
	}
	return nil
}

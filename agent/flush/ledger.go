package flush

import (
	"encoding/json"
	"errors"
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
func (e *HeldError) Error() string { panic("contract") }

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// LedgerOptions of a Ledger.
type LedgerOptions struct {
	// Lease and Attempts as in Settings; 0 means those of Defaults.
	Lease    time.Duration
	Attempts int
	// Now is the clock, nil means time.Now.
	Now func() time.Time
}

// Ledger keeps the flushes of one agent in a folder. Several processes may use one folder. Its methods may be called
// concurrently.
type Ledger struct{}

// Lease is a flush that was begun.
type Lease struct {
	ID      string
	Session string
	Cycle   int
	Holder  string
	Expires time.Time
	// Attempt counts from 1.
	Attempt int
	// Resumed says that the same holder, or one whose lease has ended, has begun it before; Done that it has ended well.
	Resumed, Done bool
	// Spool are the messages that were given when it was first begun.
	Spool []json.RawMessage
	// NoteKey before the number of a note, from 1, is the note's idempotency key.
	NoteKey string
}

// Progress is how far the flush of a cycle is.
type Progress struct {
	Begun, Done bool
	// Attempts that have failed.
	Attempts int
}

// NewLedger returns a ledger in a folder, which is made when it is first written to.
func NewLedger(folder string, opt LedgerOptions) *Ledger { panic("contract") }

// Begin takes the lease of a cycle's flush. The spool is on disk when it returns.
func (l *Ledger) Begin(session string, cycle int, holder string, spool []json.RawMessage) (Lease, error) {
	panic("contract")
}

// Commit ends a flush well.
func (l *Ledger) Commit(id, holder string) error { panic("contract") }

// Abort gives a flush back and returns how many attempts are left.
func (l *Ledger) Abort(id, holder, reason string) (left int, err error) { panic("contract") }

// Progress returns how far the flush of a cycle is.
func (l *Ledger) Progress(session string, cycle int) (Progress, error) { panic("contract") }

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"kioku/memory"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
)

// errDamaged: the index is not what Kioku wrote.
var errDamaged = errors.New("the index is damaged")

// maxTries is how often a call is tried if the index is replaced meanwhile.
const maxTries = 3

// repairRetry is how long a damaged index stays in use after it could not be replaced, before that is tried again.
const repairRetry = 10 * time.Second

// Repair describes a damaged index that is being made again.
type Repair struct {
	// Cause says what was found.
	Cause string
	// Since is when it was found.
	Since time.Time
	// Files is the number of files that the damaged index had, 0 if it cannot tell.
	Files int
	// Err is why the index cannot be replaced, nil if it was: then the next complete sync ends the repair.
	Err error
}

// damageCodes are the codes of SQLite, extended ones beside the others, which say that the bytes of a file are not what was
// written to it.
var damageCodes = map[sqlite3.ErrNoExtended]bool{
	sqlite3.ErrNoExtended(sqlite3.ErrIoErr) | 2<<8:  true, // SQLITE_IOERR_SHORT_READ
	sqlite3.ErrNoExtended(sqlite3.ErrIoErr) | 32<<8: true, // SQLITE_IOERR_DATA, of a checksum
	sqlite3.ErrNoExtended(sqlite3.ErrIoErr) | 33<<8: true, // SQLITE_IOERR_CORRUPTFS
}

// IsDamage reports whether an error says that the index is damaged. The statements are constant, so that a missing table or a
// value of another type is damage too.
func IsDamage(err error) bool {
	if err == nil || errors.Is(err, errDamaged) {
		return err != nil
	}
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrCorrupt || damageCodes[e.ExtendedCode] ||
			e.Code == sqlite3.ErrError && strings.HasPrefix(e.Error(), "no such ")
	}
	return strings.Contains(err.Error(), "sql: Scan error")
}

// errVectors: a statement on chunks_vec failed without a reason. vec0 has one code for damage, a full disk and the end of a
// context.
var errVectors = errors.New("chunks_vec cannot be used")

// vectorError marks an error of a statement on chunks_vec that may be due to damage.
func vectorError(err error) error {
	var e sqlite3.Error
	if errors.As(err, &e) && (e.Code == sqlite3.ErrError || e.Code == sqlite3.ErrInternal) {
		return fmt.Errorf("%w: %w", errVectors, err)
	}
	return err
}

// damage makes err an error of damage if the index is damaged, which err need not say: SQLite may have read a page without its
// checksum and gone on, and vec0 does not tell.
func (x *index) damage(err error) error {
	found := x.db.damage()
	switch {
	case errors.Is(err, errDamaged):
		return err
	case found != nil && err != nil:
		return fmt.Errorf("%w: %w", found, err)
	case found != nil:
		return found
	case IsDamage(err):
		return err
	case isClosed(err) && x.db.isClosed():
		return fmt.Errorf("%w and could not be replaced before: %w", errDamaged, err)
	case errors.Is(err, errVectors) && !x.intact():
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

// isClosed reports whether an error says that a database was closed before it could be asked.
func isClosed(err error) bool {
	return errors.Is(err, errMoved) || errors.Is(err, sql.ErrConnDone) || err != nil && strings.Contains(err.Error(), "sql: database is closed")
}

// intact reports whether the tables agree, as far as that can be found out.
func (x *index) intact() bool {
	ctx := context.Background()
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return !IsDamage(err)
	}
	defer tx.Rollback()
	agree, err := consistent(ctx, tx, m)
	return agree || err != nil && !IsDamage(err)
}

// current returns the index that is read and written.
func (s *Store) current() *index {
	if s.opt.ReadOnly {
		s.follow()
	}
	return s.state.Load().current
}

// use calls f with the current index. If the index is damaged, use replaces it and calls f with the new one.
func (s *Store) use(ctx context.Context, f func(*index) error) error {
	for try := 1; ; try++ {
		x := s.current()
		err := s.noticeDamage(ctx, x, f(x))
		if s.current() == x || try == maxTries {
			return err
		}
	}
}

// read calls f with a snapshot of the index. step is what an error says.
func (s *Store) read(ctx context.Context, step string, f func(*sql.Tx, meta) error) error {
	return s.use(ctx, func(x *index) error {
		tx, m, err := x.snapshot(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		err = f(tx, m)
		if input := new(memory.InputError); err == nil || errors.Is(err, memory.ErrNotFound) || errors.As(err, &input) {
			return err // these say enough
		}
		return fmt.Errorf("%s: %w", step, err)
	})
}

// adviceReadOnly says what to do about damage that a process may not mend.
const adviceReadOnly = "the process that owns it makes it again; if there is none, run kioku index"

// readOnlyError adds advice to an error of damage.
func (s *Store) readOnlyError(err error) error {
	if !IsDamage(err) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, adviceReadOnly)
}

// noticeDamage looks whether a call with an index has met damage, and replaces the index if so. If the index stays, it returns
// err, or the damage that explains err.
func (s *Store) noticeDamage(ctx context.Context, x *index, err error) error {
	damage := x.damage(err)
	if !IsDamage(damage) {
		return err
	}
	if s.opt.ReadOnly {
		if s.Repair() == nil {
			s.setRepair(x, &Repair{Cause: damage.Error(), Since: s.opt.Now(), Err: errors.New(adviceReadOnly)})
		}
		if err == nil {
			return nil // what was read is readable
		}
		return s.readOnlyError(damage)
	}
	// The index must not stay damaged because the client has gone away.
	repairErr := s.replace(context.WithoutCancel(ctx), x, damage)
	if err == nil {
		return nil // what was read is readable
	}
	return repairErr
}

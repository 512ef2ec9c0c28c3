package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"kioku/search"
	"kioku/store/checksumvfs"
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

// isDamage reports whether an error says that the index is damaged. The statements are constant, so that a missing table or a
// value of another type is damage too.
func isDamage(err error) bool {
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
	n, first := x.db.pages.BadPages()
	switch {
	case isDamage(err):
		return err
	case n > 0 && err == nil:
		return fmt.Errorf("%w: page %d does not have its checksum", errDamaged, first)
	case n > 0:
		return fmt.Errorf("%w: page %d does not have its checksum: %w", errDamaged, first, err)
	case err != nil && x.db.isClosed():
		return fmt.Errorf("%w and could not be replaced before: %w", errDamaged, err)
	case errors.Is(err, errVectors) && !x.intact():
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

// intact reports whether the tables agree, as far as that can be found out.
func (x *index) intact() bool {
	ctx := context.Background()
	m, err := readMeta(ctx, x.db.readers)
	if err != nil {
		return !isDamage(err)
	}
	agree, err := consistent(ctx, x.db.readers, m)
	return agree || err != nil && !isDamage(err)
}

// current returns the index that is read and written.
func (s *Store) current() *index {
	if s.opt.ReadOnly {
		s.follow()
	}
	return s.indexes.Load().current
}

// use calls f with the current index. If the index is damaged, use replaces it and calls f with the new one.
func use[T any](ctx context.Context, s *Store, f func(*index) (T, error)) (T, error) {
	for try := 1; ; try++ {
		x := s.current()
		v, err := f(x)
		err = s.noticeDamage(ctx, x, err)
		if s.current() == x || try == maxTries {
			return v, err
		}
	}
}

// adviceReadOnly says what to do about damage that a process may not mend.
const adviceReadOnly = "the process that owns it makes it again; if there is none, run kioku index"

// readOnlyError adds advice to an error of damage.
func (s *Store) readOnlyError(err error) error {
	if !isDamage(err) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, adviceReadOnly)
}

// noticeDamage looks whether a call with an index has met damage, and replaces the index if so. It returns err if the index
// stays.
func (s *Store) noticeDamage(ctx context.Context, x *index, err error) error {
	damage := x.damage(err)
	if !isDamage(damage) {
		return err
	}
	if s.opt.ReadOnly {
		s.setRepair(s.indexes.Load().current, &Repair{Cause: damage.Error(), Since: s.opt.Now(), Err: errors.New(adviceReadOnly)})
		return s.readOnlyError(err)
	}
	// The index must not stay damaged because the client has gone away.
	repairErr := s.replace(context.WithoutCancel(ctx), x, damage)
	if err == nil {
		return nil // what was read is readable
	}
	return repairErr
}

// setRepair records the state of the repair of an index that stays in use, unless it was replaced meanwhile.
func (s *Store) setRepair(x *index, r *Repair) {
	ix := s.indexes.Load()
	if ix.current == x {
		next := *ix
		next.repair = r
		s.indexes.CompareAndSwap(ix, &next)
	}
}

// replace sets a damaged index aside and goes on with an empty one. It returns cause if that is not possible now.
func (s *Store) replace(ctx context.Context, x *index, cause error) error {
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	ix := s.indexes.Load()
	if ix.current != x {
		return nil // another call was first
	}
	if s.closed {
		return cause
	}
	if r := ix.repair; r != nil && r.Err != nil && s.opt.Now().Sub(r.Since) < repairRetry {
		return cause
	}
	err := s.exchange(ctx, ix, cause)
	if err != nil {
		s.opt.Log.Error("a damaged index cannot be replaced", "path", s.path, "cause", cause, "err", err)
		s.setRepair(s.indexes.Load().current, &Repair{Cause: cause.Error(), Since: s.opt.Now(), Err: err})
		return fmt.Errorf("%w; it cannot be replaced: %w", cause, err)
	}
	s.opt.Log.Warn("the index was damaged and is made again", "path", s.path, "cause", cause)
	if s.opt.Replaced != nil {
		s.opt.Replaced()
	}
	return nil
}

// exchange puts an empty index in the place of the current one. Transactions that are open end on the old one.
func (s *Store) exchange(ctx context.Context, ix *indexes, cause error) error {
	x := ix.current
	if err := s.replaceFile(ctx, cause, x.generation.Load(), x); err != nil {
		s.reopen(ix)
		return err
	}
	next, err := s.openCurrent(ctx, cause)
	if err != nil {
		return err
	}
	s.indexes.Store(next)
	if ix.damaged != nil {
		ix.damaged.close()
	}
	return nil
}

// reopen opens a damaged index again that was closed and could not be replaced.
func (s *Store) reopen(ix *indexes) {
	if !ix.current.db.isClosed() {
		return
	}
	if x, err := openIndex(s.path, ix.current.db.pages.ID(), modeWrite, &s.opt); err == nil {
		s.indexes.Store(&indexes{current: x, repair: ix.repair, damaged: ix.damaged})
	}
}

// replaceFile sets the file of an index aside, unless there is none, and creates an empty one in its place. x is the index
// that has the file open, nil if none.
func (s *Store) replaceFile(ctx context.Context, cause error, generation int64, x *index) error {
	if generation == 0 && cause != nil {
		generation = s.opt.Now().Unix() // more than any index has commits
	}
	if err := createDraft(ctx, s.path, &s.opt, generation+1); err != nil {
		return err
	}
	if x != nil {
		x.close() // an error is about what is damaged anyway
	}
	if cause != nil {
		suffix := damagedSuffix
		if errors.Is(cause, errOutdated) {
			suffix = outdatedSuffix
		}
		_, err := setAside(s.path, suffix, s.opt.Now(), errors.Is(cause, errForeignLog))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("set the damaged index aside: %w", err)
		}
	}
	return publishDraft(s.path)
}

// tryDamaged answers a view from a damaged index. It returns false if the view has met damage.
func (x *index) tryDamaged(ctx context.Context, vectors bool, f func(search.Reader) error) (answered bool, err error) {
	before, _ := x.db.pages.BadPages()
	err = x.withView(ctx, vectors, f)
	after, _ := x.db.pages.BadPages()
	return !isDamage(err) && before == after && !x.db.isClosed(), err
}

// openDamaged opens the newest index that was set aside as damaged, and describes its repair. It returns nil if there is none.
func (s *Store) openDamaged(ctx context.Context, cause error) (*Repair, *index) {
	names := listAside(s.path, damagedSuffix)
	if len(names) == 0 {
		return nil, nil
	}
	r := &Repair{Cause: errDamaged.Error(), Since: s.opt.Now()}
	if isDamage(cause) {
		r.Cause = cause.Error()
	}
	x := s.openAside(names[0])
	if x == nil {
		return r, nil
	}
	m, err := readMeta(ctx, x.db.readers)
	if err != nil || m.workspace != s.opt.Workspace || errors.Is(cause, errForeignLog) {
		x.close()
		return r, nil
	}
	r.Files = m.files
	return r, x
}

// openAside opens an index that was set aside to read it, nil if it cannot be read at all.
func (s *Store) openAside(name string) *index {
	h, err := readHeader(name)
	if err == nil && h.kind == fileDamaged {
		h, err = sealHeader(name)
	}
	if err != nil || h.kind != fileCurrent && h.kind != fileOlder {
		return nil
	}
	// SQLite refuses a file that is cut off. The pages that are missing have no checksum either when they are zeros.
	if whole := int64(h.pages) * checksumvfs.PageSize; h.checked && fileSize(name) < whole {
		if err := os.Truncate(name, whole); err != nil {
			return nil
		}
	}
	x, err := openIndex(name, h.pageID(), modeCheck, &s.opt)
	if err != nil {
		return nil
	}
	return x
}

// endRepair ends the use of the damaged index, once a sync has completed the new one.
func (s *Store) endRepair() error {
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	ix := s.indexes.Load()
	if ix.repair == nil && ix.damaged == nil {
		return nil
	}
	s.indexes.Store(&indexes{current: ix.current})
	if ix.damaged == nil {
		return nil
	}
	return ix.damaged.close()
}

// follow goes on to the index that the owner has put in the place of the one that is open.
func (s *Store) follow() {
	x := s.indexes.Load().current
	info, err := os.Stat(s.path)
	if err != nil || os.SameFile(info, x.db.info) {
		return
	}
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	if s.indexes.Load().current != x {
		return
	}
	h, err := readHeader(s.path)
	if err != nil || h.kind != fileCurrent {
		return
	}
	next, err := openIndex(s.path, h.id, modeRead, &s.opt)
	if err != nil {
		return
	}
	s.indexes.Store(&indexes{current: next})
	x.close()
}

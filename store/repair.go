package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kioku/search"
	"kioku/store/checksumvfs"
)

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
	// A closed index answers nothing, so it does not wait.
	failedBefore := ix.repair != nil && ix.repair.Err != nil && s.opt.Now().Sub(s.triedAt) < repairRetry
	if failedBefore && !x.db.isClosed() {
		return cause
	}
	if err := s.exchange(ctx, ix, cause); err != nil {
		if !failedBefore {
			s.opt.Log.Error("a damaged index cannot be replaced", "path", s.path, "cause", cause, "err", err)
			s.triedAt = s.opt.Now()
		}
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
	next, err := s.openReplacement(ctx, ix.current, cause)
	if next == nil && err == nil {
		if err = s.replaceFile(ctx, cause, ix.current.generation.Load(), ix.current); err != nil {
			s.reopen(ix)
			return err
		}
		next, err = s.openCurrent(ctx, cause)
	}
	if err != nil {
		return err
	}
	s.indexes.Store(next)
	if ix.damaged != nil {
		ix.damaged.close()
	}
	return nil
}

// openReplacement opens the empty index that an earlier try has put in the place of x but could not open. It returns nil if
// there is none, or if that one is damaged too.
func (s *Store) openReplacement(ctx context.Context, x *index, cause error) (*indexes, error) {
	if !x.db.isClosed() {
		return nil, nil
	}
	if err := finishMove(s.path); err != nil {
		return nil, err
	}
	info, err := os.Stat(s.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && os.SameFile(info, x.db.info) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	next, err := s.openCurrent(ctx, cause)
	if IsDamage(err) {
		return nil, nil
	}
	return next, err
}

// reopen opens a damaged index again that was closed and could not be replaced.
func (s *Store) reopen(ix *indexes) {
	closed := ix.current
	if !closed.db.isClosed() {
		return
	}
	if x, err := openIndex(s.path, closed.db.pages.ID(), modeWrite, &s.opt); err == nil {
		x.generation.Store(closed.generation.Load())
		s.indexes.Store(&indexes{current: x, repair: ix.repair, damaged: ix.damaged})
	}
}

// replaceFile sets the file of an index aside, unless there is none, and creates an empty one in its place. x is the index
// that has the file open, nil if none.
func (s *Store) replaceFile(ctx context.Context, cause error, generation int64, x *index) error {
	if generation == 0 && cause != nil {
		generation = s.opt.Now().Unix() // more than any index has commits
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil { // somebody may have removed it
		return err
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
	return !IsDamage(err) && before == after && !x.db.pages.LostShm() && !x.db.isClosed(), err
}

// openDamaged opens the newest index that was set aside as damaged, and describes its repair. It returns nil if there is none.
func (s *Store) openDamaged(ctx context.Context, cause error) (*Repair, *index) {
	names := listAside(s.path, damagedSuffix)
	if len(names) == 0 {
		return nil, nil
	}
	r := &Repair{Cause: errDamaged.Error(), Since: s.opt.Now()}
	if IsDamage(cause) {
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

// follow goes on to the index that the owner has put in the place of the one that is open. It opens the same one again if its
// -shm file was cut off or overwritten.
func (s *Store) follow() {
	x := s.indexes.Load().current
	info, err := os.Stat(s.path)
	if err != nil || os.SameFile(info, x.db.info) && !x.db.pages.LostShm() {
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

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// replace drops a damaged index and goes on with an empty one. It returns cause if that is not possible now.
func (s *Store) replace(ctx context.Context, x *index, cause error) error {
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	st := s.state.Load()
	if st.current != x {
		return nil // another call was first
	}
	if s.closed {
		return cause
	}
	// A closed index answers nothing, so it does not wait.
	failedBefore := st.repair != nil && st.repair.Err != nil && s.opt.Now().Sub(s.triedAt) < repairRetry
	if failedBefore && !x.db.isClosed() {
		return cause
	}
	r := &Repair{Cause: cause.Error(), Since: s.opt.Now()}
	if m, err := readMeta(ctx, x.db.readers); err == nil {
		r.Files = m.files
	} else if st.repair != nil {
		r.Files = st.repair.Files
	}
	err := s.dropFile(ctx, x.generation.Load(), x)
	if err == nil {
		err = s.openCurrent(ctx, r)
	}
	if err != nil {
		if !failedBefore {
			s.opt.Log.Error("a damaged index cannot be replaced", "path", s.path, "cause", cause, "err", err)
			s.triedAt = s.opt.Now()
		}
		r.Err = err
		s.setRepair(x, r)
		return fmt.Errorf("%w; it cannot be replaced: %w", cause, err)
	}
	s.opt.Log.Warn("the index was damaged and is made again", "path", s.path, "cause", cause)
	if s.opt.Replaced != nil {
		s.opt.Replaced()
	}
	return nil
}

// dropFile puts an empty index of the next generation in the place of what is at the path, if anything is. x is the index that has the file
// open, nil if none has. Transactions that are open end on the old file.
func (s *Store) dropFile(ctx context.Context, generation int64, x *index) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil { // somebody may have removed it
		return err
	}
	if err := createDraft(ctx, s.path, &s.opt, generation+1); err != nil {
		return err
	}
	if x != nil {
		x.close() // an error is about what is damaged anyway
	}
	return publishDraft(s.path)
}

// follow goes on to the index that the owner has put in the place of the one that is open. It opens the same one again if its
// -shm file was cut off or overwritten.
func (s *Store) follow() {
	x := s.state.Load().current
	info, err := os.Stat(s.path)
	if err != nil || os.SameFile(info, x.db.info) && !x.db.pages.LostShm() {
		return
	}
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	if s.state.Load().current != x {
		return
	}
	h, err := ReadHeader(s.path, indexFormat)
	if err != nil || h.Kind != FileCurrent {
		return
	}
	next, err := openIndex(s.path, h.ID, modeRead, &s.opt)
	if err != nil {
		return
	}
	s.state.Store(&state{current: next})
	x.close()
}

// setRepair records the state of the repair of an index that stays in use, unless it was replaced meanwhile. The repair began
// when the first one was recorded.
func (s *Store) setRepair(x *index, r *Repair) {
	before := s.state.Load()
	if before.current != x {
		return
	}
	if before.repair != nil {
		r.Since = before.repair.Since
	}
	s.state.CompareAndSwap(before, &state{current: x, repair: r})
}

// endRepair is called when a sync has completed the index.
func (s *Store) endRepair() {
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	s.state.Store(&state{current: s.state.Load().current})
}

// errNoIndex: there is no file.
var errNoIndex = errors.New("there is no index")

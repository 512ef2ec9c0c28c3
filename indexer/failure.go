package indexer

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// maxRetryWait is the longest wait after a failed sync, so that an index is in step again soon after the cause is gone.
const maxRetryWait = time.Minute

// isExhausted reports whether an error is for want of file descriptors or memory. It says nothing about the file.
func isExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// withAdvice adds to an error what a person can do about it.
func withAdvice(err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return fmt.Errorf("%w; raise the limit of open files (ulimit -n)", err)
	}
	return err
}

// unreadFiles are files of a sync that could not be read and that the index keeps as they were.
type unreadFiles struct {
	count int
	first error
}

// add counts a file.
func (u *unreadFiles) add(t *fileTask) {
	if u.count++; u.first == nil {
		u.first = fmt.Errorf("read %s: %w", t.path, withAdvice(t.err))
	}
}

// retryWait returns how long to wait before the next sync after some that failed in a row.
func (x *Indexer) retryWait(failures int) time.Duration {
	return min(x.opt.PollInterval<<min(failures-1, 10), x.opt.Interval, maxRetryWait)
}

// recordOutcome updates the state after a sync. err is why it failed or why it was canceled, which is no failure. Only a full sync ends
// a failure, as others do not look at all files.
func (s *SyncState) recordOutcome(r *syncRun, err error, canceled bool, wait func(failures int) time.Duration) {
	s.Syncing = false
	left := r.differing
	if err == nil && r.unread.count > 0 {
		err, left = r.unread.first, r.unread.count
	}
	switch {
	case canceled:
		s.Dirty = true
		if s.LastErr == nil {
			s.PendingFiles = 0
		}
	case err != nil:
		s.failures++
		s.Dirty, s.LastErr, s.RetryAt = true, err, time.Now().Add(wait(s.failures))
		if r.planned {
			s.PendingFiles = left
		}
	case r.req.full():
		s.failures, s.LastErr, s.RetryAt = 0, nil, time.Time{}
		s.PendingFiles, s.Dirty = 0, false
	case s.LastErr == nil:
		s.PendingFiles = 0
	}
}

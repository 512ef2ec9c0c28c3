package kioku

import (
	"context"
	"errors"
	"time"

	"kioku/store"
)

const (
	// firstCheck is how long after the start of a watch the index is checked for the first time. checkInterval is how long after
	// a check the next one begins, and checkRetry how long after a check that failed.
	firstCheck    = 2 * time.Minute
	checkInterval = 24 * time.Hour
	checkRetry    = 5 * time.Minute
	// checkRest is how many times as long as it works a check rests, so that it takes 1 % of a core.
	checkRest = 99
)

// checkRegularly checks the index from time to time, and the files after it, until ctx is done.
func (m *Memory) checkRegularly(ctx context.Context) error {
	for wait := firstCheck; sleep(ctx, wait) == nil; {
		wait = m.checkOnce(ctx)
	}
	return nil
}

// checkOnce checks the index at leisure, and then all files against it. It logs what it finds: Status tells of it, and
// searches tell of damage themselves. It returns how long to wait before the next check.
func (m *Memory) checkOnce(ctx context.Context) time.Duration {
	checked, err := m.checkIndex(ctx, func(worked time.Duration) error { return sleep(ctx, checkRest*worked) })
	if err == nil {
		_, err = m.indexer.Sync(ctx, SyncOptions{Verify: true, NoRebuild: true, DeferSessions: len(checked.Found) == 0}, nil)
	}
	if err == nil || ctx.Err() != nil {
		return checkInterval
	}
	m.log.Error("check of the index", "err", err, "again_in", checkRetry)
	return checkRetry
}

// IndexCheck is the outcome of a check.
type IndexCheck struct {
	store.Checked
	// Time is the end of the check.
	Time time.Time
}

// checkIndex checks the index and records the outcome.
func (m *Memory) checkIndex(ctx context.Context, pace func(worked time.Duration) error) (store.Checked, error) {
	checked, err := m.store.Check(ctx, pace)
	if err == nil {
		var found []string
		found, err = m.derived.Check(ctx, true)
		checked.Found = append(checked.Found, found...)
	}
	if len(checked.Found) > 0 {
		m.log.Warn("the check of the index has found damage", "found", checked.Found)
	}
	if err == nil {
		m.lastCheck.Store(&IndexCheck{Checked: checked, Time: m.opt.Now()})
	}
	return checked, err
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Inspect looks for damage in the index for about as long as wait, and changes nothing. It returns what it has found; whole is false
// if it has not looked at everything.
func (m *Memory) Inspect(ctx context.Context, wait time.Duration) (checked store.Checked, whole bool, err error) {
	if err := m.enter(); err != nil {
		return store.Checked{}, false, err
	}
	defer m.leave()
	end := time.Now().Add(wait)
	checked, err = m.store.Inspect(ctx, func() error {
		if time.Now().After(end) {
			return errInspected
		}
		return nil
	})
	if errors.Is(err, errInspected) {
		return checked, false, nil
	}
	if err == nil {
		var found []string
		found, err = m.derived.Check(ctx, false)
		checked.Found = append(checked.Found, found...)
	}
	return checked, err == nil, err
}

// errInspected ends an inspection for which there is no more time.
var errInspected = errors.New("no time to look further")

// CopyIndex writes the index, as it is at one moment, to a new file at path with mode 0600. Other
// processes may read and write the index meanwhile. progress is called now and then with the number of copied pages and of all pages; it may be nil.
func (m *Memory) CopyIndex(ctx context.Context, path string, progress func(done, total int)) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	return m.store.Copy(ctx, path, progress)
}

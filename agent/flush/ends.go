package flush

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sync/errgroup"
)

// Kept is what a session has left at its end.
type Kept struct {
	// Uncovered is the number of messages that are not covered: those of the request and those that are spooled. They are on disk.
	Uncovered int
	// Unknown says that the session has no messages, neither in the request nor on disk, and had none that a flush has seen.
	Unknown bool
	// Warnings say what was lost or mended since the last commit of the session.
	Warnings []string
}

// Keep records that a session has ended. Its messages that are not covered are on disk when Keep returns, so that a later flush
// covers them. It returns the errors of Begin for names.
func (l *Ledger) Keep(ctx context.Context, req Request) (Kept, error) {
	if err := cmp.Or(checkSession(req.Session), checkMessages(req.Messages)); err != nil {
		return Kept{}, err
	}
	f, err := l.openLocked(ctx)
	if err != nil {
		return Kept{}, fmt.Errorf("end session: %w", err)
	}
	defer f.close()
	kept, err := l.keepFiles(f, req)
	if err == nil && !req.OnDisk {
		var warnings []string
		warnings, err = f.limitSpools(fileOf(req.Session), l.opt.SpoolBytes, l.opt.Now())
		kept.Warnings = append(kept.Warnings, warnings...)
	}
	if err != nil {
		return Kept{}, fmt.Errorf("end session: %w", err)
	}
	return kept, nil
}

// keptAtOnce is the number of sessions that KeepAll writes side by side, so that the disk flushes many files at once.
const keptAtOnce = 32

// KeepAll is Keep for several sessions. One that cannot be kept does not stop the others.
func (l *Ledger) KeepAll(ctx context.Context, all []Request) error {
	f, err := l.openLocked(ctx)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	defer f.close()
	failed := make([]error, len(all))
	var group errgroup.Group
	group.SetLimit(keptAtOnce)
	for i, req := range all {
		group.Go(func() error {
			err := cmp.Or(ctx.Err(), checkSession(req.Session), checkMessages(req.Messages))
			if err == nil {
				_, err = l.keepFiles(f, req)
			}
			if err != nil {
				failed[i] = fmt.Errorf("end session %q: %w", req.Session, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in failed
	warnings, err := f.limitSpools("", l.opt.SpoolBytes, l.opt.Now())
	for _, w := range warnings {
		err = errors.Join(err, errors.New(w))
	}
	return errors.Join(append(failed, err)...)
}

// keepFiles writes the files of a session that has ended, with the folder locked.
func (l *Ledger) keepFiles(f *folder, req Request) (Kept, error) {
	name := fileOf(req.Session)
	r, err := f.record(name)
	if err != nil {
		return Kept{}, err
	}
	spooled := f.spool(name)
	list := joinLists(spooled, req.Messages)
	r.forget(list)
	todo := r.uncovered(list)
	if !req.OnDisk {
		if err := f.writeSpoolOf(name, spooled, todo); err != nil {
			return Kept{}, err
		}
	}
	r.Session, r.Ended = req.Session, len(todo) > 0
	r.Open = r.Open && len(todo) > 0
	kept := Kept{Uncovered: len(todo), Warnings: r.Warnings}
	if len(todo) == 0 && r.empty() {
		return kept, nil // nothing was ever said in it
	}
	return kept, f.writeRecord(r, l.opt.Now())
}

// empty reports whether a session has nothing to remember.
func (r *record) empty() bool {
	return len(r.Covered) == 0 && r.Begun == nil && r.Writing == nil && r.Last == nil && r.Used.IsZero()
}

// Left returns the names of the sessions with spooled messages that wait for nobody: the session has ended, or it was not used for
// idle. It omits sessions whose last flush has failed and whose next try is later.
func (l *Ledger) Left(idle time.Duration) ([]string, error) {
	f, err := l.openFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	var out []string
	for _, name := range f.sessions(spoolSuffix) {
		r, err := f.record(name)
		now := l.opt.Now()
		waits := err != nil || r.Session == "" || now.Before(r.NotBefore) && !r.NotBefore.After(now.Add(maxWait))
		if !waits && (r.Ended || idle > 0 && now.Sub(r.Used) >= idle) && len(r.uncovered(f.spool(name))) > 0 {
			out = append(out, r.Session)
		}
	}
	return out, nil
}

// MarkOpen records whether a session is open in a host that keeps its messages on disk, so that LeftOpen finds it if the host ends
// without a word. It writes nothing if that is recorded already.
func (l *Ledger) MarkOpen(ctx context.Context, session string, open bool) error {
	return l.mark(ctx, session, func(r *record) bool {
		same := r.Open == open
		r.Open = open
		return !same
	})
}

// mark changes the record of a session. change reports whether it has changed anything.
func (l *Ledger) mark(ctx context.Context, session string, change func(*record) bool) error {
	if err := checkSession(session); err != nil {
		return err
	}
	f, err := l.openLocked(ctx)
	if err != nil {
		return fmt.Errorf("mark session: %w", err)
	}
	defer f.close()
	r, err := f.record(fileOf(session))
	if err != nil || !change(&r) {
		return err
	}
	r.Session = session
	return f.writeRecord(r, l.opt.Now())
}

// MarkGroup records the channel of a group that is in a session. It writes nothing if that is recorded already.
func (l *Ledger) MarkGroup(ctx context.Context, session, channel string) error {
	return l.mark(ctx, session, func(r *record) bool {
		same := r.Group == channel
		r.Group = channel
		return !same
	})
}

// GroupOf returns the channel of the last group that was in a session, empty if none was.
func (l *Ledger) GroupOf(session string) (string, error) {
	f, err := l.openFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.close()
	r, err := f.record(fileOf(session))
	return r.Group, err
}

// LeftOpen returns the names of the sessions that are marked as open. Their hosts may be running.
func (l *Ledger) LeftOpen() ([]string, error) {
	f, err := l.openFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	var out []string
	for _, name := range f.sessions(recordSuffix) {
		if r, err := f.record(name); err == nil && r.Open {
			out = append(out, r.Session)
		}
	}
	return out, nil
}

package flush

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	var kept Kept
	err := l.locked(ctx, func(f *folder) (err error) {
		if kept, err = l.keepFiles(f, req); err != nil || req.OnDisk {
			return err
		}
		warnings, err := f.limitSpools(fileOf(req.Session), l.opt.SpoolBytes, l.opt.Now())
		kept.Warnings = append(kept.Warnings, warnings...)
		return err
	})
	if err != nil {
		return Kept{}, fmt.Errorf("end session: %w", err)
	}
	return kept, nil
}

// keptAtOnce is the number of sessions that KeepAll writes side by side, so that the disk flushes many files at once.
const keptAtOnce = 32

// KeepAll is Keep for several sessions. One that cannot be kept does not stop the others.
func (l *Ledger) KeepAll(ctx context.Context, all []Request) error {
	failed := make([]error, len(all))
	err := l.locked(ctx, func(f *folder) error {
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
		return l.removeSpools(f)
	})
	if err != nil {
		err = fmt.Errorf("end sessions: %w", err)
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
	return l.sessionsThat(spoolSuffix, func(f *folder, r record) bool {
		now := l.opt.Now()
		waits := r.Session == "" || now.Before(r.NotBefore) && !r.NotBefore.After(now.Add(maxWait))
		return !waits && (r.Ended || idle > 0 && now.Sub(r.Used) >= idle) && len(r.uncovered(f.spool(fileOf(r.Session)))) > 0
	})
}

// sessionsThat returns the names of the sessions with files of a suffix whose state is such. Damaged ones are left out.
func (l *Ledger) sessionsThat(suffix string, such func(f *folder, r record) bool) (out []string, err error) {
	err = l.look(func(f *folder) error {
		for _, name := range f.sessions(suffix) {
			if r, err := f.record(name); err == nil && such(f, r) {
				out = append(out, r.Session)
			}
		}
		return nil
	})
	return out, err
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
	return l.locked(ctx, func(f *folder) error {
		r, err := f.record(fileOf(session))
		if err != nil || !change(&r) {
			return err
		}
		r.Session = session
		return f.writeRecord(r, l.opt.Now())
	})
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
	r, err := l.recordOf(fileOf(session))
	return r.Group, err
}

// LeftOpen returns the names of the sessions that are marked as open. Their hosts may be running.
func (l *Ledger) LeftOpen() ([]string, error) {
	return l.sessionsThat(recordSuffix, func(_ *folder, r record) bool { return r.Open })
}

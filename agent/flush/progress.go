package flush

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Progress is how far the flush of a cycle is.
type Progress struct {
	Session string
	Cycle   int
	// Through is that of the Job, empty if it had none.
	Through string
	// Begun is false for a flush that was never begun; all other fields are zero then.
	Begun, Done bool
	// Aborted says that it was given back as failed, and that nobody has begun it again.
	Aborted bool
	// Attempts have failed, and Left are those that remain, 0 if it is done.
	Attempts, Left int
	// Spool is the path of the file with its messages, empty if it is done.
	Spool string

	begunAt time.Time
}

// Unfinished reports whether the flush was begun and is not done.
func (p Progress) Unfinished() bool { return p.Begun && !p.Done }

// progress tells of a record.
func (l *Ledger) progress(id string, r record) Progress {
	p := Progress{
		Session: r.Session, Cycle: r.Cycle, Through: r.Through, Begun: true, Done: r.Done, Aborted: r.Aborted, Attempts: r.Failed, begunAt: r.Begun,
	}
	if !r.Done {
		p.Left, p.Spool = max(0, l.settings.Attempts-r.Failed), filepath.Join(l.folder, id+spoolSuffix)
	}
	return p
}

// Progress returns how far the flush of a cycle is. It returns the zero value and no error for one that was never begun.
func (l *Ledger) Progress(session string, cycle int) (Progress, error) {
	f, err := l.peek()
	if errors.Is(err, ErrUnknown) {
		return Progress{}, nil
	}
	if err != nil {
		return Progress{}, fmt.Errorf("read flush: %w", err)
	}
	defer f.close()
	id := flushID(session, cycle)
	r, begun, err := f.record(id)
	if err != nil {
		return Progress{}, fmt.Errorf("read flush: %w", err)
	}
	if !begun {
		return Progress{}, nil
	}
	return l.progress(id, r), nil
}

// List returns the flushes of the sessions that ours reports true for, in the order in which they were begun. It reads the
// record of each flush of the ledger. Damaged records are left out: Begin names them.
func (l *Ledger) List(ours func(session string) bool) ([]Progress, error) {
	f, err := l.peek()
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list flushes: %w", err)
	}
	defer f.close()
	var list []Progress
	for _, name := range f.names() {
		id, isRecord := strings.CutSuffix(name, recordSuffix)
		if !isRecord || !idForm.MatchString(id) {
			continue
		}
		if r, begun, err := f.record(id); err == nil && begun && ours(r.Session) {
			list = append(list, l.progress(id, r))
		}
	}
	slices.SortStableFunc(list, func(a, b Progress) int { return a.begunAt.Compare(b.begunAt) })
	return list, nil
}

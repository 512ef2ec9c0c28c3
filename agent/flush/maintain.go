package flush

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/internal/files"
)

// spoolFile is the spool of a session.
type spoolFile struct {
	name     string
	bytes    int64
	modified time.Time
}

// limitSpools removes the oldest spools until those that are left have at most most bytes and none is too old. The spool of
// the session keep stays. The sessions of those that go are warned. The warnings of sessions whose state is damaged, so that they
// cannot be warned, are returned.
func (f *folder) limitSpools(keep string, most int64, now time.Time) (warnings []string, err error) {
	var all []spoolFile
	total := int64(0)
	for _, name := range f.sessions(spoolSuffix) {
		if info, err := f.root.Stat(name + spoolSuffix); err == nil {
			all = append(all, spoolFile{name, info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b spoolFile) int { return cmp.Or(a.modified.Compare(b.modified), cmp.Compare(a.name, b.name)) })
	for _, s := range all {
		if s.name == keep || total <= most && now.Sub(s.modified) <= maxSpoolAge {
			continue
		}
		total -= s.bytes
		warning, err := f.dropSpool(s, now)
		if err != nil {
			return warnings, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings, nil
}

// removeSpools removes the spools that are too old or too large. It returns the warnings of limitSpools as an error.
func (l *Ledger) removeSpools(f *folder) error {
	warnings, err := f.limitSpools("", l.opt.SpoolBytes, l.opt.Now())
	for _, w := range warnings {
		err = errors.Join(err, errors.New(w))
	}
	return err
}

// dropSpool removes a spool. If messages are lost that are not covered, it warns their session, or returns the warning if the
// name of the session is not known.
func (f *folder) dropSpool(s spoolFile, now time.Time) (warning string, err error) {
	r, err := f.record(s.name)
	if err != nil {
		return "", err
	}
	if lost := r.uncovered(f.spool(s.name)); len(lost) > 0 {
		warning = fmt.Sprintf("%d messages that were begun on %s and never committed are removed, because spools were too old or too large",
			len(lost), s.modified.Format(time.DateOnly))
	}
	switch {
	case warning != "" && r.Session == "":
		warning += "; the state of their session was damaged"
	case warning != "":
		r.warn(warning)
		warning = ""
		if err := f.writeRecord(r, now); err != nil {
			return "", err
		}
	}
	return warning, f.root.Remove(s.name + spoolSuffix)
}

// removeOld removes the state of sessions that were not used for long, at most once a day in a process.
func (l *Ledger) removeOld(f *folder, now time.Time) {
	l.mu.Lock()
	due := now.Sub(l.swept) >= 24*time.Hour
	if due {
		l.swept = now
	}
	l.mu.Unlock()
	if !due {
		return
	}
	for _, name := range f.sessions(recordSuffix) {
		r, err := f.record(name)
		if err == nil && r.Writing == nil && !r.Used.IsZero() && now.Sub(r.Used) > maxRecordAge {
			f.root.Remove(name + spoolSuffix)
			f.root.Remove(name + recordSuffix)
		}
	}
	_ = files.SyncFolder(f.root, ".") // What was not removed is removed a day later.
}

package flush

import (
	"cmp"
	"time"
)

// Coverage says which messages of a session are covered.
type Coverage struct {
	// Covered says of each message of the request whether it is covered. A summary is, and what is never flushed.
	Covered []bool `json:"-"`
	// Uncovered is the number of messages of the request that are not.
	Uncovered int `json:"uncovered_count"`
	// Interrupted is the number of spooled messages that are not covered and that the request lacks.
	Interrupted int `json:"-"`
	// Known says that something is recorded of the session.
	Known bool `json:"-"`
	// NotBefore is the time of the next try, zero if nothing has failed.
	NotBefore time.Time `json:"next_try_time,omitzero"`
	// Warnings say what was lost or mended since the last commit of the session.
	Warnings []string `json:"warnings,omitempty"`
}

// WaitReason says until when the next flush waits.
func (c Coverage) WaitReason() string {
	return "the last flush was not committed; the next try is at " + c.NotBefore.Format(time.TimeOnly)
}

// Coverage says which of these messages of a session are covered. It returns the errors of Begin for its names.
func (l *Ledger) Coverage(session string, list []Message) (Coverage, error) {
	if err := cmp.Or(checkSession(session), checkMessages(list)); err != nil {
		return Coverage{}, err
	}
	c := Coverage{Covered: make([]bool, len(list))}
	var r record
	var spooled []Message
	err := l.look(func(f *folder) (err error) {
		r, err = f.record(fileOf(session))
		spooled = f.spool(fileOf(session))
		return err
	})
	if err != nil {
		return Coverage{}, err
	}
	covered := r.covered()
	for i, m := range placed(list) {
		c.Covered[i] = IsSummary(m) || covered[m.key()] || l.leavesOut(m)
		if !c.Covered[i] {
			c.Uncovered++
		}
	}
	c.Interrupted = len(l.uncovered(&r, placed(joinLists(spooled, list)))) - c.Uncovered
	c.Warnings, c.Known = r.Warnings, r.Session != ""
	// A later time is that of a clock that was wrong.
	if !r.NotBefore.After(l.opt.Now().Add(maxWait)) {
		c.NotBefore = r.NotBefore
	}
	return c, nil
}

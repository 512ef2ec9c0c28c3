package sidecar

import "kioku/agent/flush"

// Kept returns the flushes of the sessions that ours holds for; see [flush.Ledger.Kept].
func (s *Sidecar) Kept(ours func(session string) bool) ([]flush.Kept, error) {
	return s.ledger.Kept(ours)
}

// Unfinished returns a flush that was begun and is not done; see [flush.Ledger.Unfinished].
func (s *Sidecar) Unfinished(session string, cycle int) (flush.Kept, bool, error) {
	return s.ledger.Unfinished(session, cycle)
}

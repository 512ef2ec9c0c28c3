package store

import (
	"context"
	"time"
)

// Inspect compares the index with its checksums and its tables with each other, as Check does, and changes nothing. It calls pace
// after each step, and ends with the error of pace. What it has found by then is in Checked.
func (s *Store) Inspect(ctx context.Context, pace func() error) (Checked, error) {
	x := s.current()
	c := checker{index: x, file: x.db.raw, pace: func(time.Duration) error { return pace() }}
	for _, check := range []func(context.Context) error{c.checkPages, c.checkTables, c.checkTexts, c.checkVectors, c.checkTotals} {
		if err := check(ctx); IsDamage(x.damage(err)) {
			c.Found = append(c.Found, err.Error())
			return c.Checked, nil
		} else if err != nil {
			return c.Checked, err
		}
	}
	return c.Checked, nil
}

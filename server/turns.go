package server

import (
	"context"
	"fmt"
	"kioku/agent/turns"
	"kioku/memory"
	"slices"
	"strings"
)

// addTurns adds the counts of the record of turns to the days of a memory. Passages of other agents do not count.
func (s *Server) addTurns(ctx context.Context, in DaysOf, log *turns.Log, days *memory.Activity) error {
	days.TurnsKept, _ = log.Kept()
	recorded, err := log.Days(ctx, s.opt.Location, func(p turns.Passage) bool { return p.Agent == in.Agent })
	if err != nil {
		return fmt.Errorf("activity: %w", err)
	}
	count := func(d *memory.ActivityDay, day turns.Day) {
		d.Turns, d.Used, d.Recalled = day.Turns, day.Used, day.Recalled
	}
	for i := range days.Days {
		d := &days.Days[i]
		count(d, recorded[d.Date])
		delete(recorded, d.Date)
	}
	for date, day := range recorded {
		if (in.Since == "" || date >= in.Since) && (in.Until == "" || date <= in.Until) {
			d := memory.ActivityDay{Date: date}
			count(&d, day)
			days.Days = append(days.Days, d)
		}
	}
	slices.SortFunc(days.Days, func(a, b memory.ActivityDay) int { return strings.Compare(a.Date, b.Date) })
	return nil
}

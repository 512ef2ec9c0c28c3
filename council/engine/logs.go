package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"kioku/council"
	"kioku/council/folder"
	"kioku/internal/records"
)

// Log returns the last lines of the log of a member on a day (YYYY-MM-DD, empty for today in UTC); last 0 means 200.
func (e *Engine) Log(_ context.Context, name, day string, last int) ([]council.LogLine, error) {
	if _, err := e.set.Member(name); err != nil {
		return nil, err
	}
	day = cmp.Or(day, e.now().Format(time.DateOnly))
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return nil, council.Invalid("day", "is %.20q; must be YYYY-MM-DD", day)
	}
	return records.ReadLines[council.LogLine](e.f.Root(), fmt.Sprintf("%s/%s/%s.jsonl", folder.Logs, name, day), cmp.Or(max(0, last), 200))
}

// FollowLog returns the lines that are added to the log of a member from now on, until ctx ends or the reader is too far behind.
func (e *Engine) FollowLog(ctx context.Context, name string) iter.Seq[council.LogLine] {
	events := e.Events(ctx, 0)
	day := e.now().Format(time.DateOnly)
	seen, _ := e.Log(ctx, name, day, 1<<30) // what cannot be read has no lines
	count := len(seen)
	return func(yield func(council.LogLine) bool) {
		for ev := range events {
			if ev.Type != EventLog || ev.Member != name {
				continue
			}
			if today := e.now().Format(time.DateOnly); today != day {
				day, count = today, 0
			}
			lines, err := e.Log(ctx, name, day, 1<<30)
			if err != nil {
				return
			}
			for _, line := range lines[min(count, len(lines)):] {
				if !yield(line) {
					return
				}
			}
			count = len(lines)
		}
	}
}

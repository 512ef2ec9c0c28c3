package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"kioku/memory"
)

const (
	// selectDays counts the chunks of each day and their files, by the index chunks_date.
	selectDays = `SELECT c.date, COUNT(DISTINCT c.file), COUNT(*) FROM chunks c
		WHERE c.date BETWEEN ?1 AND ?2 GROUP BY c.date`
	// selectChanges returns when each file was changed, and whether neither it nor a chunk of it has a day.
	selectChanges = `SELECT mtime, date = '' AND id NOT IN (SELECT file FROM chunks WHERE date > '') FROM files
		WHERE error = '' AND chunks > 0`
)

// Activity returns what the index has of each day from since to until, which may be empty. location decides on which day a file
// was changed.
func (s *Store) Activity(ctx context.Context, since, until string, location *time.Location) (found memory.Activity, err error) {
	if since == "" {
		since = "0" // before every day, and after the empty date of a chunk without one
	}
	if until == "" {
		until = "9999-12-31"
	}
	var days map[string]*memory.ActivityDay
	err = s.read(ctx, "count the notes of days", func(tx *sql.Tx, _ meta) error {
		found, days = memory.Activity{}, map[string]*memory.ActivityDay{}
		err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
			d := &memory.ActivityDay{}
			err := rows.Scan(&d.Date, &d.Notes, &d.Chunks)
			days[d.Date] = d
			return err
		}, selectDays, since, until)
		if err != nil {
			return err
		}
		return forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var mtime int64
			var undated bool
			err := rows.Scan(&mtime, &undated)
			if undated {
				found.Undated++
			}
			if date := time.Unix(0, mtime).In(location).Format(time.DateOnly); mtime > 0 && since <= date && date <= until {
				if days[date] == nil {
					days[date] = &memory.ActivityDay{Date: date}
				}
				days[date].Changed++
			}
			return err
		}, selectChanges)
	})
	for _, d := range days {
		found.Days = append(found.Days, *d)
	}
	slices.SortFunc(found.Days, func(a, b memory.ActivityDay) int { return strings.Compare(a.Date, b.Date) })
	return found, err
}

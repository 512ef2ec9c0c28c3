package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	countEpisodes = `SELECT count(*), coalesce(sum(p.ruled = 0), 0), coalesce(sum(p.sensitivity = 2), 0), coalesce(sum(p.sensitivity = 1), 0)
		FROM payload_episode p JOIN files f ON f.cut = p.file`
	countUnits    = "SELECT kind || '/' || state, count(*) FROM units u WHERE u.state <> 'orphaned' AND " + live + " GROUP BY 1"
	countEntities = `SELECT e.type, count(*) FROM entities e WHERE e.merged_into IS NULL AND EXISTS (SELECT 1 FROM entities a
		JOIN mentions m ON m.entity = a.id WHERE a.id = e.id OR a.merged_into = e.id) GROUP BY 1`
	countUsage = `SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(calls), 0), coalesce(sum(iif(hour = ?2, calls, 0)), 0)
		FROM llm_usage WHERE day = ?1`
)

// Stats implements Store. The day and the hour are those of the location of now.
func (d *Store) Stats(ctx context.Context, now time.Time) (Stats, error) {
	stats, err := read(ctx, d, func(tx *sql.Tx) (Stats, error) {
		var s Stats
		err := tx.QueryRowContext(ctx, countEpisodes).Scan(&s.Episodes, &s.Pending, &s.Secret, &s.Private)
		if err != nil {
			return s, err
		}
		if s.Uncut, err = queryInt(ctx, tx, `SELECT count(*) FROM idx.files f WHERE f.error = ''
			AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.path = f.path AND s.sha256 = f.sha256)`); err != nil {
			return s, err
		}
		for _, count := range []struct {
			counts *map[string]int
			query  string
		}{
			{&s.Units, countUnits}, {&s.Entities, countEntities}, {&s.Jobs, "SELECT status, count(*) FROM jobs GROUP BY 1"},
			{&s.Dropped, "SELECT reason, items FROM dropped"},
		} {
			if *count.counts, err = readCounts(ctx, tx, count.query); err != nil {
				return s, err
			}
		}
		if s.DirtySlots, err = queryInt(ctx, tx, "SELECT count(*) FROM dirty_slots WHERE kind <> 'entity'"); err != nil {
			return s, err
		}
		if s.CachedAnswers, err = queryInt(ctx, tx, "SELECT count(*) FROM llm_cache"); err != nil {
			return s, err
		}
		var oldest sql.NullInt64
		if err := tx.QueryRowContext(ctx, "SELECT min(created_at) FROM jobs WHERE status = 'queued'").Scan(&oldest); err != nil {
			return s, err
		}
		s.Oldest = fromMicros(oldest)
		err = tx.QueryRowContext(ctx, countUsage, now.Format(time.DateOnly), now.Format(hourLayout)).Scan(&s.TokensToday, &s.CallsToday, &s.CallsThisHour)
		return s, err
	})
	if err != nil {
		return Stats{}, fmt.Errorf("count what is derived: %w", err)
	}
	return stats, nil
}

// readCounts returns the counts of a query by name.
func readCounts(ctx context.Context, q queryer, query string) (map[string]int, error) {
	counts := map[string]int{}
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var name string
		var n int
		err := rows.Scan(&name, &n)
		counts[name] = n
		return err
	}, query)
	return counts, err
}

package store

import (
	"context"
	"time"
)

const (
	countEpisodes = `SELECT count(*), coalesce(sum(p.ruled = 0), 0), coalesce(sum(p.sensitivity = 2), 0), coalesce(sum(p.sensitivity = 1), 0)
		FROM payload_episode p JOIN files f ON f.cut = p.file`
	countUncut = `SELECT count(*) FROM idx.files f WHERE f.error = ''
		AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.path = f.path AND s.sha256 = f.sha256)`
	countUnits    = "SELECT kind || '/' || state, count(*) FROM units u WHERE u.state <> 'orphaned' AND " + live + " GROUP BY 1"
	countEntities = `SELECT e.type, count(*) FROM entities e WHERE e.merged_into IS NULL AND EXISTS (SELECT 1 FROM entities a
		JOIN mentions m ON m.entity = a.id WHERE a.id = e.id OR a.merged_into = e.id) GROUP BY 1`
	countUsage = `SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(calls), 0), coalesce(sum(iif(hour = ?2, calls, 0)), 0)
		FROM llm_usage WHERE day = ?1`
)

// Stats returns the totals. The day and the hour are those of the location of now.
func (d *Store) Stats(ctx context.Context, now time.Time) (s Stats, err error) {
	err = d.read(ctx, "count what is derived", func(t *txn) {
		t.get(countEpisodes, nil, &s.Episodes, &s.Pending, &s.Secret, &s.Private)
		s.Uncut = t.number(countUncut)
		s.Units, s.Entities = t.counts(countUnits), t.counts(countEntities)
		s.Jobs, s.Dropped = t.counts("SELECT 'parked', count(*) FROM parked GROUP BY 1"), t.counts("SELECT reason, items FROM dropped")
		s.DirtySlots = t.number("SELECT count(*) FROM dirty_slots WHERE kind <> 'entity'")
		t.get("SELECT problem, next_try FROM derived", nil, &s.Problem, instant{&s.NextTry})
		s.CachedAnswers = t.number("SELECT count(*) FROM llm_cache")
		t.get(countUsage, []any{now.Format(time.DateOnly), now.Format(hourLayout)}, &s.TokensToday, &s.CallsToday, &s.CallsThisHour)
	})
	return s, err
}

// counts returns the counts of a query by name.
func (t *txn) counts(query string) map[string]int {
	counts := map[string]int{}
	t.each(query, nil, func(scan func(...any)) {
		var name string
		var n int
		scan(&name, &n)
		counts[name] = n
	})
	return counts
}

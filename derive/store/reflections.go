package store

import (
	"context"
	"encoding/json"
	"fmt"

	"kioku/derive/unit"
	"kioku/memory"
)

// selectReflections selects what a model thinks of episodes that searches find: those of a JSON array of UIDs, or all if it is NULL.
const selectReflections = `SELECT p.uid, f.path, p.start_line, p.end_line, p.date, p.occurred_at, p.reflection
	FROM payload_episode p CROSS JOIN files f ON f.cut = p.file
	WHERE p.reflection <> '' AND p.forgotten = 0 AND (?1 IS NULL OR p.uid IN (SELECT value FROM json_each(?1)))
		AND p.date >= ?2 AND (?3 = '' OR p.date <= ?3) AND ` + episodeSensitivity + ` <= ?4
	ORDER BY p.date DESC, p.occurred_at DESC, f.path, p.start_line DESC LIMIT ?5`

// ReflectionQuery asks for reflections.
type ReflectionQuery struct {
	// UIDs of episodes; nil means all.
	UIDs []string
	// From and To (YYYY-MM-DD) bound the days of the episodes, To included; empty means no bound.
	From, To string
	// MaxSensitivity of the episodes.
	MaxSensitivity memory.Sensitivity
	// Limit of the number.
	Limit int
}

// Reflections returns what a model thinks of episodes, the latest first.
func (d *Store) Reflections(ctx context.Context, q ReflectionQuery) (list []unit.EpisodeReflection, err error) {
	err = d.read(ctx, "list reflections", func(t *txn) {
		list = nil
		var uids any // NULL
		if q.UIDs != nil {
			uids = array(q.UIDs)
		}
		t.each(selectReflections, []any{uids, q.From, q.To, q.MaxSensitivity, q.Limit}, func(scan func(...any)) {
			var r unit.EpisodeReflection
			var said string
			scan(&r.Episode, &r.Path, &r.StartLine, &r.EndLine, &r.Date, instant{&r.At}, &said)
			if err := json.Unmarshal([]byte(said), &r.Reflection); err != nil {
				t.fail(fmt.Errorf("the reflection of episode %s: %w", r.Episode, err))
			}
			list = append(list, r)
		})
	})
	return list, err
}

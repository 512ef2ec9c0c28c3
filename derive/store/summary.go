package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// keepOrphans is how long a unit is kept that nothing says any more, keepVersions how long its versions are, and keepJobs how long jobs
	// that are done.
	keepOrphans  = 7 * 24 * time.Hour
	keepVersions = 180 * 24 * time.Hour
	keepJobs     = 30 * 24 * time.Hour

	selectExpired = `SELECT u.id, u.uid FROM payload_loop l JOIN units u ON u.id = l.unit
		WHERE l.status = 'open' AND l.expires_at < ? AND u.pin = 0 AND u.state <> 'orphaned'`
	// deleteOldVersions keeps the first version of a unit and the current one, and all of a pinned unit.
	deleteOldVersions = `DELETE FROM unit_versions WHERE recorded_at < ? AND version > 1
		AND NOT EXISTS (SELECT 1 FROM units u WHERE u.id = unit_versions.unit AND (u.pin = 1 OR u.version = unit_versions.version))`
)

const (
	// raiseSummaries gives the summaries that cite the episodes of units the sensitivity of what they cite, if it is more than theirs and
	// no person has decided about it, and forgets what they were written with, so that they are written anew. setVersions does the
	// same with what they said before.
	raiseSummaries = `UPDATE units SET sensitivity = cited.most, payload_sha256 = x'00' FROM (
			SELECT c.unit, max(` + episodeSensitivity + `) AS most FROM evidence c JOIN payload_episode p ON p.id = c.episode
			WHERE c.unit IN (SELECT o.unit FROM evidence t JOIN evidence o ON o.episode = t.episode WHERE t.unit IN (SELECT u.id FROM json_each(?1) j JOIN units u ON u.uid = j.value))
			GROUP BY c.unit) AS cited
		WHERE units.id = cited.unit AND units.kind = 'summary' AND units.sensitivity < cited.most` + undecided + " RETURNING id"
	// undecided is the condition that no person has decided how sensitive a summary is.
	undecided = ` AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.target = units.uid
		AND (d.verb = 'sensitivity' OR d.verb = 'correct' AND d.change LIKE '%"sensitivity"%'))`
	setVersions = `UPDATE unit_versions SET payload = json_set(payload, '$.Sensitivity', (SELECT sensitivity FROM units WHERE id = unit))
		WHERE unit IN (SELECT value FROM json_each(?1))`
)

// errNoEpisodes: nothing that a summary was made from is left.
var errNoEpisodes = errors.New("none of its episodes is in the index any more: make it again from those that are")

// PutSummary implements Store. The summary is at least as sensitive as its episodes, unless a person has decided otherwise. One
// that a person has had forgotten is not written.
func (d *Store) PutSummary(ctx context.Context, u memory.Unit, episodes []string, reason string) error {
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return d.putSummary(ctx, tx, u, episodes, reason) })
	if err != nil {
		return fmt.Errorf("put summary: %w", err)
	}
	return nil
}

// putSummary implements PutSummary.
func (d *Store) putSummary(ctx context.Context, tx *sql.Tx, u memory.Unit, episodes []string, reason string) error {
	if u.Summary == nil || u.UID == "" {
		return fmt.Errorf("the unit %q is no summary", u.UID)
	}
	list, err := jsonList(notNil(episodes))
	if err != nil {
		return err
	}
	w := unitWriter{statements: prepareIn(tx), now: d.now(), reason: reason}
	err = forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		var s memory.Sensitivity
		err := rows.Scan(&id, &s)
		w.episodes, u.Sensitivity = append(w.episodes, id), max(u.Sensitivity, s)
		return err
	}, "SELECT p.id, "+episodeSensitivity+` FROM json_each(?) j CROSS JOIN payload_episode p ON p.uid = j.value ORDER BY j.id, p.id`, list)
	if err != nil {
		return err
	}
	if len(w.episodes) == 0 {
		return errNoEpisodes
	}
	decided, err := readDecided(ctx, tx)
	if err != nil {
		return err
	}
	u.Kind, u.State = memory.KindSummary, memory.StateValidated
	if !decideSummary(&u, decided) {
		return nil
	}
	if u.Trust == "" {
		u.Trust = memory.SpeakerAssistant
	}
	s := u.Summary
	before, err := queryIDs(ctx, tx, `SELECT u.id FROM payload_summary m JOIN units u ON u.id = m.unit
		WHERE m.scope = ? AND m.key = ? AND u.uid <> ?`, s.Scope, s.Key, u.UID)
	if err != nil {
		return err
	}
	if err := deleteUnits(ctx, tx, before); err != nil {
		return err
	}
	if err := w.write(ctx, u); err != nil {
		return err
	}
	return execAll(ctx, tx, []any{u.UID, s.Stale}, "UPDATE payload_summary SET stale = ?2 WHERE unit = (SELECT id FROM units WHERE uid = ?1)")
}

// decideSummary applies the decisions about a summary. It returns false if it is forgotten.
func decideSummary(u *memory.Unit, all decided) bool {
	key := vocab.UnitUID(memory.KindSummary, u.Summary.Scope, u.Summary.Key)
	if isForgotten(all.list, key+vocab.UnitUID("key", memory.KindSummary, u.Summary.Scope, u.Summary.Key)) {
		return false
	}
	for _, d := range all.about([]string{u.UID}) {
		switch d.Verb {
		case memory.DecidePin, memory.DecideUnpin:
			u.Pinned = d.Verb == memory.DecidePin
		case memory.DecideSensitivity:
			u.Sensitivity = sensitivityOf(d.Change, u.Sensitivity)
		case memory.DecideCorrect:
			correctSummary(u, d.Change)
		}
	}
	return true
}

// correctSummary gives a summary what a person has set.
func correctSummary(u *memory.Unit, change string) {
	var fields map[string]string
	if json.Unmarshal([]byte(change), &fields) != nil {
		return // decisions.md is checked before it comes here
	}
	u.Sensitivity = sensitivityOf(fields["sensitivity"], u.Sensitivity)
	if fields["text"] == "" {
		return
	}
	s := *u.Summary
	s.Text = fields["text"]
	u.Summary, u.Source, u.Trust = &s, "person", memory.SpeakerNote
}

// sensitivityOf returns the sensitivity with a name, and another one for an unknown name.
func sensitivityOf(name string, other memory.Sensitivity) memory.Sensitivity {
	if s, ok := memory.ParseSensitivity(name); ok {
		return s
	}
	return other
}

// decideSummaries applies changed decisions to the summaries that there are. One of which a correction was taken back is stale,
// since its own text is not known any more.
func decideSummaries(ctx context.Context, tx *sql.Tx, changed []string) error {
	units, err := readUnits(ctx, tx, []string{memory.KindSummary}, []any{nil, nil, nil})
	if err != nil {
		return err
	}
	decided, err := readDecided(ctx, tx)
	if err != nil {
		return err
	}
	for _, u := range units {
		corrected := u.Source == "person"
		if slices.Contains(changed, u.UID) {
			u.Pinned = false
		}
		if !decideSummary(&u, decided) {
			if err := deleteUnits(ctx, tx, []int64{u.ID}); err != nil {
				return err
			}
			continue
		}
		if !slices.Contains(changed, u.UID) {
			continue
		}
		if corrected && !slices.ContainsFunc(decided.about([]string{u.UID}), func(d memory.Decision) bool { return d.Verb == memory.DecideCorrect }) {
			u.Summary.Stale = true
		}
		stale := u.Summary.Stale
		w := unitWriter{statements: prepareIn(tx), now: u.ChangedAt, reason: "decision"}
		if w.episodes, err = queryIDs(ctx, tx, "SELECT episode FROM evidence WHERE unit = ? ORDER BY ordinal", u.ID); err != nil {
			return err
		}
		if err := w.write(ctx, u); err != nil {
			return err
		}
		if err := execAll(ctx, tx, []any{u.ID, stale}, "UPDATE payload_summary SET stale = ?2 WHERE unit = ?1"); err != nil {
			return err
		}
	}
	return nil
}

// raise raises the summaries that cite the episodes of the units with these UIDs.
func raise(ctx context.Context, tx *sql.Tx, units []string) error {
	if len(units) == 0 {
		return nil
	}
	list, err := jsonList(units)
	if err != nil {
		return err
	}
	raised, err := queryIDs(ctx, tx, raiseSummaries, list)
	if err != nil {
		return err
	}
	return raiseVersions(ctx, tx, raised)
}

// RaiseSummary implements Store.
func (d *Store) RaiseSummary(ctx context.Context, uid string, to memory.Sensitivity) error {
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		raised, err := queryIDs(ctx, tx, `UPDATE units SET sensitivity = ?2, payload_sha256 = x'00'
			WHERE uid = ?1 AND kind = 'summary' AND sensitivity < ?2`+undecided+" RETURNING id", uid, to)
		if err != nil {
			return err
		}
		return raiseVersions(ctx, tx, raised)
	})
	if err != nil {
		return fmt.Errorf("raise the sensitivity of summary %s: %w", uid, err)
	}
	return nil
}

// raiseVersions raises what summaries said before, and has those that are not pinned made anew.
func raiseVersions(ctx context.Context, tx *sql.Tx, raised []int64) error {
	if len(raised) == 0 {
		return nil
	}
	list, err := jsonList(raised)
	if err != nil {
		return err
	}
	return execAll(ctx, tx, []any{list}, setVersions, "UPDATE payload_summary SET input_sha256 = '' WHERE unit IN (SELECT value FROM json_each(?1))")
}

// Expire implements Store. It also removes what is kept for a while: units that nothing says any more for 7 days, versions for
// 180 days, and jobs that are done for 30 days. Pinned loops do not expire.
func (d *Store) Expire(ctx context.Context, now time.Time) (int, error) {
	expired := 0
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids, err := queryIDs(ctx, tx, selectExpired, now.UnixMicro())
		if err != nil {
			return err
		}
		expired = len(ids)
		if err := expireLoops(ctx, tx, ids, now); err != nil {
			return err
		}
		orphans, err := queryIDs(ctx, tx, "SELECT id FROM units WHERE state = 'orphaned' AND changed_at < ?", now.Add(-keepOrphans).UnixMicro())
		if err != nil {
			return err
		}
		for _, id := range orphans {
			err := execAll(ctx, tx, []any{id}, `INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason)
				SELECT 'entity', subject, '', 'claims' FROM payload_fact WHERE unit = ?1
				UNION SELECT 'entity', object_entity, '', 'claims' FROM payload_fact WHERE unit = ?1 AND object_entity IS NOT NULL`)
			if err != nil {
				return err
			}
		}
		if err := deleteUnits(ctx, tx, orphans); err != nil {
			return err
		}
		if err := execAll(ctx, tx, []any{now.Add(-keepVersions).UnixMicro()}, deleteOldVersions); err != nil {
			return err
		}
		return execAll(ctx, tx, []any{now.Add(-keepJobs).UnixMicro()}, "DELETE FROM jobs WHERE status IN ('done', 'dropped') AND updated_at < ?")
	})
	if err != nil {
		return 0, fmt.Errorf("expire: %w", err)
	}
	return expired, nil
}

// expireLoops archives loops.
func expireLoops(ctx context.Context, tx *sql.Tx, ids []int64, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := jsonList(ids)
	if err != nil {
		return err
	}
	units, err := readUnits(ctx, tx, []string{memory.KindLoop}, []any{list, nil, nil})
	if err != nil {
		return err
	}
	for _, u := range units {
		u.State, u.Loop.Status = memory.StateArchived, memory.LoopExpired
		w := unitWriter{statements: prepareIn(tx), now: now, reason: "expired"}
		if w.claims, err = claimsOfEvidence(ctx, tx, u.ID); err != nil {
			return err
		}
		for _, c := range w.claims {
			u.Evidence = append(u.Evidence, memory.Evidence{EpisodeUID: c.EpisodeUID, StartLine: c.StartLine, EndLine: c.EndLine, Quote: c.Quote, Maker: c.Maker})
		}
		if err := w.write(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// claimsOfEvidence returns the evidence of a unit as claims, so that it is written again.
func claimsOfEvidence(ctx context.Context, tx *sql.Tx, unit int64) ([]memory.Claim, error) {
	var claims []memory.Claim
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var c memory.Claim
		var at sql.NullInt64
		err := rows.Scan(&c.EpisodeID, &c.EpisodeUID, &c.StartLine, &c.EndLine, &c.Quote, &c.Speaker, &c.Maker, &c.Confidence, &at)
		c.At = fromMicros(at)
		claims = append(claims, c)
		return err
	}, `SELECT v.episode, p.uid, v.start_line, v.end_line, v.quote, v.speaker, v.maker, v.confidence, v.said_at
		FROM evidence v JOIN payload_episode p ON p.id = v.episode WHERE v.unit = ? ORDER BY v.ordinal`, unit)
	return claims, err
}

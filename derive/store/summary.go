package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// keepOrphans is how long a unit is kept that nothing says any more, and keepVersions how long its versions are.
	keepOrphans  = 7 * 24 * time.Hour
	keepVersions = 180 * 24 * time.Hour

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
		AND d.verb = 'correct' AND d.change LIKE '%"sensitivity"%')`
	setVersions = `UPDATE unit_versions SET payload = json_set(payload, '$.sensitivity', (SELECT iif(sensitivity = 2, 'secret', 'private') FROM units WHERE id = unit))
		WHERE unit IN (SELECT value FROM json_each(?1))`
)

// errNoEpisodes: nothing that a summary was made from is left.
var errNoEpisodes = errors.New("none of its episodes is in the index any more: make it again from those that are")

// PutSummary writes a summary with the episodes that it was made from, if it differs from the one before. The summary is at least as sensitive
// as its episodes, unless a person has decided otherwise. One that a person has had forgotten is not written.
func (d *Store) PutSummary(ctx context.Context, u memory.Unit, episodes []string, reason string) error {
	if u.Summary != nil && d.opt.Forgotten(u.Summary.Text) {
		return nil
	}
	return d.write(ctx, "put summary", func(t *txn) { t.putSummary(u, episodes, reason, d.now()) })
}

// putSummary implements PutSummary.
func (t *txn) putSummary(u memory.Unit, episodes []string, reason string, now time.Time) {
	if u.Summary == nil || u.UID == "" {
		t.fail(fmt.Errorf("the unit %q is no summary", u.UID))
		return
	}
	w := unitWriter{txn: t, now: now, reason: reason}
	t.each("SELECT p.id, "+episodeSensitivity+` FROM json_each(?) j CROSS JOIN payload_episode p ON p.uid = j.value ORDER BY j.id, p.id`, []any{array(episodes)},
		func(scan func(...any)) {
			var id int64
			var s memory.Sensitivity
			scan(&id, &s)
			w.episodes, u.Sensitivity = append(w.episodes, id), max(u.Sensitivity, s)
		})
	if len(w.episodes) == 0 {
		t.fail(errNoEpisodes)
		return
	}
	u.Kind, u.State = memory.KindSummary, memory.StateValidated
	if !decideSummary(&u, t.decided()) {
		return
	}
	if u.Trust == "" {
		u.Trust = memory.SpeakerAssistant
	}
	s := u.Summary
	t.deleteUnits(column[int64](t, "SELECT u.id FROM payload_summary m JOIN units u ON u.id = m.unit WHERE m.scope = ? AND m.key = ? AND u.uid <> ?", s.Scope, s.Key, u.UID))
	w.write(u)
	t.exec("UPDATE payload_summary SET stale = ?2 WHERE unit = (SELECT id FROM units WHERE uid = ?1)", u.UID, s.Stale)
}

// decideSummary applies the decisions about a summary. It returns false if it is forgotten.
func decideSummary(u *memory.Unit, all decided) bool {
	key := vocab.UnitUID(memory.KindSummary, u.Summary.Scope, u.Summary.Key)
	if isForgotten(all.list, key+vocab.UnitUID("key", memory.KindSummary, u.Summary.Scope, u.Summary.Key)) {
		return false
	}
	for _, d := range all.about([]string{u.UID}) {
		switch d.Verb {
		case unit.DecidePin, unit.DecideUnpin:
			u.Pinned = d.Verb == unit.DecidePin
		case unit.DecideCorrect:
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
func (t *txn) decideSummaries(changed []string) {
	decided := t.decided()
	for _, u := range t.units([]string{memory.KindSummary}, allUnits) {
		corrected := u.Source == "person"
		if slices.Contains(changed, u.UID) {
			u.Pinned = false
		}
		if !decideSummary(&u, decided) {
			t.deleteUnits([]int64{u.ID})
			continue
		}
		if !slices.Contains(changed, u.UID) {
			continue
		}
		if corrected && !slices.ContainsFunc(decided.about([]string{u.UID}), func(d unit.Decision) bool { return d.Verb == unit.DecideCorrect }) {
			u.Summary.Stale = true
		}
		stale := u.Summary.Stale
		w := unitWriter{txn: t, now: u.ChangedAt, reason: "decision"}
		w.episodes = column[int64](t, "SELECT episode FROM evidence WHERE unit = ? ORDER BY ordinal", u.ID)
		w.write(u)
		t.exec("UPDATE payload_summary SET stale = ?2 WHERE unit = ?1", u.ID, stale)
	}
}

// raise raises the summaries that cite the episodes of the units with these UIDs.
func (t *txn) raise(units []string) {
	if len(units) > 0 {
		t.raiseVersions(column[int64](t, raiseSummaries, array(units)))
	}
}

// RaiseSummary gives a summary and what it said before at least this sensitivity, until it is written anew.
func (d *Store) RaiseSummary(ctx context.Context, uid string, to memory.Sensitivity) error {
	return d.write(ctx, "raise the sensitivity of summary "+uid, func(t *txn) {
		t.raiseVersions(column[int64](t, `UPDATE units SET sensitivity = ?2, payload_sha256 = x'00'
			WHERE uid = ?1 AND kind = 'summary' AND sensitivity < ?2`+undecided+" RETURNING id", uid, to))
	})
}

// raiseVersions raises what summaries said before, and has those that are not pinned made anew.
func (t *txn) raiseVersions(raised []int64) {
	if len(raised) > 0 {
		t.execAll([]any{array(raised)}, setVersions, "UPDATE payload_summary SET input_sha256 = '' WHERE unit IN (SELECT value FROM json_each(?1))")
	}
}

// Expire archives the open loops that expire before now and returns how many. It also removes what is kept for a while: units that nothing
// says any more for 7 days, versions for 180 days. Pinned loops do not expire.
func (d *Store) Expire(ctx context.Context, now time.Time) (expired int, err error) {
	err = d.write(ctx, "expire", func(t *txn) {
		ids := column[int64](t, selectExpired, now.UnixMicro())
		expired = len(ids)
		t.expireLoops(ids, now)
		orphans := column[int64](t, "SELECT id FROM units WHERE state = 'orphaned' AND changed_at < ?", now.Add(-keepOrphans).UnixMicro())
		t.exec(`INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason)
			SELECT 'entity', subject, '', 'claims' FROM json_each(?1) j JOIN payload_fact ON unit = j.value
			UNION SELECT 'entity', object_entity, '', 'claims' FROM json_each(?1) j JOIN payload_fact ON unit = j.value AND object_entity IS NOT NULL`, array(orphans))
		t.deleteUnits(orphans)
		t.exec(deleteOldVersions, now.Add(-keepVersions).UnixMicro())
	})
	return expired, err
}

// expireLoops archives loops.
func (t *txn) expireLoops(ids []int64, now time.Time) {
	if len(ids) == 0 {
		return
	}
	for _, u := range t.units([]string{memory.KindLoop}, []any{array(ids), nil, nil}) {
		u.State, u.Loop.Status = memory.StateArchived, memory.LoopExpired
		w := unitWriter{txn: t, now: now, reason: "expired", claims: t.claimsOfEvidence(u.ID)}
		for _, c := range w.claims {
			u.Evidence = append(u.Evidence, memory.Evidence{EpisodeUID: c.EpisodeUID, StartLine: c.StartLine, EndLine: c.EndLine, Quote: c.Quote, Maker: c.Maker})
		}
		w.write(u)
	}
}

// claimsOfEvidence returns the evidence of a unit as claims, so that it is written again.
func (t *txn) claimsOfEvidence(id int64) (claims []unit.Claim) {
	t.each(`SELECT v.episode, p.uid, v.start_line, v.end_line, v.quote, v.speaker, v.maker, v.confidence, v.said_at
		FROM evidence v JOIN payload_episode p ON p.id = v.episode WHERE v.unit = ? ORDER BY v.ordinal`, []any{id}, func(scan func(...any)) {
		var c unit.Claim
		scan(&c.EpisodeID, &c.EpisodeUID, &c.StartLine, &c.EndLine, &c.Quote, &c.Speaker, &c.Maker, &c.Confidence, instant{&c.At})
		claims = append(claims, c)
	})
	return claims
}

package store

import (
	"context"
	"os"
	"time"

	"kioku/memory"
)

const (
	// episodeSalience is the salience of an episode: by rule, or more if a model thinks so.
	episodeSalience = "max(p.salience, coalesce(json_extract(nullif(p.reflection, ''), '$.salience_score'), 0))"
	// episodeSensitivity is the sensitivity of an episode for those who quote it: its own, or that of a fact or loop drawn from it which is
	// more sensitive than all that says it, because a person has decided so.
	episodeSensitivity = `max(p.sensitivity, coalesce((SELECT max(u.sensitivity) FROM evidence v JOIN units u ON u.id = v.unit
		WHERE v.episode = p.id AND u.kind <> 'summary' AND u.sensitivity > 0 AND u.sensitivity > (SELECT max(q.sensitivity) FROM evidence w
			JOIN payload_episode q ON q.id = w.episode WHERE w.unit = u.id)), 0))`
	// selectEpisodes selects the episodes of files that searches find. CROSS JOIN makes SQLite start with the episodes.
	selectEpisodes = episodesWith + "p.sensitivity" + ofEpisodes
	// selectQuotable is selectEpisodes with the sensitivity for those who quote them.
	selectQuotable = episodesWith + episodeSensitivity + ofEpisodes
	episodesWith   = `SELECT p.id, p.uid, f.path, f.source, p.start_line, p.end_line, p.text_sha256, p.date, p.occurred_at, p.heading,
		p.speakers, p.trust, `
	ofEpisodes = ", " + episodeSalience + `, p.long_term FROM payload_episode p CROSS JOIN files f ON f.cut = p.file `
	// selectSensitive selects the episodes above a sensitivity that overlap lines of a JSON array. The first condition is that of the index.
	selectSensitive = selectEpisodes + `WHERE p.id IN (SELECT s.id FROM json_each(?1) j CROSS JOIN files f ON f.path = j.value ->> 'path'
			CROSS JOIN payload_episode s INDEXED BY payload_episode_sensitive ON s.file = f.cut AND s.sensitivity > 0 AND s.sensitivity > ?2
			AND s.start_line <= j.value ->> 'to' AND s.end_line >= j.value ->> 'from')
		ORDER BY f.path, p.start_line`

	// findDetached finds an episode whose file is gone or is cut anew, and of which everything that claims depend on is the same. Without
	// statistics SQLite would look through all episodes of the same time.
	findDetached = `SELECT id FROM payload_episode INDEXED BY payload_episode_uid WHERE uid = ? AND file IS NULL AND text_sha256 = ? AND date = ? AND occurred_at IS ?
		AND heading = ? AND speakers = ? AND trust = ? AND sensitivity = ? AND long_term = ? LIMIT 1`
	attachEpisode = "UPDATE payload_episode SET file = ?, start_line = ?, end_line = ?, salience = ? WHERE id = ?"
	insertEpisode = `INSERT INTO payload_episode (file, start_line, end_line, salience, uid, text_sha256, date, occurred_at, heading,
		speakers, trust, sensitivity, long_term) VALUES `
	episodeValues = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

// Uncut detaches the episodes of files that the index does not have any more, and returns the paths of at most limit files of it that
// were not cut into episodes by the rules with this fingerprint, as they are now. An index that no sync has completed may lack files.
func (d *Store) Uncut(ctx context.Context, fingerprint string, limit int) (paths []string, err error) {
	if !d.opt.ReadOnly {
		err = d.write(ctx, "look for files that are gone", func(t *txn) {
			t.exec(`DELETE FROM sources WHERE unindexed = 0 AND (SELECT last_sync FROM idx.meta) > 0
				AND NOT EXISTS (SELECT 1 FROM idx.files f WHERE f.path = sources.path AND f.error = '')`)
		})
	}
	if err == nil {
		err = d.read(ctx, "look for files to cut", func(t *txn) {
			paths = column[string](t, `SELECT f.path FROM idx.files f WHERE f.error = ''
				AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.path = f.path AND s.sha256 = f.sha256 AND s.cut_by = ? AND s.unindexed = 0)
				ORDER BY f.path LIMIT ?`, fingerprint, limit)
		})
	}
	return paths, err
}

// UncutTranscripts does the same for transcripts that are not indexed. all are those that there are.
func (d *Store) UncutTranscripts(ctx context.Context, fingerprint string, all []memory.File) (paths []string, err error) {
	var there []string
	for _, f := range all {
		there = append(there, f.Path)
	}
	err = d.write(ctx, "look for transcripts", func(t *txn) {
		paths = nil
		for _, f := range all {
			if t.number("SELECT count(*) FROM sources WHERE path = ? AND mtime = ? AND cut_by = ? AND unindexed = 1", f.Path, f.ModTime.UnixNano(), fingerprint) == 0 {
				paths = append(paths, f.Path)
			}
		}
		t.exec("DELETE FROM sources WHERE unindexed = 1 AND path NOT IN (SELECT value FROM json_each(?))", array(there))
	})
	return paths, err
}

// DropDetached deletes the episodes that no file has any more, and with them their claims and the evidence of units. Until then a file that
// has another name, or that has their text now, takes them over. It returns how many it has deleted.
func (d *Store) DropDetached(ctx context.Context) (n int, err error) {
	err = d.read(ctx, "count episodes", func(t *txn) { n = t.number("SELECT count(*) FROM payload_episode WHERE file IS NULL") })
	if err == nil && n > 0 {
		err = d.write(ctx, "delete episodes", func(t *txn) { t.exec("DELETE FROM payload_episode WHERE file IS NULL") })
	}
	return n, err
}

// Sweep deletes what episodes say whose files the index does not have any more as they were, while nothing is derived. What is derived again
// from the others is the same.
func (d *Store) Sweep(ctx context.Context) error {
	if info, err := os.Stat(d.path); err != nil || info.Size() == 0 {
		return nil
	}
	return d.write(ctx, "delete what is derived from files that are gone", func(t *txn) {
		t.exec(`DELETE FROM sources WHERE unindexed = 0 AND (SELECT last_sync FROM idx.meta) > 0
			AND NOT EXISTS (SELECT 1 FROM idx.files f WHERE f.path = sources.path AND f.sha256 = sources.sha256 AND f.error = '')`)
		t.exec("DELETE FROM payload_episode WHERE file IS NULL")
	})
}

// PutEpisodes replaces the episodes of a file, unless the index has another content of it; then it does nothing and returns false.
// Episodes with the same UID keep their claims. unindexed is a transcript that the index does not have, or nil.
func (d *Store) PutEpisodes(ctx context.Context, file memory.SourceFile, unindexed *memory.File, fingerprint string, episodes []memory.Episode) (put bool, err error) {
	modified := int64(0)
	if unindexed != nil {
		modified = unindexed.ModTime.UnixNano()
	}
	err = d.write(ctx, "put the episodes of "+file.Path, func(t *txn) {
		put = unindexed != nil || t.number("SELECT count(*) FROM idx.files WHERE path = ? AND sha256 = ? AND error = ''", file.Path, file.SHA256[:]) > 0
		if !put {
			return
		}
		var id int64
		t.get(`INSERT INTO sources (path, source, sha256, mtime, unindexed, cut_by) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
			source = excluded.source, sha256 = excluded.sha256, mtime = excluded.mtime, unindexed = excluded.unindexed, cut_by = excluded.cut_by RETURNING id`,
			[]any{file.Path, file.Source, file.SHA256[:], modified, unindexed != nil, fingerprint}, &id)
		t.exec("UPDATE payload_episode SET file = NULL WHERE file = ?", id)
		t.putEpisodes(id, episodes)
	})
	return put && err == nil, err
}

// putEpisodes gives a file of sources its episodes. If there are detached ones, those with the same text keep their claims.
func (t *txn) putEpisodes(file int64, episodes []memory.Episode) {
	detached := t.number("SELECT EXISTS (SELECT 1 FROM payload_episode WHERE file IS NULL)") > 0
	var added [][]any
	for i := range episodes {
		e, id := &episodes[i], int64(0)
		place := []any{file, e.StartLine, e.EndLine, e.Salience}
		said := []any{e.UID, e.TextSHA256[:], e.Date, micros(e.OccurredAt), e.Heading, array(e.Speakers), e.Trust, e.Sensitivity, e.LongTerm}
		if detached && t.get(findDetached, said, &id) {
			t.exec(attachEpisode, append(place, id)...)
		} else {
			added = append(added, append(place, said...))
		}
	}
	t.insertRows(insertEpisode, episodeValues, added)
}

// PendingEpisodes returns at most limit episodes without claims by rules of this version, file by file, in the order of their names, so that
// dated ones come oldest first.
func (d *Store) PendingEpisodes(ctx context.Context, rules int, limit int) ([]memory.Episode, error) {
	return d.episodes(ctx, "list pending episodes", selectEpisodes+`WHERE p.ruled < ? ORDER BY p.ruled, p.file, p.start_line LIMIT ?`, rules, limit)
}

// Unextracted returns episodes that no model with this contract and name has read, settled before a time and since another one, oldest
// first, at most limit.
func (d *Store) Unextracted(ctx context.Context, version string, since, settledBefore time.Time, limit int) ([]memory.Episode, error) {
	return d.episodes(ctx, "list episodes that no model has read", selectEpisodes+`WHERE p.read_by <> ?1 AND f.mtime < ?2
		AND (p.occurred_at IS NULL OR p.occurred_at >= ?3) AND p.sensitivity < 2
		ORDER BY p.occurred_at, p.file, p.start_line LIMIT ?4`, version, settledBefore.UnixNano(), since.UnixMicro(), limit)
}

// Episodes returns episodes by UID; unknown ones are left out.
func (d *Store) Episodes(ctx context.Context, uids ...string) ([]memory.Episode, error) {
	return d.episodes(ctx, "read episodes", selectEpisodes+`WHERE p.uid IN (SELECT value FROM json_each(?)) ORDER BY f.path, p.start_line`, array(uids))
}

// SensitiveAt returns the episodes above a sensitivity that overlap one of some runs of lines, by their places, and the paths of files
// among them that are not cut into episodes as they are now.
func (d *Store) SensitiveAt(ctx context.Context, above memory.Sensitivity, places []Lines) (found []memory.Episode, uncut []string, err error) {
	err = d.read(ctx, "read sensitive episodes of lines", func(t *txn) {
		uncut = column[string](t, `SELECT DISTINCT j.value ->> 'path' FROM json_each(?) j
			WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.path = j.value ->> 'path')`, array(places))
		found = t.episodes(selectSensitive, array(places), above)
	})
	return found, uncut, err
}

// EpisodesBetween returns the episodes that occurred in [from, to), by salience and then time, at most limit.
func (d *Store) EpisodesBetween(ctx context.Context, from, to time.Time, limit int) ([]memory.Episode, error) {
	return d.episodes(ctx, "read episodes of days", selectQuotable+`WHERE p.occurred_at >= ? AND p.occurred_at < ?
		ORDER BY `+episodeSalience+` DESC, p.occurred_at DESC, p.uid LIMIT ?`, from.UnixMicro(), to.UnixMicro(), limit)
}

// NewestEpisode returns when the newest episode before a time occurred, the zero time if there is none.
func (d *Store) NewestEpisode(ctx context.Context, before time.Time) (newest time.Time, err error) {
	err = d.read(ctx, "look for the newest episode", func(t *txn) {
		t.get("SELECT max(occurred_at) FROM payload_episode WHERE occurred_at < ?", []any{before.UnixMicro()}, instant{&newest})
	})
	return newest, err
}

// EpisodesOf returns the newest episodes that mention an entity.
func (d *Store) EpisodesOf(ctx context.Context, entity string, limit int) ([]memory.Episode, error) {
	return d.episodes(ctx, "read episodes of an entity", selectQuotable+`WHERE p.id IN (SELECT m.episode FROM entities e
		JOIN entities a ON coalesce(a.merged_into, a.id) = coalesce(e.merged_into, e.id) JOIN mentions m ON m.entity = a.id WHERE e.uid = ?)
		ORDER BY p.occurred_at DESC, p.uid LIMIT ?`, entity, limit)
}

// episodes returns the episodes of a query.
func (d *Store) episodes(ctx context.Context, step, query string, args ...any) (list []memory.Episode, err error) {
	err = d.read(ctx, step, func(t *txn) { list = t.episodes(query, args...) })
	return list, err
}

// episodes returns the episodes of a query that begins as selectEpisodes does.
func (t *txn) episodes(query string, args ...any) (list []memory.Episode) {
	t.each(query, args, func(scan func(...any)) {
		var e memory.Episode
		scan(&e.ID, &e.UID, &e.Path, &e.Source, &e.StartLine, &e.EndLine, (*hash)(&e.TextSHA256), &e.Date, instant{&e.OccurredAt}, &e.Heading,
			parsed{&e.Speakers, "the speakers of an episode"}, &e.Trust, &e.Sensitivity, &e.Salience, &e.LongTerm)
		list = append(list, e)
	})
	return list
}

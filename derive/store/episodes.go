package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/memory"
)

const (
	// episodeSalience is the salience of an episode: by rule, or more if a model thinks so.
	episodeSalience = "max(p.salience, coalesce(json_extract(nullif(p.reflection, ''), '$.salience'), 0))"
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
	attachEpisodeSQL = "UPDATE payload_episode SET file = ?, start_line = ?, end_line = ?, salience = ? WHERE id = ?"
	insertEpisode    = `INSERT INTO payload_episode (file, start_line, end_line, salience, uid, text_sha256, date, occurred_at, heading,
		speakers, trust, sensitivity, long_term) VALUES `
	episodeValues = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

// writeEpisodes gives a file of sources its episodes. If there are detached ones, those with the same text keep their claims.
func writeEpisodes(ctx context.Context, s *statements, file int64, episodes []memory.Episode) error {
	var detached bool
	if err := s.scan(ctx, "SELECT EXISTS (SELECT 1 FROM payload_episode WHERE file IS NULL)", nil, &detached); err != nil {
		return err
	}
	var added [][]any
	for i := range episodes {
		row, attached, err := episodeRow(file, &episodes[i]), false, error(nil)
		if detached {
			attached, err = attachEpisode(ctx, s, row)
		}
		if err != nil {
			return fmt.Errorf("write episode: %w", err)
		}
		if !attached {
			added = append(added, row)
		}
	}
	if err := s.insertRows(ctx, insertEpisode, episodeValues, added); err != nil {
		return fmt.Errorf("write episodes: %w", err)
	}
	return nil
}

// episodePlace is the number of the first columns of insertEpisode, which tell where an episode is. The others tell what it is.
const episodePlace = 4

// episodeRow returns the columns of insertEpisode of an episode of a file.
func episodeRow(file int64, e *memory.Episode) []any {
	speakers, _ := jsonList(notNil(e.Speakers)) // a list of texts always has a form in JSON
	return []any{file, e.StartLine, e.EndLine, e.Salience,
		e.UID, e.TextSHA256[:], e.Date, micros(e.OccurredAt), e.Heading, speakers, e.Trust, e.Sensitivity, e.LongTerm}
}

// attachEpisode gives a detached episode its place, and returns false if there is none.
func attachEpisode(ctx context.Context, s *statements, row []any) (bool, error) {
	var id int64
	err := s.scan(ctx, findDetached, row[episodePlace:], &id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		_, err = s.exec(ctx, attachEpisodeSQL, append(slices.Clone(row[:episodePlace]), id)...)
	}
	return err == nil, err
}

// Uncut detaches the episodes of files that the index does not have any more, and returns the paths of at most limit files of it that
// were not cut into episodes by the rules with this fingerprint, as they are now. An index that no sync has completed may lack files.
func (d *Store) Uncut(ctx context.Context, fingerprint string, limit int) ([]string, error) {
	if !d.opt.ReadOnly {
		if _, err := d.change(ctx, `DELETE FROM sources WHERE unindexed = 0 AND (SELECT last_sync FROM idx.meta) > 0
			AND NOT EXISTS (SELECT 1 FROM idx.files f WHERE f.path = sources.path AND f.error = '')`); err != nil {
			return nil, fmt.Errorf("look for files that are gone: %w", err)
		}
	}
	return read(ctx, d, func(tx *sql.Tx) ([]string, error) {
		return queryColumn[string](ctx, tx, `SELECT f.path FROM idx.files f WHERE f.error = ''
			AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.path = f.path AND s.sha256 = f.sha256 AND s.cut_by = ? AND s.unindexed = 0)
			ORDER BY f.path LIMIT ?`, fingerprint, limit)
	})
}

// UncutTranscripts does the same for transcripts that are not indexed. all are those that there are.
func (d *Store) UncutTranscripts(ctx context.Context, fingerprint string, all []memory.File) (paths []string, err error) {
	err = d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		paths = nil
		there := []string{}
		for _, f := range all {
			there = append(there, f.Path)
			known, err := queryInt(ctx, tx, "SELECT count(*) FROM sources WHERE path = ? AND mtime = ? AND cut_by = ? AND unindexed = 1", f.Path, f.ModTime.UnixNano(), fingerprint)
			if err != nil {
				return err
			}
			if known == 0 {
				paths = append(paths, f.Path)
			}
		}
		list, _ := jsonList(there)
		return execAll(ctx, tx, []any{list}, "DELETE FROM sources WHERE unindexed = 1 AND path NOT IN (SELECT value FROM json_each(?))")
	})
	if err != nil {
		return nil, fmt.Errorf("look for transcripts: %w", err)
	}
	return paths, nil
}

// DropDetached deletes the episodes that no file has any more, and with them their claims and the evidence of units. Until then a file that
// has another name, or that has their text now, takes them over. It returns how many it has deleted.
func (d *Store) DropDetached(ctx context.Context) (int, error) {
	n, err := read(ctx, d, func(tx *sql.Tx) (int, error) {
		return queryInt(ctx, tx, "SELECT count(*) FROM payload_episode WHERE file IS NULL")
	})
	if err == nil && n > 0 {
		_, err = d.change(ctx, "DELETE FROM payload_episode WHERE file IS NULL")
	}
	if err != nil {
		return 0, fmt.Errorf("delete episodes: %w", err)
	}
	return n, nil
}

// PutEpisodes replaces the episodes of a file, unless the index has another content of it; then it does nothing and returns false.
// Episodes with the same UID keep their claims. unindexed is a transcript that the index does not have, or nil.
func (d *Store) PutEpisodes(ctx context.Context, file memory.SourceFile, unindexed *memory.File, fingerprint string, episodes []memory.Episode) (bool, error) {
	put, modified := false, int64(0)
	if unindexed != nil {
		modified = unindexed.ModTime.UnixNano()
	}
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		stmts := prepareIn(tx)
		err := stmts.scan(ctx, "SELECT ?3 OR EXISTS (SELECT 1 FROM idx.files WHERE path = ?1 AND sha256 = ?2 AND error = '')", []any{file.Path, file.SHA256[:], unindexed != nil}, &put)
		if err != nil || !put {
			return err
		}
		var id int64
		err = stmts.scan(ctx, `INSERT INTO sources (path, source, sha256, mtime, unindexed, cut_by) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
			source = excluded.source, sha256 = excluded.sha256, mtime = excluded.mtime, unindexed = excluded.unindexed, cut_by = excluded.cut_by RETURNING id`,
			[]any{file.Path, file.Source, file.SHA256[:], modified, unindexed != nil, fingerprint}, &id)
		if err == nil {
			_, err = stmts.exec(ctx, "UPDATE payload_episode SET file = NULL WHERE file = ?", id)
		}
		if err != nil {
			return err
		}
		return writeEpisodes(ctx, stmts, id, episodes)
	})
	if err != nil {
		return false, fmt.Errorf("put the episodes of %s: %w", file.Path, err)
	}
	return put, nil
}

// PendingEpisodes implements Store.
func (d *Store) PendingEpisodes(ctx context.Context, rules int, limit int) ([]memory.Episode, error) {
	// Files are cut in the order of their names, so that dated ones come oldest first.
	return d.listEpisodes(ctx, "list pending episodes", selectEpisodes+`WHERE p.ruled < ? ORDER BY p.ruled, p.file, p.start_line LIMIT ?`, rules, limit)
}

// Unextracted implements Store.
func (d *Store) Unextracted(ctx context.Context, version string, since, settledBefore time.Time, limit int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "list episodes that no model has read", selectEpisodes+`WHERE p.read_by <> ?1 AND f.mtime < ?2
		AND (p.occurred_at IS NULL OR p.occurred_at >= ?3) AND p.sensitivity < 2
		ORDER BY p.occurred_at, p.file, p.start_line LIMIT ?4`, version, settledBefore.UnixNano(), since.UnixMicro(), limit)
}

// Episodes implements Store.
func (d *Store) Episodes(ctx context.Context, uids ...string) ([]memory.Episode, error) {
	list, err := jsonList(uids)
	if err != nil {
		return nil, err
	}
	return d.listEpisodes(ctx, "read episodes", selectEpisodes+`WHERE p.uid IN (SELECT value FROM json_each(?))
		ORDER BY f.path, p.start_line`, list)
}

// SensitiveAt returns the episodes above a sensitivity that overlap one of some runs of lines, by their places, and the paths of indexed files
// among them that are not cut into episodes as they are now.
func (d *Store) SensitiveAt(ctx context.Context, above memory.Sensitivity, places []Lines) (found []memory.Episode, uncut []string, err error) {
	list, err := jsonList(places)
	if err != nil {
		return nil, nil, err
	}
	found, err = read(ctx, d, func(tx *sql.Tx) ([]memory.Episode, error) {
		uncut, err = queryColumn[string](ctx, tx, `SELECT DISTINCT j.value ->> 'path' FROM json_each(?) j
			WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.path = j.value ->> 'path')`, list)
		if err != nil {
			return nil, err
		}
		return queryEpisodes(ctx, tx, selectSensitive, list, above)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read sensitive episodes of lines: %w", err)
	}
	return found, uncut, nil
}

// EpisodesBetween implements Store.
func (d *Store) EpisodesBetween(ctx context.Context, from, to time.Time, limit int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "read episodes of days", selectQuotable+`WHERE p.occurred_at >= ? AND p.occurred_at < ?
		ORDER BY `+episodeSalience+` DESC, p.occurred_at DESC, p.uid LIMIT ?`, from.UnixMicro(), to.UnixMicro(), limit)
}

// NewestEpisode implements Store.
func (d *Store) NewestEpisode(ctx context.Context, before time.Time) (time.Time, error) {
	newest, err := read(ctx, d, func(tx *sql.Tx) (newest sql.NullInt64, err error) {
		err = tx.QueryRowContext(ctx, "SELECT max(occurred_at) FROM payload_episode WHERE occurred_at < ?", before.UnixMicro()).Scan(&newest)
		return newest, err
	})
	if err != nil || !newest.Valid {
		return time.Time{}, err
	}
	return time.UnixMicro(newest.Int64).UTC(), nil
}

// EpisodesOf implements Store.
func (d *Store) EpisodesOf(ctx context.Context, entity string, limit int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "read episodes of an entity", selectQuotable+`WHERE p.id IN (SELECT m.episode FROM entities e
		JOIN entities a ON coalesce(a.merged_into, a.id) = coalesce(e.merged_into, e.id) JOIN mentions m ON m.entity = a.id WHERE e.uid = ?)
		ORDER BY p.occurred_at DESC, p.uid LIMIT ?`, entity, limit)
}

// listEpisodes returns the episodes of a query.
func (d *Store) listEpisodes(ctx context.Context, step, query string, args ...any) ([]memory.Episode, error) {
	list, err := read(ctx, d, func(tx *sql.Tx) ([]memory.Episode, error) { return queryEpisodes(ctx, tx, query, args...) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", step, err)
	}
	return list, nil
}

// queryEpisodes returns the episodes of a query.
func queryEpisodes(ctx context.Context, tx *sql.Tx, query string, args ...any) ([]memory.Episode, error) {
	var list []memory.Episode
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		e, err := scanEpisode(rows)
		list = append(list, e)
		return err
	}, query, args...)
	return list, err
}

// scanEpisode reads a row of selectEpisodes.
func scanEpisode(rows *sql.Rows) (memory.Episode, error) {
	var e memory.Episode
	var hash, speakers sql.RawBytes
	var at sql.NullInt64
	err := rows.Scan(&e.ID, &e.UID, &e.Path, &e.Source, &e.StartLine, &e.EndLine, &hash, &e.Date, &at, &e.Heading, &speakers, &e.Trust,
		&e.Sensitivity, &e.Salience, &e.LongTerm)
	if err != nil {
		return e, err
	}
	if e.TextSHA256, err = hashOf(hash); err != nil {
		return e, err
	}
	e.OccurredAt = fromMicros(at)
	if err := json.Unmarshal(speakers, &e.Speakers); err != nil {
		return e, fmt.Errorf("%w: the speakers of an episode: %w", errDamaged, err)
	}
	return e, nil
}

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/derive/seam"
	"kioku/indexer"
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
	ofEpisodes = ", " + episodeSalience + `, p.long_term FROM payload_episode p CROSS JOIN files f ON f.id = p.file `
	// selectSensitive selects the episodes above a sensitivity that overlap lines of a JSON array. The first condition is that of the index.
	selectSensitive = selectEpisodes + `WHERE p.id IN (SELECT s.id FROM json_each(?1) j CROSS JOIN files f ON f.path = j.value ->> 'path'
			CROSS JOIN payload_episode s INDEXED BY payload_episode_sensitive ON s.file = f.id AND s.sensitivity > 0 AND s.sensitivity > ?2
			AND s.start_line <= j.value ->> 'to' AND s.end_line >= j.value ->> 'from')
		ORDER BY f.path, p.start_line`

	// findDetached finds an episode whose file is gone or is written anew, and of which everything that claims depend on is the same. Without
	// statistics SQLite would look through all episodes of the same time.
	findDetached = `SELECT id FROM payload_episode INDEXED BY payload_episode_uid WHERE uid = ? AND file IS NULL AND text_sha256 = ? AND date = ? AND occurred_at IS ?
		AND heading = ? AND speakers = ? AND trust = ? AND sensitivity = ? AND long_term = ? LIMIT 1`
	attachEpisodeSQL = "UPDATE payload_episode SET file = ?, start_line = ?, end_line = ?, salience = ? WHERE id = ?"
	insertEpisode    = `INSERT INTO payload_episode (file, start_line, end_line, salience, uid, text_sha256, date, occurred_at, heading,
		speakers, trust, sensitivity, long_term) VALUES `
	episodeValues  = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	detachEpisodes = "UPDATE payload_episode SET file = NULL WHERE file = ?"
	dropDetached   = "DELETE FROM payload_episode WHERE file IS NULL"
)

// writeEpisodes gives a file its episodes. If detached is set, those that it had before this transaction, or that a file had which this
// transaction has removed, keep their claims.
func writeEpisodes(ctx context.Context, s *statements, file int64, fingerprint string, episodes []memory.Episode, detached bool) error {
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
	_, err := s.exec(ctx, "UPDATE files SET episodes = ? WHERE id = ?", fingerprint, file)
	return err
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

// replaceEpisodes writes the episodes of a file that this transaction has written, unless derivation never was on.
func (w *fileWriter) replaceEpisodes(ctx context.Context, file int64, f *indexer.File) error {
	if f.EpisodesBy == "" && len(f.Episodes) == 0 {
		return nil
	}
	w.hasEpisodes = true
	return writeEpisodes(ctx, w.stmts, file, f.EpisodesBy, f.Episodes, w.hasDetached)
}

// detachEpisodes takes the episodes of a file from it. What no other file takes is deleted by dropDetached.
func (w *fileWriter) detachEpisodes(ctx context.Context, file int64) error {
	if !w.hasEpisodes {
		return nil
	}
	n, err := w.stmts.change(ctx, detachEpisodes, file)
	w.hasDetached = w.hasDetached || n > 0
	return err
}

// dropDetached deletes the episodes that no file has any more, and with them their claims and the evidence of units.
func (w *fileWriter) dropDetached(ctx context.Context) error {
	if !w.hasEpisodes {
		return nil
	}
	if _, err := w.tx.ExecContext(ctx, dropDetached); err != nil {
		return fmt.Errorf("delete episodes: %w", err)
	}
	return nil
}

// UncutFiles implements seam.Store.
func (d *Derived) UncutFiles(ctx context.Context, fingerprint string, limit int) ([]string, error) {
	return readDerived(ctx, d, func(tx *sql.Tx) ([]string, error) {
		return queryStrings(ctx, tx, `SELECT path FROM files WHERE episodes <> ? AND error = ''
			ORDER BY mtime DESC, path LIMIT ?`, fingerprint, limit)
	})
}

// PutEpisodes implements seam.Store.
func (d *Derived) PutEpisodes(ctx context.Context, file memory.SourceFile, fingerprint string, episodes []memory.Episode) (bool, error) {
	put := false
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, "SELECT id FROM files WHERE path = ? AND sha256 = ? AND error = ''", file.Path, file.SHA256[:]).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		stmts := prepareIn(tx)
		detached, err := stmts.change(ctx, detachEpisodes, id)
		if err != nil {
			return err
		}
		if err := writeEpisodes(ctx, stmts, id, fingerprint, episodes, detached > 0); err != nil {
			return err
		}
		put = true
		return execAll(ctx, tx, nil, dropDetached)
	})
	if err != nil {
		return false, fmt.Errorf("put the episodes of %s: %w", file.Path, err)
	}
	return put, nil
}

// PendingEpisodes implements seam.Store.
func (d *Derived) PendingEpisodes(ctx context.Context, rules int, limit int) ([]memory.Episode, error) {
	// Files are indexed in the order of their names, so that dated ones come oldest first.
	return d.listEpisodes(ctx, "list pending episodes", selectEpisodes+`WHERE p.ruled < ? ORDER BY p.ruled, p.file, p.start_line LIMIT ?`, rules, limit)
}

// Unextracted implements seam.Store.
func (d *Derived) Unextracted(ctx context.Context, version string, since, settledBefore time.Time, limit int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "list episodes that no model has read", selectEpisodes+`WHERE p.read_by <> ?1 AND f.mtime < ?2
		AND (p.occurred_at IS NULL OR p.occurred_at >= ?3) AND p.sensitivity < 2
		ORDER BY p.occurred_at, p.file, p.start_line LIMIT ?4`, version, settledBefore.UnixNano(), since.UnixMicro(), limit)
}

// Episodes implements seam.Store.
func (d *Derived) Episodes(ctx context.Context, uids ...string) ([]memory.Episode, error) {
	list, err := jsonList(uids)
	if err != nil {
		return nil, err
	}
	return d.listEpisodes(ctx, "read episodes", selectEpisodes+`WHERE p.uid IN (SELECT value FROM json_each(?))
		ORDER BY f.path, p.start_line`, list)
}

// SensitiveAt implements seam.Store.
func (d *Derived) SensitiveAt(ctx context.Context, above memory.Sensitivity, places []seam.Lines) ([]memory.Episode, error) {
	list, err := jsonList(places)
	if err != nil {
		return nil, err
	}
	return d.listEpisodes(ctx, "read sensitive episodes of lines", selectSensitive, list, above)
}

// EpisodesBetween implements seam.Store.
func (d *Derived) EpisodesBetween(ctx context.Context, from, to time.Time, limit int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "read episodes of days", selectQuotable+`WHERE p.occurred_at >= ? AND p.occurred_at < ?
		ORDER BY `+episodeSalience+` DESC, p.occurred_at DESC, p.uid LIMIT ?`, from.UnixMicro(), to.UnixMicro(), limit)
}

// NewestEpisode implements seam.Store.
func (d *Derived) NewestEpisode(ctx context.Context, before time.Time) (time.Time, error) {
	newest, err := readDerived(ctx, d, func(tx *sql.Tx) (newest sql.NullInt64, err error) {
		err = tx.QueryRowContext(ctx, "SELECT max(occurred_at) FROM payload_episode WHERE occurred_at < ?", before.UnixMicro()).Scan(&newest)
		return newest, err
	})
	if err != nil || !newest.Valid {
		return time.Time{}, err
	}
	return time.UnixMicro(newest.Int64).UTC(), nil
}

// EpisodesOf implements seam.Store.
func (d *Derived) EpisodesOf(ctx context.Context, entity string, limit int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "read episodes of an entity", selectQuotable+`WHERE p.id IN (SELECT m.episode FROM entities e
		JOIN entities a ON coalesce(a.merged_into, a.id) = coalesce(e.merged_into, e.id) JOIN mentions m ON m.entity = a.id WHERE e.uid = ?)
		ORDER BY p.occurred_at DESC, p.uid LIMIT ?`, entity, limit)
}

// listEpisodes returns the episodes of a query.
func (d *Derived) listEpisodes(ctx context.Context, step, query string, args ...any) ([]memory.Episode, error) {
	list, err := readDerived(ctx, d, func(tx *sql.Tx) ([]memory.Episode, error) {
		var list []memory.Episode
		err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
			e, err := scanEpisode(rows)
			list = append(list, e)
			return err
		}, query, args...)
		return list, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", step, err)
	}
	return list, nil
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

// SourceFile returns an indexed file without its content. Its Source is empty if the index does not have the file, or lists it only
// with the reason why it is skipped.
func (s *Store) SourceFile(ctx context.Context, path string) (memory.SourceFile, error) {
	return use(ctx, s, func(x *index) (memory.SourceFile, error) {
		file := memory.SourceFile{Path: path}
		var hash []byte
		err := x.db.readers.QueryRowContext(ctx, "SELECT source, date, sha256 FROM files WHERE path = ? AND error = ''", path).
			Scan(&file.Source, &file.Date, &hash)
		if errors.Is(err, sql.ErrNoRows) {
			return file, nil
		}
		if err == nil {
			file.SHA256, err = hashOf(hash)
		}
		if err != nil {
			return file, fmt.Errorf("look up %s: %w", path, err)
		}
		return file, nil
	})
}

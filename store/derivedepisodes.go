package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kioku/indexer"
	"kioku/memory"
)

const (
	// episodeSalience is the salience of an episode: by rule, or more if a model thinks so.
	episodeSalience = "max(p.salience, coalesce(json_extract(nullif(p.reflection, ''), '$.salience'), 0))"
	// selectEpisodes selects the episodes of files that searches find. CROSS JOIN makes SQLite start with the episodes.
	selectEpisodes = `SELECT p.id, p.uid, f.path, f.source, p.start_line, p.end_line, p.text_sha256, p.date, p.occurred_at, p.heading,
		p.speakers, p.trust, p.sensitivity, ` + episodeSalience + `, p.long_term FROM payload_episode p CROSS JOIN files f ON f.id = p.file AND f.out_of_scope = 0 `

	// findDetached finds an episode whose file is gone or is written anew, and of which everything that claims depend on is the same.
	findDetached = `SELECT id FROM payload_episode WHERE uid = ? AND file IS NULL AND text_sha256 = ? AND date = ? AND occurred_at IS ?
		AND heading = ? AND speakers = ? AND trust = ? AND sensitivity = ? AND long_term = ? LIMIT 1`
	attachEpisode = "UPDATE payload_episode SET file = ?, start_line = ?, end_line = ?, salience = ? WHERE id = ?"
	insertEpisode = `INSERT INTO payload_episode (file, start_line, end_line, salience, uid, text_sha256, date, occurred_at, heading,
		speakers, trust, sensitivity, long_term) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	detachEpisodes = "UPDATE payload_episode SET file = NULL WHERE file = ?"
	dropDetached   = "DELETE FROM payload_episode WHERE file IS NULL"

	// markFileDirty has the slots of the claims of a file made anew.
	markFileDirty = `INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason)
		SELECT iif(c.kind = 'fact', 'fact', 'loop'), coalesce(c.subject, 0), c.slot, 'claims'
		FROM files f JOIN payload_episode p ON p.file = f.id JOIN claims c ON c.episode = p.id WHERE f.path = ?`
)

// writeEpisodes gives a file its episodes: those that it had before this transaction, or that a file had which this transaction has
// removed, keep their claims.
func writeEpisodes(ctx context.Context, s *statements, file int64, fingerprint string, episodes []memory.Episode) error {
	for i := range episodes {
		if err := writeEpisode(ctx, s, file, &episodes[i]); err != nil {
			return fmt.Errorf("write episode: %w", err)
		}
	}
	_, err := s.exec(ctx, "UPDATE files SET episodes = ? WHERE id = ?", fingerprint, file)
	return err
}

// writeEpisode writes an episode of a file.
func writeEpisode(ctx context.Context, s *statements, file int64, e *memory.Episode) error {
	speakers, err := jsonList(notNil(e.Speakers))
	if err != nil {
		return err
	}
	identity := []any{e.UID, e.TextSHA256[:], e.Date, micros(e.OccurredAt), e.Heading, speakers, e.Trust, e.Sensitivity, e.LongTerm}
	place := []any{file, e.StartLine, e.EndLine, e.Salience}
	var id int64
	err = s.scan(ctx, findDetached, identity, &id)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = s.exec(ctx, insertEpisode, append(place, identity...)...)
		return err
	}
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, attachEpisode, append(place, id)...)
	return err
}

// replaceEpisodes writes the episodes of a file that this transaction has written, unless derivation never was on.
func (w *fileWriter) replaceEpisodes(ctx context.Context, file int64, f *indexer.File) error {
	if f.EpisodesBy == "" && len(f.Episodes) == 0 {
		return nil
	}
	w.hasEpisodes = true
	return writeEpisodes(ctx, w.stmts, file, f.EpisodesBy, f.Episodes)
}

// detachEpisodes takes the episodes of a file from it. What no other file takes is deleted by dropDetached.
func (w *fileWriter) detachEpisodes(ctx context.Context, file int64) error {
	if !w.hasEpisodes {
		return nil
	}
	_, err := w.stmts.exec(ctx, detachEpisodes, file)
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
		return queryStrings(ctx, tx, `SELECT path FROM files WHERE episodes <> ? AND error = '' AND out_of_scope = 0
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
		if err := execAll(ctx, tx, []any{id}, detachEpisodes); err != nil {
			return err
		}
		if err := writeEpisodes(ctx, prepareIn(tx), id, fingerprint, episodes); err != nil {
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

// EpisodesAt returns the episodes that overlap lines of a file, in the order of their lines; none if there are none.
func (d *Derived) EpisodesAt(ctx context.Context, path string, startLine, endLine int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "read episodes of lines", selectEpisodes+`WHERE p.file = (SELECT id FROM files WHERE path = ?) AND p.start_line <= ? AND p.end_line >= ?
		ORDER BY p.start_line`, path, endLine, startLine)
}

// EpisodesBetween implements seam.Store.
func (d *Derived) EpisodesBetween(ctx context.Context, from, to time.Time, limit int) ([]memory.Episode, error) {
	return d.listEpisodes(ctx, "read episodes of days", selectEpisodes+`WHERE p.occurred_at >= ? AND p.occurred_at < ?
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
	return d.listEpisodes(ctx, "read episodes of an entity", selectEpisodes+`WHERE p.id IN (SELECT m.episode FROM entities e
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

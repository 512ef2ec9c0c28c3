package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	jobColumns = `SELECT id, kind, key, input, input_sha256, status, priority, run_after, order_at, lease_until, owner, tries, error_class,
		last_error, tokens_in, tokens_out, created_at, updated_at FROM jobs `
	// enqueueJob adds a job unless one is queued or running, or the last one had the same input and is done or parked.
	enqueueJob = `INSERT INTO jobs (kind, key, input, input_sha256, status, priority, run_after, order_at, lease_until, owner, tries,
		error_class, last_error, tokens_in, tokens_out, created_at, updated_at)
		SELECT ?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7, 0, '', 0, '', '', 0, 0, ?8, ?8
		WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE kind = ?1 AND key = ?2 AND (status IN ('queued', 'running')
			OR status IN ('done', 'parked') AND input_sha256 = ?4))`
	// dropOlderJobs deletes the jobs that a new one takes the place of.
	dropOlderJobs = `DELETE FROM jobs WHERE kind = ?1 AND key = ?2 AND status NOT IN ('queued', 'running') AND input_sha256 <> ?3`
	reclaimJobs   = "UPDATE jobs SET status = 'queued', owner = '', lease_until = 0, updated_at = ?1 WHERE status = 'running' AND lease_until <= ?1"
	claimJob      = `UPDATE jobs SET status = 'running', owner = ?2, lease_until = ?3, tries = tries + 1, updated_at = ?1
		WHERE id = (SELECT id FROM jobs WHERE status = 'queued' AND (run_after <= ?1 OR ?4) ORDER BY run_after > ?1, priority, order_at, id LIMIT 1) RETURNING id`
	// finishJob writes the outcome of a job, unless its lease has ended and another owner has it.
	finishJob = `UPDATE jobs SET status = ?2, run_after = ?3, tries = ?4, error_class = ?5, last_error = ?6, tokens_in = ?7, tokens_out = ?8,
		updated_at = ?9, owner = '', lease_until = 0 WHERE id = ?1 AND status = 'running' AND owner = ?10`
)

// errLeaseLost: another worker has the job.
var errLeaseLost = errors.New("its lease has ended, and another worker may have it")

// storedTime returns a time as a job has it: 0 for the zero time.
func storedTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// jobTime returns a time of a job.
func jobTime(v int64) time.Time {
	if v == 0 {
		return time.Time{}
	}
	return time.UnixMicro(v).UTC()
}

// Enqueue implements Store. A parked job with the same input stays parked too: only RetryJobs tries it again.
func (d *Store) Enqueue(ctx context.Context, j Job) error {
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, enqueueJob, j.Kind, j.Key, cmp.Or(j.Input, "{}"), j.InputSHA256[:], j.Priority, storedTime(j.RunAfter),
			storedTime(j.OrderAt), d.now().UnixMicro())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, dropOlderJobs, j.Kind, j.Key, j.InputSHA256[:])
		return err
	})
	if err != nil {
		return fmt.Errorf("enqueue %s %s: %w", j.Kind, j.Key, err)
	}
	return nil
}

// Claim implements Store.
func (d *Store) Claim(ctx context.Context, owner string, now time.Time, lease time.Duration, waiting bool) (*Job, error) {
	var job *Job
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		job = nil
		if err := execAll(ctx, tx, []any{now.UnixMicro()}, reclaimJobs); err != nil {
			return err
		}
		var id int64
		err := tx.QueryRowContext(ctx, claimJob, now.UnixMicro(), owner, now.Add(lease).UnixMicro(), waiting).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		jobs, err := readJobs(ctx, tx, jobColumns+"WHERE id = ?", id)
		if err == nil {
			job = &jobs[0]
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim a job: %w", err)
	}
	return job, nil
}

// Renew implements Store.
func (d *Store) Renew(ctx context.Context, id int64, owner string, until time.Time) (bool, error) {
	n, err := d.change(ctx, "UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND status = 'running' AND owner = ?2", id, owner, until.UnixMicro())
	if err != nil {
		return false, fmt.Errorf("renew job %d: %w", id, err)
	}
	return n > 0, nil
}

// Finish implements Store. It returns an error and changes nothing if j.Owner does not have the job any more.
func (d *Store) Finish(ctx context.Context, j Job) error {
	n, err := d.change(ctx, finishJob, j.ID, j.Status, storedTime(j.RunAfter), j.Tries, j.ErrorClass, j.LastError, j.TokensIn, j.TokensOut,
		d.now().UnixMicro(), j.Owner)
	if err == nil && n == 0 {
		err = errLeaseLost
	}
	if err != nil {
		return fmt.Errorf("finish job %d: %w", j.ID, err)
	}
	return nil
}

// change runs one statement in a transaction and returns how many rows it has changed.
func (d *Store) change(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, query, args...)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	return n, err
}

// Jobs implements Store.
func (d *Store) Jobs(ctx context.Context, status string, limit int) ([]Job, error) {
	jobs, err := read(ctx, d, func(tx *sql.Tx) ([]Job, error) {
		if status == "" {
			return readJobs(ctx, tx, jobColumns+"ORDER BY updated_at DESC, id DESC LIMIT ?", limit)
		}
		return readJobs(ctx, tx, jobColumns+"WHERE status = ? ORDER BY updated_at DESC, id DESC LIMIT ?", status, limit)
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return jobs, nil
}

// readJobs returns the jobs of a query.
func readJobs(ctx context.Context, q queryer, query string, args ...any) ([]Job, error) {
	var jobs []Job
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var j Job
		var hash sql.RawBytes
		var after, order, lease, created, updated int64
		err := rows.Scan(&j.ID, &j.Kind, &j.Key, &j.Input, &hash, &j.Status, &j.Priority, &after, &order, &lease, &j.Owner, &j.Tries,
			&j.ErrorClass, &j.LastError, &j.TokensIn, &j.TokensOut, &created, &updated)
		if err != nil {
			return err
		}
		j.RunAfter, j.OrderAt, j.LeaseUntil, j.CreatedAt, j.UpdatedAt = jobTime(after), jobTime(order), jobTime(lease), jobTime(created), jobTime(updated)
		j.InputSHA256, err = hashOf(hash)
		jobs = append(jobs, j)
		return err
	}, query, args...)
	return jobs, err
}

// RetryJobs implements Store. A parked job of which a newer one is queued or running stays parked.
func (d *Store) RetryJobs(ctx context.Context, id int64) (int, error) {
	n, err := d.change(ctx, `UPDATE jobs SET status = 'queued', tries = 0, run_after = 0, error_class = '', last_error = '', updated_at = ?2
		WHERE status = 'parked' AND (?1 = 0 OR id = ?1)
		AND id = (SELECT max(p.id) FROM jobs p WHERE p.kind = jobs.kind AND p.key = jobs.key AND p.status = 'parked')
		AND NOT EXISTS (SELECT 1 FROM jobs l WHERE l.kind = jobs.kind AND l.key = jobs.key AND l.status IN ('queued', 'running'))`,
		id, d.now().UnixMicro())
	if err != nil {
		return 0, fmt.Errorf("retry jobs: %w", err)
	}
	return int(n), nil
}

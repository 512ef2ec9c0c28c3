package store

import (
	"cmp"
	"context"
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
	retryJobs = `UPDATE jobs SET status = 'queued', tries = 0, run_after = 0, error_class = '', last_error = '', updated_at = ?2
		WHERE status = 'parked' AND (?1 = 0 OR id = ?1)
		AND id = (SELECT max(p.id) FROM jobs p WHERE p.kind = jobs.kind AND p.key = jobs.key AND p.status = 'parked')
		AND NOT EXISTS (SELECT 1 FROM jobs l WHERE l.kind = jobs.kind AND l.key = jobs.key AND l.status IN ('queued', 'running'))`
)

// errLeaseLost: another worker has the job.
var errLeaseLost = errors.New("its lease has ended, and another worker may have it")

// Enqueue adds a job unless one of its kind and key is queued or running, or was done with the same input. A parked job with the same input
// stays parked too: only RetryJobs tries it again.
func (d *Store) Enqueue(ctx context.Context, j Job) error {
	return d.write(ctx, fmt.Sprintf("enqueue %s %s", j.Kind, j.Key), func(t *txn) {
		t.exec(enqueueJob, j.Kind, j.Key, cmp.Or(j.Input, "{}"), j.InputSHA256[:], j.Priority, micros0(j.RunAfter), micros0(j.OrderAt), d.now().UnixMicro())
		t.exec(dropOlderJobs, j.Kind, j.Key, j.InputSHA256[:])
	})
}

// Claim returns expired leases to the queue and takes the first due job, nil if there is none. With waiting it also takes one that is not
// due, after those that are.
func (d *Store) Claim(ctx context.Context, owner string, now time.Time, lease time.Duration, waiting bool) (job *Job, err error) {
	err = d.write(ctx, "claim a job", func(t *txn) {
		var id int64
		t.exec(reclaimJobs, now.UnixMicro())
		if job = nil; t.get(claimJob, []any{now.UnixMicro(), owner, now.Add(lease).UnixMicro(), waiting}, &id) {
			for _, j := range t.jobs(jobColumns+"WHERE id = ?", id) {
				job = &j
			}
		}
	})
	return job, err
}

// Renew extends a lease; it returns false if the job is no longer the owner's.
func (d *Store) Renew(ctx context.Context, id int64, owner string, until time.Time) (ours bool, err error) {
	err = d.write(ctx, fmt.Sprintf("renew job %d", id), func(t *txn) {
		ours = t.exec("UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND status = 'running' AND owner = ?2", id, owner, until.UnixMicro()) > 0
	})
	return ours, err
}

// Finish ends or requeues a job: its Status, RunAfter, Tries, ErrorClass, LastError and tokens are written. It returns an error and changes
// nothing if j.Owner does not have the job any more.
func (d *Store) Finish(ctx context.Context, j Job) error {
	return d.write(ctx, fmt.Sprintf("finish job %d", j.ID), func(t *txn) {
		n := t.exec(finishJob, j.ID, j.Status, micros0(j.RunAfter), j.Tries, j.ErrorClass, j.LastError, j.TokensIn, j.TokensOut, d.now().UnixMicro(), j.Owner)
		if n == 0 {
			t.fail(errLeaseLost)
		}
	})
}

// Jobs returns jobs with a status ("" = all), newest first, at most limit.
func (d *Store) Jobs(ctx context.Context, status string, limit int) (jobs []Job, err error) {
	err = d.read(ctx, "list jobs", func(t *txn) {
		jobs = t.jobs(jobColumns+"WHERE ?1 = '' OR status = ?1 ORDER BY updated_at DESC, id DESC LIMIT ?2", status, limit)
	})
	return jobs, err
}

// jobs returns the jobs of a query.
func (t *txn) jobs(query string, args ...any) (jobs []Job) {
	t.each(query, args, func(scan func(...any)) {
		var j Job
		scan(&j.ID, &j.Kind, &j.Key, &j.Input, (*hash)(&j.InputSHA256), &j.Status, &j.Priority, instant{&j.RunAfter}, instant{&j.OrderAt}, instant{&j.LeaseUntil},
			&j.Owner, &j.Tries, &j.ErrorClass, &j.LastError, &j.TokensIn, &j.TokensOut, instant{&j.CreatedAt}, instant{&j.UpdatedAt})
		jobs = append(jobs, j)
	})
	return jobs
}

// RetryJobs puts parked jobs back into the queue: one, or all if id is 0. It returns how many. A parked job of which a newer one is queued or
// running stays parked.
func (d *Store) RetryJobs(ctx context.Context, id int64) (n int, err error) {
	err = d.write(ctx, "retry jobs", func(t *txn) { n = t.exec(retryJobs, id, d.now().UnixMicro()) })
	return n, err
}

package store

import (
	"cmp"
	"context"
	"fmt"
)

// parkJob writes a job. The columns that it sets to 0 are of the queue that earlier versions had.
const parkJob = `INSERT INTO jobs (kind, key, input, input_sha256, status, error_class, last_error, created_at, updated_at,
	priority, run_after, order_at, lease_until, owner, tries, tokens_in, tokens_out)
	VALUES (?1, ?2, ?3, ?4, 'parked', ?5, ?6, ?7, ?7, 0, 0, 0, 0, '', 0, 0, 0)`

// Park keeps a job for people, in place of one of its kind and key.
func (d *Store) Park(ctx context.Context, j Job) error {
	return d.write(ctx, fmt.Sprintf("park %s %s", j.Kind, j.Key), func(t *txn) {
		t.exec("DELETE FROM jobs WHERE kind = ? AND key = ?", j.Kind, j.Key)
		t.exec(parkJob, j.Kind, j.Key, cmp.Or(j.Input, "{}"), j.InputSHA256[:], j.ErrorClass, j.LastError, d.now().UnixMicro())
	})
}

// Parked returns the parked jobs, newest first, at most limit.
func (d *Store) Parked(ctx context.Context, limit int) (jobs []Job, err error) {
	err = d.read(ctx, "list parked jobs", func(t *txn) {
		jobs = nil
		t.each(`SELECT id, kind, key, input, input_sha256, error_class, last_error, updated_at FROM jobs WHERE status = 'parked'
			ORDER BY updated_at DESC, id DESC LIMIT ?`, []any{limit}, func(scan func(...any)) {
			var j Job
			scan(&j.ID, &j.Kind, &j.Key, &j.Input, (*hash)(&j.InputSHA256), &j.ErrorClass, &j.LastError, instant{&j.UpdatedAt})
			jobs = append(jobs, j)
		})
	})
	return jobs, err
}

// Unpark deletes a parked job; 0 is none.
func (d *Store) Unpark(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	return d.write(ctx, fmt.Sprintf("unpark job %d", id), func(t *txn) { t.exec("DELETE FROM jobs WHERE id = ?", id) })
}

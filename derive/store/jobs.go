package store

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Park keeps a job for people, in place of one of its kind and key.
func (d *Store) Park(ctx context.Context, j Job) error {
	return d.write(ctx, fmt.Sprintf("park %s %s", j.Kind, j.Key), func(t *txn) {
		t.exec("INSERT OR REPLACE INTO parked (kind, key, input, error_class, last_error, parked_at) VALUES (?, ?, ?, ?, ?, ?)",
			j.Kind, j.Key, cmp.Or(j.Input, "{}"), j.ErrorClass, j.LastError, d.now().UnixMicro())
	})
}

// Parked returns the parked jobs, newest first, at most limit.
func (d *Store) Parked(ctx context.Context, limit int) (jobs []Job, err error) {
	err = d.read(ctx, "list parked jobs", func(t *txn) {
		jobs = nil
		t.each(`SELECT id, kind, key, input, error_class, last_error, parked_at FROM parked
			ORDER BY parked_at DESC, id DESC LIMIT ?`, []any{limit}, func(scan func(...any)) {
			var j Job
			scan(&j.ID, &j.Kind, &j.Key, &j.Input, &j.ErrorClass, &j.LastError, instant{&j.ParkedAt})
			jobs = append(jobs, j)
		})
	})
	return jobs, err
}

// SetProblem keeps why the model was not reached and when it is asked again, for the status of other processes; an empty problem says that it
// was reached.
func (d *Store) SetProblem(ctx context.Context, problem string, nextTry time.Time) error {
	return d.write(ctx, "keep the state of the model", func(t *txn) {
		t.exec("UPDATE derived SET problem = ?1, next_try = ?2 WHERE problem <> ?1 OR next_try IS NOT ?2", problem, micros(nextTry))
	})
}

// Unpark deletes a parked job; 0 is none.
func (d *Store) Unpark(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	return d.write(ctx, fmt.Sprintf("unpark job %d", id), func(t *txn) { t.exec("DELETE FROM parked WHERE id = ?", id) })
}

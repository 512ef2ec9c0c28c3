package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"kioku/memory"
)

// Move moves an agent to another database. Until it is there it can be read where it was, and nobody writes.
func (s *Store) Move(ctx context.Context, agent, to string) error {
	at := slices.IndexFunc(s.shards, func(sh *shard) bool { return sh.name == to })
	if at < 0 {
		return &memory.InputError{Field: "shard", Problem: fmt.Sprintf("%q is none of %q", to, s.Shards())}
	}
	from, err := s.shardOf(ctx, agent)
	if err != nil {
		return err
	}
	target := s.shards[at]
	if from == target {
		return nil
	}
	set := func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT set_config('kioku.agent', $1, true)", agent)
		return err
	}
	return away(pgx.BeginFunc(ctx, from.pool, func(old pgx.Tx) error {
		if err := set(old); err != nil {
			return err
		}
		// The row stays locked until the agent is at its new place, so that no commit is lost.
		tag, err := old.Exec(ctx, "UPDATE kioku.agents SET generation = generation WHERE agent = $1", agent)
		if err == nil && tag.RowsAffected() == 0 {
			return memory.ErrNoAgent
		}
		if err != nil {
			return err
		}
		err = pgx.BeginFunc(ctx, target.pool, func(tx pgx.Tx) error {
			if err := set(tx); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "DELETE FROM kioku.agents WHERE agent = $1", agent); err != nil { // of a move that did not end
				return err
			}
			for _, table := range []string{"agents", "files", "outbox", "vectors"} {
				if err := copyRows(ctx, old, tx, table, agent); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		_, err = s.shards[0].pool.Exec(ctx, "INSERT INTO kioku.placed (agent, shard) VALUES ($1, $2) ON CONFLICT (agent) DO UPDATE SET shard = $2", agent, to)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.placed = nil
		s.mu.Unlock()
		_, err = old.Exec(ctx, "DELETE FROM kioku.agents WHERE agent = $1", agent)
		return err
	}))
}

// copyRows copies the rows of an agent in a table from one database to another. COPY would not do: it does not go with row-level security.
func copyRows(ctx context.Context, from, to pgx.Tx, table, agent string) error {
	rows, err := from.Query(ctx, "SELECT * FROM kioku."+table+" WHERE agent = $1", agent)
	if err != nil {
		return err
	}
	defer rows.Close()
	var names, places []string
	for i, f := range rows.FieldDescriptions() {
		names, places = append(names, f.Name), append(places, fmt.Sprintf("$%d", i+1))
	}
	insert := fmt.Sprintf("INSERT INTO kioku.%s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(places, ", "))
	batch := &pgx.Batch{}
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		if batch.Queue(insert, values...); batch.Len() == copiedAtOnce {
			if err := to.SendBatch(ctx, batch).Close(); err != nil {
				return err
			}
			batch = &pgx.Batch{}
		}
	}
	return errors.Join(rows.Err(), to.SendBatch(ctx, batch).Close())
}

// copiedAtOnce is the number of rows that are copied at a time.
const copiedAtOnce = 500

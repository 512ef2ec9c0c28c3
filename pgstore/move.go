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

// Move moves an agent to another database. Until it is there it can be read where it was, and nobody writes. A move that has broken off goes on when
// it is asked for again.
func (s *Store) Move(ctx context.Context, agent, to string) error {
	at := slices.IndexFunc(s.shards, func(sh *shard) bool { return sh.name == to })
	if at < 0 {
		return &memory.InputError{Field: "shard", Problem: fmt.Sprintf("%q is none of %q", to, s.Shards())}
	}
	s.forgetPlaced()
	from, err := s.shardOf(ctx, agent)
	if err != nil {
		return err
	}
	target := s.shards[at]
	if _, err := s.Agent(ctx, agent); err != nil {
		return err
	}
	if from != target {
		tag, err := from.pool.Exec(ctx, "UPDATE kioku.agents SET moving = $2 WHERE agent = $1", agent, to)
		if err == nil && tag.RowsAffected() == 0 {
			return memory.ErrNoAgent
		}
		if err == nil {
			err = copyAgent(ctx, from, target, agent)
		}
		if err == nil {
			_, err = s.shards[0].pool.Exec(ctx, "INSERT INTO kioku.placed (agent, shard) VALUES ($1, $2) ON CONFLICT (agent) DO UPDATE SET shard = $2", agent, to)
		}
		if err != nil {
			return away(err)
		}
		s.forgetPlaced()
	}
	for _, sh := range s.shards { // also what a move that has broken off has left
		if sh == target {
			_, err = sh.pool.Exec(ctx, "UPDATE kioku.agents SET moving = '' WHERE agent = $1 AND moving <> ''", agent)
		} else {
			_, err = sh.pool.Exec(ctx, "DELETE FROM kioku.agents WHERE agent = $1 AND moving <> ''", agent)
		}
		if err != nil {
			return away(err)
		}
	}
	return nil
}

// forgetPlaced has the agents that were moved be read again.
func (s *Store) forgetPlaced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placed = nil
}

// copyAgent copies all that a database has of an agent into another one, instead of what this has.
func copyAgent(ctx context.Context, from, to *shard, agent string) error {
	const name = "SELECT set_config('kioku.agent', $1, true)"
	return pgx.BeginTxFunc(ctx, from.pool, snapshot, func(old pgx.Tx) error {
		if _, err := old.Exec(ctx, name, agent); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, to.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, name, agent); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "DELETE FROM kioku.agents WHERE agent = $1", agent); err != nil {
				return err
			}
			for _, table := range []string{"agents", "files", "outbox", "vectors"} {
				if err := copyRows(ctx, old, tx, table, agent); err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, "UPDATE kioku.agents SET moving = '' WHERE agent = $1", agent)
			return err
		})
	})
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

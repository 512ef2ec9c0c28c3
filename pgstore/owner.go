package pgstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"kioku/memory"
)

// Agent is the state of an agent.
type Agent struct {
	// Name of the agent, and Generation of its last commit.
	Name       string
	Generation int64
	// Epoch of its Owner, which is empty if it has none. Leased reports whether nobody else may take the agent.
	Epoch  int64
	Owner  string
	Leased bool
	// Written is the generation of the last commit of an owner, and Waiting the number of notes that wait for it.
	Written int64
	Waiting int
	// Moving is the database to which the agent is being moved, "" for none.
	Moving string
	// Shard is its database. Only Agents tells it.
	Shard string
}

const selectAgent = "SELECT agent, generation, epoch, owner, lease > clock_timestamp() AND owner <> '', written, waiting, moving FROM kioku.agents"

func (a *Agent) fields() []any {
	return []any{&a.Name, &a.Generation, &a.Epoch, &a.Owner, &a.Leased, &a.Written, &a.Waiting, &a.Moving}
}

// Agent returns the state of an agent. The error is memory.ErrNoAgent for one that the cluster does not have.
func (s *Store) Agent(ctx context.Context, agent string) (a Agent, err error) {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	for {
		sh, err := s.shardOf(ctx, agent)
		if err != nil {
			return a, err
		}
		err = noAgent(sh.pool.QueryRow(ctx, selectAgent+" WHERE agent = $1", agent).Scan(a.fields()...))
		if !errors.Is(err, memory.ErrNoAgent) || !s.lookAgain() {
			return a, err
		}
	}
}

// noAgent returns memory.ErrNoAgent for a row that is not there.
func noAgent(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return memory.ErrNoAgent
	}
	return away(err)
}

// Agents returns all agents, in the order of the databases and their names.
func (s *Store) Agents(ctx context.Context) (all []Agent, err error) {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	for _, sh := range s.shards {
		rows, err := sh.pool.Query(ctx, selectAgent+" ORDER BY agent")
		if err != nil {
			return nil, away(err)
		}
		var a Agent
		if _, err := pgx.ForEachRow(rows, a.fields(), func() error { a.Shard = sh.name; all = append(all, a); return nil }); err != nil {
			return nil, away(err)
		}
	}
	return all, nil
}

// Own makes somebody the owner of an agent, which is made if it is missing, and returns the epoch in which it is. Its folder must have the last commit
// of an owner: written is the generation of its own last one, and epoch that in which it was the owner, 0 for none. The error is ErrFenced if another
// folder has been written to since, or another one is the owner now. A folder that has more than the store is there after the store was restored.
func (s *Store) Own(ctx context.Context, agent, owner string, epoch, written int64, lease time.Duration) (now int64, err error) {
	if err := s.checkNames(ctx); err != nil {
		return 0, err
	}
	err = s.inAgent(ctx, agent, pgx.TxOptions{}, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO kioku.agents (agent) VALUES ($1) ON CONFLICT DO NOTHING", agent); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `UPDATE kioku.agents SET epoch = epoch + 1, owner = $2, lease = clock_timestamp() + $3
			WHERE agent = $1 AND moving = '' AND written <= $4 AND (epoch <= $5 OR owner = $2 AND epoch = $5 + 1)
			AND (owner IN ('', $2) OR epoch = $5 OR lease < clock_timestamp()) RETURNING epoch`,
			agent, owner, lease, written, epoch).Scan(&now)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		var a Agent
		if err := tx.QueryRow(ctx, selectAgent+" WHERE agent = $1", agent).Scan(a.fields()...); err != nil {
			return err
		}
		return cmp.Or(a.isMoving(), ErrFenced)
	})
	return now, err
}

// isMoving returns an error if nobody may write to an agent here any more.
func (a Agent) isMoving() error {
	if a.Moving == "" {
		return nil
	}
	return fmt.Errorf("%w: agent %s is being moved to %s; if that has broken off, move it again", memory.ErrUnreachable, a.Name, a.Moving)
}

// Take makes somebody the owner in a commit, whoever it was before, and returns the epoch in which it is.
func (c *Change) Take(ctx context.Context, owner string, lease time.Duration) (epoch int64, err error) {
	err = c.tx.QueryRow(ctx, "UPDATE kioku.agents SET epoch = epoch + 1, owner = $2, lease = clock_timestamp() + $3 WHERE agent = $1 RETURNING epoch",
		c.Agent.Name, owner, lease).Scan(&epoch)
	return epoch, err
}

// Renew keeps a node the owner. The error is ErrFenced if another one has become it.
func (s *Store) Renew(ctx context.Context, agent string, epoch int64, lease time.Duration) error {
	return s.lease(ctx, agent, epoch, "lease = clock_timestamp() + $3", lease)
}

// Release lets another node become the owner at once.
func (s *Store) Release(ctx context.Context, agent string, epoch int64) error {
	return s.lease(ctx, agent, epoch, "lease = '-infinity', owner = ''")
}

func (s *Store) lease(ctx context.Context, agent string, epoch int64, set string, args ...any) error {
	return s.inAgent(ctx, agent, pgx.TxOptions{}, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE kioku.agents SET "+set+" WHERE agent = $1 AND epoch = $2", append([]any{agent, epoch}, args...)...)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrFenced
		}
		return err
	})
}

// Change is a commit under way. Nobody else changes the agent meanwhile.
type Change struct {
	// Agent is its state before, and Generation that of the commit.
	Agent      Agent
	Generation int64

	tx      pgx.Tx
	changed bool
	waiting int // notes that wait more than before, or fewer
}

// Change commits what f does. With an epoch only its owner may: the error is ErrFenced otherwise. Without, anybody. It returns the generation,
// which is the one before if f has changed nothing.
func (s *Store) Change(ctx context.Context, agent string, epoch int64, f func(ctx context.Context, c *Change) error) (generation int64, err error) {
	err = s.inAgent(ctx, agent, pgx.TxOptions{}, func(ctx context.Context, tx pgx.Tx) error {
		c := &Change{tx: tx}
		locking, done := context.WithTimeout(ctx, callTimeout)
		defer done()
		if err := noAgent(tx.QueryRow(locking, selectAgent+" WHERE agent = $1 FOR UPDATE", agent).Scan(c.Agent.fields()...)); err != nil {
			return err
		}
		if epoch != 0 && c.Agent.Epoch != epoch {
			return ErrFenced
		}
		if err := c.Agent.isMoving(); err != nil {
			return err
		}
		c.Generation, generation = c.Agent.Generation+1, c.Agent.Generation
		if err := f(ctx, c); err != nil || !c.changed {
			return err
		}
		generation = c.Generation
		if _, err := tx.Exec(ctx, "UPDATE kioku.agents SET generation = $2, waiting = waiting + $3, written = CASE WHEN $4 THEN $2 ELSE written END WHERE agent = $1", agent, generation, c.waiting, epoch != 0); err != nil {
			return err
		}
		if c.waiting <= 0 {
			return nil // nobody listens for it, and commits that notify go one after the other in all of a database
		}
		_, err := tx.Exec(ctx, "SELECT pg_notify('kioku', $1)", agent)
		return err
	})
	return generation, err
}

// Changed reports whether the commit is to have something.
func (c *Change) Changed() bool { return c.changed }

// File is a file of a folder.
type File struct {
	// Path relative to the folder, with '/', and ModTime of the file.
	Path    string
	ModTime time.Time
	// Data is nil for a file that was removed.
	Data []byte
}

// Put replaces files, and removes those without data.
func (c *Change) Put(ctx context.Context, files ...File) error {
	batch := &pgx.Batch{}
	for _, f := range files {
		sum := sha256.Sum256(f.Data)
		batch.Queue(`INSERT INTO kioku.files (agent, path, generation, mtime, sha256, data) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (agent, path) DO UPDATE SET generation = $3, mtime = $4, sha256 = $5, data = $6`,
			c.Agent.Name, f.Path, c.Generation, f.ModTime.UnixNano(), sum[:], f.Data)
	}
	c.changed = c.changed || len(files) > 0
	return c.tx.SendBatch(ctx, batch).Close()
}

// Sums returns the hashes of some files, or of all files if some is nil.
func (c *Change) Sums(ctx context.Context, some []string) (map[string][sha256.Size]byte, error) {
	return sums(ctx, c.tx, c.Agent.Name, some)
}

func sums(ctx context.Context, tx pgx.Tx, agent string, some []string) (map[string][sha256.Size]byte, error) {
	rows, err := tx.Query(ctx, "SELECT path, sha256 FROM kioku.files WHERE agent = $1 AND data IS NOT NULL AND ($2::text[] IS NULL OR path = ANY($2))", agent, some)
	if err != nil {
		return nil, err
	}
	all := map[string][sha256.Size]byte{}
	var path string
	var sum []byte
	_, err = pgx.ForEachRow(rows, []any{&path, &sum}, func() error {
		if len(sum) != sha256.Size {
			return fmt.Errorf("the hash of %s has %d bytes", path, len(sum))
		}
		all[path] = [sha256.Size]byte(sum)
		return nil
	})
	return all, err
}

// Waiting is a note that waits for the owner.
type Waiting struct {
	// Generation of the commit that took it, Time at which it was said, and Note.
	Generation int64
	Time       time.Time
	Note       memory.Note
}

// Waiting returns the first notes that wait and came after a generation, in their order.
func (c *Change) Waiting(ctx context.Context, after int64, most int) ([]Waiting, error) {
	return waiting(ctx, c.tx, c.Agent.Name, after, most)
}

func waiting(ctx context.Context, tx pgx.Tx, agent string, after int64, most int) (all []Waiting, err error) {
	rows, err := tx.Query(ctx, "SELECT generation, time, note FROM kioku.outbox WHERE agent = $1 AND generation > $2 ORDER BY generation LIMIT $3", agent, after, most)
	if err != nil {
		return nil, err
	}
	var w Waiting
	var note []byte
	_, err = pgx.ForEachRow(rows, []any{&w.Generation, &w.Time, &note}, func() error {
		w.Note = memory.Note{}
		if err := json.Unmarshal(note, &w.Note); err != nil {
			return err
		}
		all = append(all, w)
		return nil
	})
	return all, err
}

// Wait adds a note that waits for the owner. It needs a key.
func (c *Change) Wait(ctx context.Context, n memory.Note, at time.Time) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	c.changed, c.waiting = true, c.waiting+1
	_, err = c.tx.Exec(ctx, "INSERT INTO kioku.outbox (agent, generation, time, note) VALUES ($1, $2, $3, $4)", c.Agent.Name, c.Generation, at, text)
	return err
}

// Written removes the notes of some generations, which are in the folder now.
func (c *Change) Written(ctx context.Context, generations []int64) error {
	if len(generations) == 0 {
		return nil
	}
	tag, err := c.tx.Exec(ctx, "DELETE FROM kioku.outbox WHERE agent = $1 AND generation = ANY($2)", c.Agent.Name, generations)
	c.changed, c.waiting = c.changed || tag.RowsAffected() > 0, c.waiting-int(tag.RowsAffected())
	return err
}

// Vector is a vector that was paid for; see vectors.Row.
type Vector struct {
	// Space as JSON, Kind, and SHA256 of the text that Vector is of.
	Space, Kind string
	SHA256      []byte
	Vector      []byte
}

// PutVectors adds the vectors that are not there.
func (c *Change) PutVectors(ctx context.Context, list []Vector) (err error) {
	batch := &pgx.Batch{}
	for _, v := range list {
		batch.Queue(`INSERT INTO kioku.vectors (agent, space, kind, sha256, generation, vector) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (agent, space, kind, sha256) DO NOTHING`, c.Agent.Name, v.Space, v.Kind, v.SHA256, c.Generation, v.Vector)
	}
	results := c.tx.SendBatch(ctx, batch)
	for range list {
		tag, execErr := results.Exec()
		err = errors.Join(err, execErr)
		c.changed = c.changed || tag.RowsAffected() > 0
	}
	return errors.Join(err, results.Close())
}

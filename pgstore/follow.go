package pgstore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"kioku/memory"
)

// Reading is what has changed of an agent since a generation, in one state of the database.
type Reading struct {
	// Agent is its state then.
	Agent Agent

	tx    pgx.Tx
	since int64
}

// Since calls f with what has changed of an agent since a generation. The error is memory.ErrNoAgent for an agent that the cluster does not have.
func (s *Store) Since(ctx context.Context, agent string, generation int64, f func(ctx context.Context, r Reading) error) error {
	return s.inAgent(ctx, agent, snapshot, func(ctx context.Context, tx pgx.Tx) error {
		r := Reading{tx: tx, since: generation}
		if err := noAgent(tx.QueryRow(ctx, selectAgent+" WHERE agent = $1", agent).Scan(r.Agent.fields()...)); err != nil {
			return err
		}
		return f(ctx, r)
	})
}

// Since returns what has changed of the agent of a commit since a generation. Nobody else changes it meanwhile.
func (c *Change) Since(generation int64) Reading {
	return Reading{Agent: c.Agent, tx: c.tx, since: generation}
}

// Files calls each with the files that have changed.
func (r Reading) Files(ctx context.Context, each func(File) error) error {
	return r.files(ctx, each, "generation > $2", r.since)
}

// Sums returns the hashes of all files.
func (r Reading) Sums(ctx context.Context) (map[string][sha256.Size]byte, error) {
	return sums(ctx, r.tx, r.Agent.Name, nil)
}

// Named calls each with files by their paths, whether or not they have changed.
func (r Reading) Named(ctx context.Context, paths []string, each func(File) error) error {
	return r.files(ctx, each, "path = ANY($2)", paths)
}

func (r Reading) files(ctx context.Context, each func(File) error, where string, arg any) error {
	rows, err := r.tx.Query(ctx, "SELECT path, mtime, data FROM kioku.files WHERE agent = $1 AND "+where, r.Agent.Name, arg)
	if err != nil {
		return err
	}
	var f File
	var modified int64
	_, err = pgx.ForEachRow(rows, []any{&f.Path, &modified, &f.Data}, func() error {
		f.ModTime = time.Unix(0, modified)
		return each(f)
	})
	return err
}

// Waiting returns all notes that wait for the owner, in their order.
func (r Reading) Waiting(ctx context.Context) ([]Waiting, error) {
	return waiting(ctx, r.tx, r.Agent.Name, 0, math.MaxInt32)
}

// Vectors calls each with the vectors that are new. It does not keep them.
func (r Reading) Vectors(ctx context.Context, each func(Vector) error) error {
	rows, err := r.tx.Query(ctx, "SELECT space, kind, sha256, vector FROM kioku.vectors WHERE agent = $1 AND generation > $2", r.Agent.Name, r.since)
	if err != nil {
		return err
	}
	var v Vector
	_, err = pgx.ForEachRow(rows, []any{&v.Space, &v.Kind, &v.SHA256, &v.Vector}, func() error { return each(v) })
	return err
}

// Listen calls changed with each agent for whose owner a note waits, until ctx ends or the connection is lost. What came while nobody listened
// is not told.
func (s *Store) Listen(ctx context.Context, changed func(agent string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(s.shards))
	for _, sh := range s.shards {
		go func() { ended <- sh.listen(ctx, changed) }()
	}
	err := <-ended
	cancel()
	for range s.shards[1:] {
		<-ended
	}
	return err
}

func (sh *shard) listen(ctx context.Context, changed func(agent string)) error {
	taken, err := sh.pool.Acquire(ctx)
	if err != nil {
		return away(err)
	}
	conn := taken.Hijack() // it listens, and goes back to nobody
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN kioku"); err != nil {
		return away(err)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return away(err)
		}
		changed(n.Payload)
	}
}

// Node is a process of the cluster.
type Node struct {
	// Name of the node, Address and Secret by which others reach it, and Version of its program.
	Name, Address, Secret, Version string
	// Open is the number of agents whose memory it has open, and Slabs the bytes of their vectors in its memory.
	Open  int
	Slabs int64
	// Seen is how long ago it was seen, by the clock of the database.
	Seen time.Duration
}

// nodeAge is how long a node is remembered that nobody has heard of.
const nodeAge = 24 * time.Hour

// Join says that a node is there, and how to reach it. It is to be called again now and then.
func (s *Store) Join(ctx context.Context, n Node) error {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	_, err := s.shards[0].pool.Exec(ctx, `WITH gone AS (DELETE FROM kioku.nodes WHERE seen < now() - $7::interval AND node <> $1) INSERT INTO kioku.nodes (node, address, secret, version, open, slabs) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (node) DO UPDATE SET address = $2, secret = $3, version = $4, open = $5, slabs = $6, seen = now()`, n.Name, n.Address, n.Secret, n.Version, n.Open, n.Slabs, nodeAge)
	return away(err)
}

// Leave says that a node is no longer there.
func (s *Store) Leave(ctx context.Context, node string) error {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	_, err := s.shards[0].pool.Exec(ctx, "DELETE FROM kioku.nodes WHERE node = $1", node)
	return away(err)
}

// Drain ends the leases of an owner, or of all owners NODE/... of a node, so that others may take its agents at once, and returns how many they are. An owner
// that is still there takes them back.
func (s *Store) Drain(ctx context.Context, node string) (agents int, err error) {
	for _, sh := range s.shards {
		tag, err := sh.pool.Exec(ctx, "UPDATE kioku.agents SET lease = '-infinity' WHERE owner = $1 OR split_part(owner, '/', 1) = $1", node)
		if err != nil {
			return agents, away(err)
		}
		agents += int(tag.RowsAffected())
	}
	if agents > 0 {
		return agents, nil
	}
	nodes, err := s.Nodes(ctx, nodeAge)
	if err == nil && !slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == node }) {
		err = &memory.InputError{Field: "node", Problem: fmt.Sprintf("the cluster has none of the name %q, and no agent of one", node)}
	}
	return 0, err
}

// Nodes returns the nodes that were seen within a time.
func (s *Store) Nodes(ctx context.Context, within time.Duration) (all []Node, err error) {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	rows, err := s.shards[0].pool.Query(ctx, "SELECT node, address, secret, version, open, slabs, now() - seen FROM kioku.nodes WHERE seen > now() - $1::interval ORDER BY node", within)
	if err != nil {
		return nil, away(err)
	}
	var n Node
	_, err = pgx.ForEachRow(rows, []any{&n.Name, &n.Address, &n.Secret, &n.Version, &n.Open, &n.Slabs, &n.Seen}, func() error { all = append(all, n); return nil })
	return all, away(err)
}

// Check is what the settings of a database promise.
type Check struct {
	// Shard is the database; the others are settings of the server.
	Shard, Version, SynchronousCommit, StandbyNames string
	// Superuser reports that the role of the node is above row-level security, and Skew how far the clocks are apart.
	Superuser bool
	Skew      time.Duration
	// Replicas are the standbys, as "name state sync_state lag".
	Replicas []string
}

// Checks asks each database what it promises.
func (s *Store) Checks(ctx context.Context) (all []Check, err error) {
	for _, sh := range s.shards {
		c := Check{Shard: sh.name}
		var now time.Time
		before := time.Now()
		err := sh.pool.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
			(SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user), clock_timestamp()`).
			Scan(&c.Version, &c.SynchronousCommit, &c.StandbyNames, &c.Superuser, &now)
		if err != nil {
			return all, fmt.Errorf("%s: %w", sh.name, away(err))
		}
		c.Skew = now.Sub(before.Add(time.Since(before) / 2))
		rows, err := sh.pool.Query(ctx, "SELECT application_name || ' ' || coalesce(state, '?') || ' ' || coalesce(sync_state, '?') FROM pg_stat_replication ORDER BY 1")
		if err == nil {
			c.Replicas, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return all, fmt.Errorf("%s: %w", sh.name, away(err))
		}
		all = append(all, c)
	}
	return all, nil
}

package pgstore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"kioku/memory"
)

//go:embed schema.sql
var schema string

const (
	// schemaVersion is that of schema.sql. schemaLock is the advisory lock of whoever creates it.
	schemaVersion, schemaLock = 1, 0x6b696f6b75
	// connectTimeout is how long a connection may take, and callTimeout what a call without a deadline has.
	connectTimeout, callTimeout = 2 * time.Second, 10 * time.Second
	// idleTimeout ends a transaction whose process stands still, so that its locks do not keep others out, and one that waits for a lock.
	idleTimeout = 10 * time.Second
)

// ErrFenced means that somebody else has become the owner of an agent. Nothing was written.
var ErrFenced = errors.New("the agent belongs to another folder")

// Options of a store.
type Options struct {
	// MaxConns is the maximum number of connections to each shard; 0 means 10.
	MaxConns int
	// Dial connects; nil means the network.
	Dial pgconn.DialFunc
	Log  *slog.Logger
}

// Store is one or more databases in PostgreSQL, each with some of the agents. Its methods may be called concurrently.
type Store struct {
	opt    Options
	shards []*shard

	mu     sync.Mutex
	placed map[string]string // agents that are not where their name says, by shard; guarded by mu
	looked time.Time         // when placed was read; guarded by mu
	known  map[string]*shard // where agents were found since; guarded by mu
}

// shard is one database.
type shard struct {
	name string // address without credentials
	pool *pgxpool.Pool
}

// Open returns the store in databases with addresses (postgres://...). It connects to them when it is used, and creates the tables that are missing.
// All nodes name all databases, and the same one first, which has the tables of nodes and of the agents that were moved.
func Open(ctx context.Context, addresses []string, opt Options) (*Store, error) {
	if len(addresses) == 0 {
		return nil, &memory.InputError{Field: "store", Problem: "names no database"}
	}
	if opt.MaxConns == 0 {
		opt.MaxConns = 10
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{opt: opt}
	for _, address := range addresses {
		sh, err := openShard(ctx, address, opt)
		if err == nil && slices.ContainsFunc(s.shards, func(other *shard) bool { return other.name == sh.name }) {
			sh.pool.Close()
			err = &memory.InputError{Field: "store", Problem: "names " + sh.name + " twice"}
		}
		if err != nil {
			s.Close()
			return nil, err
		}
		s.shards = append(s.shards, sh)
	}
	return s, nil
}

// errAddress quotes no address: it may have a password.
var errAddress = &memory.InputError{Field: "store", Problem: "has an address that is no postgres://user@host:port/database"}

// openShard returns one database. Of several hosts it is the one that takes writes.
func openShard(ctx context.Context, address string, opt Options) (*shard, error) {
	conf, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errAddress // that of pgx quotes the address, which may have a password
	}
	c := conf.ConnConfig
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") || strings.ContainsAny(c.Database, ":;@,") {
		return nil, errAddress
	}
	conf.MaxConns = int32(opt.MaxConns)
	c.ConnectTimeout = connectTimeout
	c.RuntimeParams["application_name"] = "kioku"
	if opt.Dial != nil {
		c.DialFunc = opt.Dial
	}
	if c.ValidateConnect == nil && slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != c.Host || f.Port != c.Port }) {
		c.ValidateConnect = isPrimary
		conf.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
			return isPrimary(ctx, conn.PgConn()) == nil, nil
		}
	}
	sh := &shard{name: fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)}
	var migrated atomic.Bool
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if migrated.Load() {
			return nil
		}
		err := migrate(ctx, conn)
		migrated.Store(err == nil)
		return err
	}
	conf.BeforeConnect = neverCancel
	if sh.pool, err = pgxpool.NewWithConfig(ctx, conf); err != nil {
		return nil, fmt.Errorf("%s: %w", sh.name, err)
	}
	return sh, nil
}

// isPrimary returns an error for a standby, and for a former primary that has not heard that it is none, but whose synchronous standbys have left it
// for another one.
func isPrimary(ctx context.Context, conn *pgconn.PgConn) error {
	r := conn.ExecParams(ctx, `SELECT NOT pg_is_in_recovery() AND (names = '' OR EXISTS (SELECT FROM pg_stat_replication WHERE names = '*'
		OR application_name <> '' AND lower(application_name) = ANY (regexp_split_to_array(lower(names), '[\s,()"]+')))) FROM current_setting('synchronous_standby_names') AS names`,
		nil, nil, nil, nil).Read()
	if r.Err == nil && string(r.Rows[0][0]) != "t" {
		return errors.New("it takes no writes")
	}
	return r.Err
}

// neverCancel has a connection that is given up send no request to cancel: a commit that waits for its standbys would be seen by others, although
// it is lost with the primary.
func neverCancel(_ context.Context, c *pgx.ConnConfig) error {
	var connected atomic.Bool
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if connected.Load() {
			return nil, errors.New("nothing is cancelled")
		}
		return dial(ctx, network, address)
	}
	c.AfterConnect = func(context.Context, *pgconn.PgConn) error {
		connected.Store(true)
		return nil
	}
	return nil
}

// migrate creates the tables of an empty database, once, whoever comes first.
func migrate(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(schemaLock)); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRow(ctx, "SELECT to_regclass('kioku.version') IS NOT NULL").Scan(&there); err != nil {
			return err
		}
		if !there {
			_, err := tx.Exec(ctx, schema)
			return err
		}
		var version int
		if err := tx.QueryRow(ctx, "SELECT version FROM kioku.version").Scan(&version); err != nil {
			return err
		}
		if version != schemaVersion {
			return fmt.Errorf("%w: the tables have version %d, and this program knows %d; use one version of Kioku on all nodes", memory.ErrNewerSchema, version, schemaVersion)
		}
		return nil
	})
}

// Reach returns an error if a database cannot be used now: memory.ErrStoreAway if it may be later, and *memory.InputError if it will not be with the
// role, password or database of its address.
func (s *Store) Reach(ctx context.Context) error {
	for _, sh := range s.shards {
		if err := sh.pool.Ping(ctx); err != nil {
			if pg := refusal(err); pg != nil {
				return &memory.InputError{Field: "store", Problem: fmt.Sprintf("%s refuses: %s", sh.name, pg.Message)}
			}
			return fmt.Errorf("%s: %w", sh.name, away(err))
		}
	}
	return s.checkNames(ctx)
}

// checkNames returns a *memory.InputError if other nodes name further databases, or another one first: an agent would be made twice. It records the names
// in each database.
func (s *Store) checkNames(ctx context.Context) error {
	names := s.Shards()
	for _, sh := range s.shards {
		rows, err := sh.pool.Query(ctx, "SELECT shard, first FROM kioku.databases")
		if err != nil {
			return away(err)
		}
		var name string
		var first bool
		var known []string
		if _, err = pgx.ForEachRow(rows, []any{&name, &first}, func() error {
			known = append(known, name)
			if first && name != names[0] || !slices.Contains(names, name) {
				return &memory.InputError{Field: "store", Problem: fmt.Sprintf("other nodes of the cluster name %s%s; all must name the same databases, and the same one first", name,
					map[bool]string{true: " first"}[first])}
			}
			return nil
		}); err != nil {
			return away(err)
		}
		for i, name := range names {
			if slices.Contains(known, name) {
				continue
			}
			if _, err := sh.pool.Exec(ctx, "INSERT INTO kioku.databases (shard, first) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, i == 0); err != nil {
				return away(err)
			}
		}
	}
	return nil
}

// refusal returns why a database refuses whoever connects: because of the role, its rights, or as it is missing. It returns nil if any of its hosts had
// another reason, which may pass.
func refusal(err error) (pg *pgconn.PgError) {
	switch e := err.(type) {
	case *pgconn.PgError:
		if slices.Contains([]string{"28", "3D", "42"}, e.Code[:2]) {
			pg = e
		}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if pg = refusal(err); pg == nil {
				return nil
			}
		}
	case interface{ Unwrap() error }:
		return refusal(e.Unwrap())
	}
	return pg
}

// Close ends all connections.
func (s *Store) Close() {
	for _, sh := range s.shards {
		sh.pool.Close()
	}
}

// Shards returns the names of the databases.
func (s *Store) Shards() (names []string) {
	for _, sh := range s.shards {
		names = append(names, sh.name)
	}
	return names
}

// placedAge is how long what is known of agents that were moved counts.
const placedAge = 5 * time.Second

// shardOf returns the database of an agent: the one that it was moved to, else the one whose name and the agent's have the greatest hash, so
// that a further database takes over only its share.
func (s *Store) shardOf(ctx context.Context, agent string) (*shard, error) {
	if len(s.shards) == 1 {
		return s.shards[0], nil
	}
	placed, err := s.exceptions(ctx)
	if err != nil {
		return nil, err
	}
	if name, ok := placed[agent]; ok {
		i := slices.IndexFunc(s.shards, func(sh *shard) bool { return sh.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: agent %s is on %s, which the setting store does not name", memory.ErrUnreachable, agent, name)
		}
		return s.shards[i], nil
	}
	s.mu.Lock()
	sh := s.known[agent]
	s.mu.Unlock()
	if sh != nil {
		return sh, nil
	}
	return s.find(ctx, agent)
}

// find returns the database that has an agent: it stays where it is when there is a further one. One that none has belongs where its name says. A
// move that has not ended has left it in two.
func (s *Store) find(ctx context.Context, agent string) (at *shard, err error) {
	for _, sh := range s.shards {
		var moving bool
		err := noAgent(sh.pool.QueryRow(ctx, "SELECT moving <> '' FROM kioku.agents WHERE agent = $1", agent).Scan(&moving))
		if errors.Is(err, memory.ErrNoAgent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if at == nil || moving {
			at = sh
		}
	}
	if at == nil {
		return slices.MaxFunc(s.shards, func(a, b *shard) int { return compareHash(a.name, b.name, agent) }), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known != nil {
		s.known[agent] = at
	}
	return at, nil
}

// compareHash compares the hashes of two shards and an agent.
func compareHash(a, b, agent string) int {
	hash := func(name string) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(name + "\x00" + agent)) // never fails
		x := h.Sum64()
		x ^= x >> 33 // FNV of texts that end alike differs in the low bits first
		x *= 0xff51afd7ed558ccd
		return x ^ x>>33
	}
	if ha, hb := hash(a), hash(b); ha != hb {
		if ha < hb {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}

// exceptions returns the agents that were moved, by shard.
func (s *Store) exceptions(ctx context.Context) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.placed != nil && time.Since(s.looked) < placedAge {
		return s.placed, nil
	}
	rows, err := s.shards[0].pool.Query(ctx, "SELECT agent, shard FROM kioku.placed")
	if err != nil {
		return nil, away(err)
	}
	placed := map[string]string{}
	var agent, name string
	if _, err := pgx.ForEachRow(rows, []any{&agent, &name}, func() error { placed[agent] = name; return nil }); err != nil {
		return nil, away(err)
	}
	s.placed, s.looked, s.known = placed, time.Now(), map[string]*shard{}
	return placed, nil
}

// lookAgain reports whether somebody may have moved an agent since it was last read which were.
func (s *Store) lookAgain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.placed == nil || time.Since(s.looked) < 100*time.Millisecond {
		return false
	}
	s.placed = nil
	return true
}

// inAgent runs a transaction about one agent, which sees no rows of others.
func (s *Store) inAgent(ctx context.Context, agent string, opt pgx.TxOptions, f func(ctx context.Context, tx pgx.Tx) error) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	sh, err := s.shardOf(ctx, agent)
	if err != nil {
		return err
	}
	begin, done := context.WithTimeout(ctx, callTimeout) // a database that is gone is given up, however long the whole may take
	defer done()
	tx, err := sh.pool.BeginTx(begin, opt)
	if err != nil {
		return away(err)
	}
	defer func() { _ = tx.Rollback(begin) }() // nothing, after a commit
	_, err = tx.Exec(begin, "SELECT set_config('kioku.agent', $1, true), set_config('idle_in_transaction_session_timeout', $2, true), set_config('lock_timeout', $2, true)",
		agent, fmt.Sprint(idleTimeout.Milliseconds()))
	if err == nil {
		err = f(ctx, tx)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	return away(err)
}

// snapshot is a transaction that reads one state.
var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// away returns an error of the database as memory.ErrStoreAway if it says that the database cannot be reached or must be asked again.
func away(err error) error {
	if err == nil || errors.Is(err, memory.ErrUnreachable) {
		return err
	}
	var connect *pgconn.ConnectError
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &connect), pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
	case errors.As(err, &pg):
		// Connection lost, shutting down, out of resources, a standby that does not write, serialization, a lock.
		if !slices.Contains([]string{"08", "57", "53", "25", "40", "55"}, pg.Code[:2]) {
			return err
		}
	case strings.Contains(err.Error(), "conn closed"), strings.Contains(err.Error(), "unexpected EOF"), strings.Contains(err.Error(), "connection reset"),
		strings.Contains(err.Error(), "broken pipe"), strings.Contains(err.Error(), "closed pool"):
	default:
		return err
	}
	return fmt.Errorf("%w: %w", memory.ErrStoreAway, err)
}

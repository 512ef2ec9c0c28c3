package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kioku/memory"
	"kioku/pgstore"
	"kioku/pgstore/pgtest"
)

var server *pgtest.Server

// mainT is what starts the server that all tests share.
type mainT struct {
	testing.TB
	cleanups []func()
}

func (m *mainT) Helper()                   {}
func (m *mainT) Cleanup(f func())          { m.cleanups = append(m.cleanups, f) }
func (m *mainT) Context() context.Context  { return context.Background() }
func (m *mainT) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (m *mainT) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func TestMain(m *testing.M) {
	t := &mainT{}
	if os.Getenv(pgtest.Env) != "" {
		server = pgtest.New(t)
	}
	code := m.Run()
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
	os.Exit(code)
}

// open returns a store in databases of its own.
func open(t *testing.T, names ...string) *pgstore.Store {
	t.Helper()
	if server == nil {
		t.Skip("needs PostgreSQL: .ci/postgres installs it, and KIOKU_POSTGRES names its bin folder")
	}
	var addresses []string
	for _, name := range names {
		addresses = append(addresses, server.Database(name))
	}
	s, err := pgstore.Open(t.Context(), addresses, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// change commits.
func change(t *testing.T, s *pgstore.Store, agent string, epoch int64, f func(ctx context.Context, c *pgstore.Change) error) int64 {
	t.Helper()
	generation, err := s.Change(t.Context(), agent, epoch, f)
	if err != nil {
		t.Fatal(err)
	}
	return generation
}

// own makes a node the owner.
func own(t *testing.T, s *pgstore.Store, agent, node string) int64 {
	t.Helper()
	epoch, err := s.Own(t.Context(), agent, node, 0, 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

// files returns what has changed since a generation, "-" for what was removed.
func files(t *testing.T, s *pgstore.Store, agent string, since int64) (got map[string]string, at int64) {
	t.Helper()
	got = map[string]string{}
	err := s.Since(t.Context(), agent, since, func(ctx context.Context, r pgstore.Reading) error {
		at = r.Agent.Generation
		return r.Files(ctx, func(f pgstore.File) error {
			got[f.Path] = string(f.Data)
			if f.Data == nil {
				got[f.Path] = "-"
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, at
}

// Only the owner writes, with the epoch in which it is; whoever was fenced writes nothing. A lease keeps others out until it is over.
func TestOneOwnerWrites(t *testing.T) {
	t.Parallel()
	s := open(t, "owner")
	first := own(t, s, "main", "a")
	if _, err := s.Own(t.Context(), "main", "b", 0, 0, time.Minute); !errors.Is(err, pgstore.ErrFenced) {
		t.Fatalf("a second owner: %v", err)
	}
	put := func(epoch int64, text string) error {
		_, err := s.Change(t.Context(), "main", epoch, func(ctx context.Context, c *pgstore.Change) error {
			return c.Put(ctx, pgstore.File{Path: "MEMORY.md", Data: []byte(text)})
		})
		return err
	}
	if err := put(first, "one"); err != nil {
		t.Fatal(err)
	}
	var second int64
	_, err := s.Change(t.Context(), "main", 0, func(ctx context.Context, c *pgstore.Change) (err error) {
		second, err = c.Take(ctx, "b", time.Minute)
		return err
	})
	if err != nil || second != first+1 {
		t.Fatalf("epoch %d, %v", second, err)
	}
	if err := put(first, "two"); !errors.Is(err, pgstore.ErrFenced) {
		t.Errorf("the former owner writes: %v", err)
	}
	if err := s.Renew(t.Context(), "main", first, time.Minute); !errors.Is(err, pgstore.ErrFenced) {
		t.Errorf("the former owner renews: %v", err)
	}
	if got, _ := files(t, s, "main", 0); got["MEMORY.md"] != "one" {
		t.Errorf("%q", got)
	}
	if err := put(second, "three"); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(t.Context(), "main", second); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Own(t.Context(), "main", "a", first, 1, time.Minute); !errors.Is(err, pgstore.ErrFenced) {
		t.Errorf("an owner comes back whose folder lacks what was written since: %v", err)
	}
	if third, err := s.Own(t.Context(), "main", "b", second, 2, time.Minute); err != nil || third != second+1 {
		t.Errorf("epoch %d, %v", third, err)
	}
	if n, err := s.Drain(t.Context(), "b"); n != 1 || err != nil {
		t.Errorf("%d agents are drained, %v", n, err)
	}
	if a, err := s.Agent(t.Context(), "main"); err != nil || a.Leased {
		t.Errorf("drained: %+v, %v", a, err)
	}
	if err := s.Renew(t.Context(), "main", second+1, time.Minute); err != nil {
		t.Errorf("an owner that is there keeps the agent: %v", err)
	}
	if n, err := s.Drain(t.Context(), "nobody"); err == nil {
		t.Errorf("%d agents of nobody are drained", n)
	}
	if _, err := s.Agent(t.Context(), "nobody"); !errors.Is(err, memory.ErrNoAgent) {
		t.Errorf("%v", err)
	}
}

// A reader sees one state: all of a commit or nothing, what has changed since a generation, and what was removed.
func TestSinceIsOneState(t *testing.T) {
	t.Parallel()
	s := open(t, "since")
	epoch := own(t, s, "main", "a")
	g1 := change(t, s, "main", epoch, func(ctx context.Context, c *pgstore.Change) error {
		return c.Put(ctx, pgstore.File{Path: "a.md", Data: []byte("a")}, pgstore.File{Path: "b.md", Data: []byte{}})
	})
	var during map[string]string
	err := s.Since(t.Context(), "main", 0, func(ctx context.Context, r pgstore.Reading) error {
		change(t, s, "main", epoch, func(ctx context.Context, c *pgstore.Change) error {
			return c.Put(ctx, pgstore.File{Path: "a.md"}, pgstore.File{Path: "c.md", Data: []byte("c")})
		})
		during = map[string]string{}
		return r.Files(ctx, func(f pgstore.File) error { during[f.Path] = string(f.Data); return nil })
	})
	if err != nil || fmt.Sprint(during) != "map[a.md:a b.md:]" {
		t.Errorf("%v, %v", during, err)
	}
	if got, at := files(t, s, "main", g1); fmt.Sprint(got) != "map[a.md:- c.md:c]" || at != g1+1 {
		t.Errorf("%v at %d", got, at)
	}
	vectors := func(ctx context.Context, c *pgstore.Change) error {
		return c.PutVectors(ctx, []pgstore.Vector{{Space: "{}", Kind: "document", SHA256: []byte("x"), Vector: []byte("v")}})
	}
	if first, again := change(t, s, "main", epoch, vectors), change(t, s, "main", epoch, vectors); first != g1+2 || again != first {
		t.Errorf("the same vectors twice are generations %d and %d", first, again)
	}
	if again := change(t, s, "main", epoch, func(context.Context, *pgstore.Change) error { return nil }); again != g1+2 {
		t.Errorf("a commit of nothing is generation %d", again)
	}
}

// Notes wait in the order in which they were acknowledged, until the owner has written them. A commit that fails leaves nothing.
func TestNotesWait(t *testing.T) {
	t.Parallel()
	s := open(t, "notes")
	epoch := own(t, s, "main", "a")
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for _, text := range []string{"one", "two"} {
		change(t, s, "main", 0, func(ctx context.Context, c *pgstore.Change) error {
			return c.Wait(ctx, memory.Note{Text: text, Key: text}, at)
		})
	}
	broken := errors.New("broken")
	if _, err := s.Change(t.Context(), "main", 0, func(ctx context.Context, c *pgstore.Change) error {
		return errors.Join(c.Wait(ctx, memory.Note{Text: "three"}, at), broken)
	}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	change(t, s, "main", epoch, func(ctx context.Context, c *pgstore.Change) error {
		list, err := c.Waiting(ctx, 0, 10)
		if err != nil || len(list) != 2 || list[0].Note.Text != "one" || !list[1].Time.Equal(at) {
			t.Errorf("%+v, %v", list, err)
		}
		return c.Written(ctx, []int64{list[0].Generation})
	})
	if a, err := s.Agent(t.Context(), "main"); a.Waiting != 1 || err != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// A transaction of one agent sees and writes no row of another, whatever SQL it runs, and a connection that names no agent sees none.
func TestRowsOfOtherAgentsAreOutOfReach(t *testing.T) {
	t.Parallel()
	s := open(t, "wall")
	for _, agent := range []string{"mine", "yours"} {
		epoch := own(t, s, agent, "a")
		change(t, s, agent, epoch, func(ctx context.Context, c *pgstore.Change) error {
			return errors.Join(c.Put(ctx, pgstore.File{Path: "MEMORY.md", Data: []byte("secret of " + agent)}),
				c.Wait(ctx, memory.Note{Text: agent, Key: "k"}, time.Now()), c.PutVectors(ctx, []pgstore.Vector{{Space: "{}", Kind: "document", SHA256: []byte("x"), Vector: []byte("v")}}))
		})
	}
	conn, err := pgx.Connect(t.Context(), server.Address("wall_node", "wall"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	count := func(sql string) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return n
	}
	for _, table := range []string{"files", "outbox", "vectors"} {
		if n := count("SELECT count(*) FROM kioku." + table); n != 0 {
			t.Errorf("%d rows of %s without an agent", n, table)
		}
	}
	if _, err := conn.Exec(t.Context(), "SET kioku.agent = 'mine'"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"files", "outbox", "vectors"} {
		if n := count("SELECT count(*) FROM kioku." + table + " WHERE agent <> 'mine'"); n != 0 {
			t.Errorf("%d rows of others in %s", n, table)
		}
		if n := count("SELECT count(*) FROM kioku." + table); n != 1 {
			t.Errorf("%d own rows in %s", n, table)
		}
		for _, sql := range []string{"UPDATE kioku.%s SET generation = 9 WHERE agent = 'yours'", "DELETE FROM kioku.%s WHERE agent = 'yours'"} {
			if tag, err := conn.Exec(t.Context(), fmt.Sprintf(sql, table)); err != nil || tag.RowsAffected() != 0 {
				t.Errorf("%s of %s: %v, %v", sql, table, tag, err)
			}
		}
	}
	for _, sql := range []string{
		"INSERT INTO kioku.files (agent, path, generation, mtime, sha256, data) VALUES ('yours', 'x.md', 1, 1, '', 'x')",
		"UPDATE kioku.files SET agent = 'yours'",
	} {
		if _, err := conn.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s is allowed", sql)
		}
	}
}

// Whoever listens hears of each note that waits, and of nothing else.
func TestListenHearsOfNotesThatWait(t *testing.T) {
	t.Parallel()
	s := open(t, "listen")
	owned := own(t, s, "owned", "a")
	own(t, s, "main", "a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard := make(chan string, 100)
	ended := make(chan error, 1)
	go func() { ended <- s.Listen(ctx, func(agent string) { heard <- agent }) }()
	for got := ""; got == ""; {
		change(t, s, "owned", owned, func(ctx context.Context, c *pgstore.Change) error {
			return c.Put(ctx, pgstore.File{Path: "MEMORY.md", Data: []byte("x")})
		})
		change(t, s, "main", 0, func(ctx context.Context, c *pgstore.Change) error {
			return c.Wait(ctx, memory.Note{Text: "one"}, time.Now())
		})
		select {
		case got = <-heard:
			if got != "main" {
				t.Errorf("%q", got)
			}
		case <-time.After(10 * time.Millisecond): // nobody listened yet
		}
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("it ended without a reason")
	}
}

// A commit that was given up while it waited for a standby is not seen by others, since it may be lost with the primary; once a standby has it, it is.
func TestCommitIsSeenOnceItIsKept(t *testing.T) {
	t.Parallel()
	if server == nil {
		t.Skip("needs PostgreSQL: .ci/postgres installs it, and KIOKU_POSTGRES names its bin folder")
	}
	pg := pgtest.New(t)
	s, err := pgstore.Open(t.Context(), []string{pg.Database("kept")}, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Own(t.Context(), "nova", "a", 0, 0, time.Minute); err != nil {
		t.Fatal(err)
	}
	watch, err := pgx.Connect(t.Context(), pg.Address("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close(context.Background())
	pg.Exec("postgres", "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
	tries := 0
	for waits := false; !waits; { // until all processes have the setting
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.Change(ctx, "nova", 0, func(ctx context.Context, c *pgstore.Change) error {
				return c.Put(ctx, pgstore.File{Path: "a.md", Data: []byte("text")})
			})
			ended <- err
		}()
		for !waits && len(ended) == 0 {
			if err := watch.QueryRow(t.Context(), "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&waits); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-ended; err == nil {
			tries, waits = tries+1, false
		}
	}
	for range 50 {
		if a, err := s.Agent(t.Context(), "nova"); err != nil || a.Generation != int64(tries) {
			t.Fatalf("%+v, %v after %d commits", a, err, tries)
		}
	}
	pg.Exec("postgres", "postgres", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	for a, err := s.Agent(t.Context(), "nova"); a.Generation != int64(tries)+1; a, err = s.Agent(t.Context(), "nova") {
		if err != nil {
			t.Fatal(err)
		}
	}
}

package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/memory"
	"kioku/pgstore"
	"kioku/pgstore/pgtest"
)

// An agent moves to another database with all that it has, and is found there by everybody; its owner goes on.
func TestAgentsMove(t *testing.T) {
	t.Parallel()
	s := open(t, "here", "there")
	at := map[string]int{}
	for i := range 40 {
		own(t, s, fmt.Sprintf("agent%d", i), "a")
	}
	all, err := s.Agents(t.Context())
	if err != nil || len(all) != 40 {
		t.Fatalf("%d, %v", len(all), err)
	}
	for _, a := range all {
		at[a.Shard]++
	}
	if len(at) != 2 || at[all[0].Shard] < 8 || at[all[0].Shard] > 32 {
		t.Errorf("not spread: %v", at)
	}
	moved := all[0]
	change(t, s, moved.Name, moved.Epoch, func(ctx context.Context, c *pgstore.Change) error {
		return errors.Join(c.Put(ctx, pgstore.File{Path: "MEMORY.md", Data: bytes.Repeat([]byte("x"), 1<<20)}), c.Wait(ctx, memory.Note{Text: "waits", Key: "k"}, time.Now()))
	})
	to := s.Shards()[0]
	if to == moved.Shard {
		to = s.Shards()[1]
	}
	if err := s.Move(t.Context(), "nobody", to); !errors.Is(err, memory.ErrNoAgent) {
		t.Errorf("nobody is moved: %v", err)
	}
	if err := s.Move(t.Context(), moved.Name, to); err != nil {
		t.Fatal(err)
	}
	change(t, s, moved.Name, moved.Epoch, func(ctx context.Context, c *pgstore.Change) error {
		return c.Put(ctx, pgstore.File{Path: "later.md", Data: []byte("later")})
	})
	if got, _ := files(t, s, moved.Name, 0); len(got["MEMORY.md"]) != 1<<20 || len(got) != 2 {
		t.Errorf("%d files", len(got))
	}
	all, err = s.Agents(t.Context())
	i := slices.IndexFunc(all, func(a pgstore.Agent) bool { return a.Name == moved.Name })
	if err != nil || len(all) != 40 || all[i].Shard != to || all[i].Waiting != 1 {
		t.Errorf("%d agents, %+v, %v", len(all), all[i], err)
	}
}

// A primary whose synchronous standbys have left it is asked no more: they follow another one.
func TestFormerPrimaryIsNotAsked(t *testing.T) {
	t.Parallel()
	if server == nil {
		t.Skip("needs PostgreSQL: .ci/postgres installs it, and KIOKU_POSTGRES names its bin folder")
	}
	old, next := pgtest.New(t), pgtest.New(t)
	old.Database("either")
	other, err := pgstore.Open(t.Context(), []string{next.Database("either")}, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Agents(t.Context()); err != nil { // it has the tables
		t.Fatal(err)
	}
	s, err := pgstore.Open(t.Context(), []string{fmt.Sprintf("postgres:///either?host=%s,%s&user=either_node", old.Dir, next.Dir)}, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Own(t.Context(), "nova", "a", 0, 0, time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Agent(t.Context(), "nova"); err != nil {
		t.Fatal(err)
	}
	old.Exec("postgres", "postgres", "ALTER SYSTEM SET synchronous_standby_names = '2 (node1,node2)'", "SELECT pg_reload_conf()")
	for err == nil { // until all processes have the setting
		_, err = s.Agent(t.Context(), "nova")
	}
	if !errors.Is(err, memory.ErrNoAgent) { // of the other one, which has no agents
		t.Error(err)
	}
}

// What is no address is refused, and told without its password.
func TestOpenShowsNoPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://u:SECRET@h/a;postgres://u:SECRET@h/b", "postgres://u:SECRET@h:none/a", "host=h password=SECRET", "mysql://u:SECRET@h/a"} {
		if s, err := pgstore.Open(t.Context(), []string{address}, pgstore.Options{}); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v, %v", s, err)
		}
	}
}

// What all hosts of a database refuse is refused for good; while one of them is away, it may know more when it is back.
func TestReachTellsWhatIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, "reached")
	if err := s.Reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	for hosts, want := range map[string]error{server.Dir: &memory.InputError{}, server.Dir + ",/nowhere": memory.ErrStoreAway} {
		s, err := pgstore.Open(t.Context(), []string{"postgres:///reached?user=nobody&host=" + hosts}, pgstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		err = s.Reach(t.Context())
		refused, bad := errors.AsType[*memory.InputError](err)
		if _, wanted := want.(*memory.InputError); bad != wanted || bad && !strings.Contains(refused.Problem, `role "nobody" does not exist`) || !bad && !errors.Is(err, want) {
			t.Errorf("%s: %v", hosts, err)
		}
	}
}

// An agent stays where it is when the store gets a further database.
func TestAgentsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	if server == nil {
		t.Skip("needs PostgreSQL: .ci/postgres installs it, and KIOKU_POSTGRES names its bin folder")
	}
	first, second := server.Database("grown1"), server.Database("grown2")
	one, err := pgstore.Open(t.Context(), []string{first}, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	names := []string{"ann", "bob", "cat", "dan", "eve", "fay"}
	for _, name := range names {
		own(t, one, name, "a")
	}
	both, err := pgstore.Open(t.Context(), []string{first, second}, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if err := both.Reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Own(t.Context(), "gus", "a", 0, 0, time.Minute); err == nil || !strings.Contains(err.Error(), "/grown2;") {
		t.Errorf("a node that does not know of the second database makes an agent: %v", err)
	}
	other, err := pgstore.Open(t.Context(), []string{second, first}, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Reach(t.Context()); err == nil || !strings.Contains(err.Error(), "/grown1 first;") {
		t.Errorf("a node has another first database: %v", err)
	}
	for _, name := range names {
		if a, err := both.Agent(t.Context(), name); err != nil || a.Owner != "a" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

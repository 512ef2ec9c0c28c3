package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/indexer"
	"kioku/memory"
	indexstore "kioku/store"
	"kioku/store/storetest"
)

func TestDerivedUnitsCiteTheLinesOfNow(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Dario lives_in Porto", "TODO call Ana")
	s.sync(t, f)
	if n := s.derive(t, f); n != 2 {
		t.Errorf("read %d episodes", n)
	}
	want := []string{"Dario lives in Porto (since 2026-11-01) @memory/2026-11-01.md:1", "Open: call Ana @memory/2026-11-01.md:2"}
	if diff := cmp.Diff(want, s.units(t, memory.UnitQuery{}), cmp.Transformer("sorted", sorted)); diff != "" {
		t.Error(diff)
	}
	moved := noteFile("memory/2026-11-01.md", "# Notes", "", "Dario lives_in Porto", "TODO call Ana")
	s.sync(t, moved)
	want = []string{"Dario lives in Porto (since 2026-11-01) @memory/2026-11-01.md:3", "Open: call Ana @memory/2026-11-01.md:4"}
	if diff := cmp.Diff(want, s.units(t, memory.UnitQuery{}), cmp.Transformer("sorted", sorted)); diff != "" {
		t.Error(diff)
	}
	if n := s.derive(t, moved); n != 1 {
		t.Errorf("read %d episodes, and only the heading is new", n)
	}
}

func TestDerivedUnitsGoInTheCommitThatDeletesTheirText(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Dario lives_in Porto", "Ana likes tea")
	s.sync(t, f)
	s.derive(t, f)
	s.sync(t, noteFile("memory/2026-11-01.md", "Ana likes tea"))
	want := []string{"Ana likes tea (since 2026-11-01) @memory/2026-11-01.md:1"}
	if diff := cmp.Diff(want, s.units(t, memory.UnitQuery{})); diff != "" {
		t.Error(diff)
	}
	matched, err := s.MatchUnits(t.Context(), []string{"porto"}, memory.UnitQuery{})
	if err != nil || len(matched) > 0 {
		t.Errorf("matched %v, %v", matched, err)
	}
	s.sync(t, indexer.File{Path: f.Path, Gone: true})
	if got := s.units(t, memory.UnitQuery{IncludeSuperseded: true}); got != nil {
		t.Errorf("%q", got)
	}
	s.resolve(t)
	entities, err := s.Entities(t.Context(), store.EntityQuery{MaxSensitivity: memory.Secret})
	if err != nil || len(entities) > 0 {
		t.Errorf("entities %v, %v", entities, err)
	}
}

func TestEntitiesHaveTheirRelations(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	first := noteFile("memory/2026-11-01.md", "Ana friend= Dario")
	again, private := noteFile("memory/2026-11-02.md", "Ana friend= Dario"), noteFile("memory/2026-11-03.md", "Ana partner= Zeno (private)")
	s.sync(t, first, again, private)
	s.derive(t, first, again, private)
	friend := unit.Relation{Source: "Ana", Kind: "friend", Target: "Dario", Citation: "memory/2026-11-02.md#L1", Episodes: 2}
	partner := unit.Relation{Source: "Ana", Kind: "partner", Target: "Zeno", Citation: "memory/2026-11-03.md#L1", Episodes: 1}
	for _, c := range []struct {
		query store.EntityQuery
		want  map[string][]unit.Relation
	}{
		{store.EntityQuery{Relations: true}, map[string][]unit.Relation{"Ana": {friend}, "Dario": {friend}}},
		{store.EntityQuery{Relations: true, MaxSensitivity: memory.Private}, map[string][]unit.Relation{"Ana": {friend, partner}, "Dario": {friend}, "Zeno": {partner}}},
		{store.EntityQuery{}, map[string][]unit.Relation{"Ana": nil, "Dario": nil}},
	} {
		list, err := s.Entities(t.Context(), c.query)
		got := map[string][]unit.Relation{}
		for _, e := range list {
			got[e.Name] = e.Relations
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%+v: %v %s", c.query, err, diff)
		}
	}
}

// sorted returns a sorted copy.
func sorted(list []string) []string {
	list = append([]string(nil), list...)
	for i := range list {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// An index that is made again has other ids and is another file: what was derived is seen again as files come, and nothing is read twice.
func TestDerivedFollowsAReplacedIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDerived(t, dir)
	first, second := noteFile("memory/2026-11-01.md", "Dario lives_in Porto"), noteFile("memory/2026-11-02.md", "Ana likes tea")
	s.sync(t, first, second)
	s.derive(t, first, second)
	want := s.see(t)
	if err := s.index.Close(); err != nil {
		t.Fatal(err)
	}
	index := indexstore.Path(dir, "main")
	storetest.Exec(t, index, "UPDATE meta SET chunks = 7") // its tables do not agree: it is replaced
	s.openIndex(t, dir)
	if got := s.units(t, memory.UnitQuery{}); got != nil {
		t.Errorf("of an empty index: %q", got)
	}
	if uncut, err := s.Uncut(t.Context(), "rules", 10); err != nil || len(uncut) > 0 {
		t.Fatal(uncut, err)
	}
	if _, err := s.DropDetached(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.sync(t, second, first)
	if n := s.derive(t, first, second); n != 0 {
		t.Errorf("%d episodes are read again", n)
	}
	if diff := cmp.Diff(want, s.see(t)); diff != "" {
		t.Error(diff)
	}
}

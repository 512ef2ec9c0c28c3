package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/seam"
	"kioku/indexer"
	"kioku/memory"
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
	entities, err := s.Entities(t.Context(), seam.EntityQuery{MaxSensitivity: memory.Secret})
	if err != nil || len(entities) > 0 {
		t.Errorf("entities %v, %v", entities, err)
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

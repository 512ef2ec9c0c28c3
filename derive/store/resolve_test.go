package store_test

import (
	"bytes"
	"os"
	"testing"

	"kioku/derive/resolve"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// Decisions about a fact hold when its subject is merged into another entity, also in an index that never had it under its old name.
func TestDerivedDecisionsSurviveAMerge(t *testing.T) {
	t.Parallel()
	file := noteFile("memory/2026-03-01.md", "Dario lives_in Porto", "DC uses vim", "DC uses vi")
	merge := unit.Decision{Verb: unit.DecideMerge, Kind: "entity", Target: vocab.EntityUID(person("DC")), Other: vocab.EntityUID(person("Dario"))}
	derive := func(decisions ...unit.Decision) memory.UnitList {
		t.Helper()
		s := openDerived(t, t.TempDir())
		s.decide(t, decisions...)
		s.sync(t, file)
		s.derive(t, file)
		s.decide(t, decisions...)
		// The fixture makes units by a resolver of its own.
		if err := s.MakeAnew(t.Context(), "resolve v1"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ResolveDirty(t.Context(), 1000, *s.now, resolve.Units(vocab.Default())); err != nil {
			t.Fatal(err)
		}
		list, err := s.Units(t.Context(), memory.UnitQuery{Predicate: "uses"})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	var pin, forget unit.Decision
	for _, u := range derive().Units {
		if u.Fact.Object == "vim" {
			pin = unit.Decision{Verb: unit.DecidePin, Kind: memory.KindFact, Target: u.UID}
		} else {
			forget = unit.Decision{Verb: unit.DecideForget, Kind: memory.KindFact, Target: u.Fact.Key}
		}
	}
	list := derive(pin, forget, merge)
	if len(list.Units) != 1 || !list.Units[0].Pinned || list.Units[0].Fact.Subject != person("Dario") || list.Units[0].Fact.Object != "vim" {
		t.Errorf("after the merge: %+v", list.Units)
	}
}

// A file that is replaced while its slots are made anew is asked again how many there are.
func TestResolveDirtyCountsInTheNewFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDerived(t, dir)
	f := noteFile("memory/2026-03-01.md", "Dario lives_in Porto", "Ana likes tea")
	s.sync(t, f)
	s.derive(t, f)
	if err := s.MakeAnew(t.Context(), "rules v2"); err != nil {
		t.Fatal(err)
	}
	s.close(t) // writes all pages to the file
	s = openDerived(t, dir)
	left, err := s.ResolveDirty(t.Context(), 1000, *s.now, func(slot unit.Slot) []memory.Unit {
		data, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		const page = 4096
		for at := page; at < len(data); at += page {
			copy(data[at:], bytes.Repeat([]byte{0xa5}, page/2))
		}
		if err := os.WriteFile(s.path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return resolveSlot(slot)
	})
	if err != nil || left != 0 {
		t.Errorf("%d slots are left, %v", left, err)
	}
}

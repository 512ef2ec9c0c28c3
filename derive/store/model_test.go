package store_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
)

// modelLines are what the notes of the model say.
var modelLines = []string{"Dario lives_in Porto", "Dario lives_in Lisbon", "DC lives_in Faro", "Ana likes tea", "Ana likes rain (private)",
	"TODO call Ana", "DONE call Ana", "Ana friend= Dario", "ハル likes 抹茶", "TODO write to DC",
	"TOPIC: Dario", "TOPIC: DC", "PLACE: Dario", "OTHER: ハル",
	"PERSON: Dario Venn = Dario", "PERSON: Dario Conti = DC", "PERSON: Dario Conti", "PERSON: DC = Dario Conti"}

// state is what can be seen of what is derived.
type state struct {
	Units    []string
	Entities []string
	Matched  []string
}

// see returns what can be seen.
func (s derivedStore) see(t *testing.T) state {
	t.Helper()
	var seen state
	list, err := s.Units(t.Context(), memory.UnitQuery{IncludeSuperseded: true, MaxSensitivity: memory.Secret, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list.Units {
		slices.SortFunc(u.Evidence, func(a, b memory.Evidence) int { return bytes.Compare([]byte(fmt.Sprint(a)), []byte(fmt.Sprint(b))) })
	}
	seen.Units = sorted(said(list.Units))
	entities, err := s.Entities(t.Context(), store.EntityQuery{MaxSensitivity: memory.Secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entities {
		seen.Entities = append(seen.Entities, fmt.Sprint(e.Name, e.Aliases, e.MergedInto, e.Mentions, e.LastSeen))
	}
	slices.Sort(seen.Entities)
	matched, err := s.MatchUnits(t.Context(), []string{"ana", "dario", "抹茶"}, memory.UnitQuery{IncludeSuperseded: true, MaxSensitivity: memory.Secret, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matched {
		seen.Matched = append(seen.Matched, m.UID)
	}
	slices.Sort(seen.Matched)
	return seen
}

// What is derived is a function of the notes and of the decisions: after any changes, in any order and batches, it is what a fresh
// index has.
func TestDerivedStateIsThatOfAFreshIndex(t *testing.T) {
	t.Parallel()
	first := testkit.Seed()
	for seed := first; seed < first+uint64(testkit.Rounds(60, 12)); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 16))
			s := openDerived(t, t.TempDir())
			notes := map[string]indexer.File{}
			var decisions []unit.Decision
			for range 25 {
				s.step(t, r, notes, &decisions)
			}
			s.derive(t, slices.Collect(maps.Values(notes))...)
			fresh := openDerived(t, t.TempDir())
			fresh.sync(t, slices.Collect(maps.Values(notes))...)
			fresh.decide(t, decisions...)
			fresh.derive(t, slices.Collect(maps.Values(notes))...)
			if diff := cmp.Diff(fresh.see(t), s.see(t)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// step changes notes or decisions, or derives from some.
func (s derivedStore) step(t *testing.T, r *rand.Rand, notes map[string]indexer.File, decisions *[]unit.Decision) {
	t.Helper()
	name := func() string { return fmt.Sprintf("memory/2026-0%d-01.md", 1+r.IntN(6)) }
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		var lines []string
		for range r.IntN(5) {
			lines = append(lines, modelLines[r.IntN(len(modelLines))])
		}
		f := noteFile(name(), append(lines, "# end")...)
		notes[f.Path] = f
		s.sync(t, f)
	case 4:
		path := name()
		delete(notes, path)
		s.sync(t, indexer.File{Path: path, Gone: true})
	case 5:
		from := name()
		f, ok := notes[from]
		if !ok {
			return
		}
		delete(notes, from)
		f.Path = "memory/moved/" + from[len("memory/"):]
		notes[f.Path] = f
		s.sync(t, f, indexer.File{Path: from, Gone: true})
	case 6:
		s.rebuild(t, slices.Collect(maps.Values(notes))...)
	case 7:
		*decisions = randomDecisions(r)
		if err := s.PutDecisions(t.Context(), *decisions); err != nil {
			t.Fatal(err)
		}
	default:
		s.derive(t, slices.Collect(maps.Values(notes))...)
	}
}

// randomDecisions returns a merge, a pin and something forgotten, or none of them.
func randomDecisions(r *rand.Rand) []unit.Decision {
	var list []unit.Decision
	if r.IntN(2) == 0 {
		list = append(list, unit.Decision{Verb: unit.DecideMerge, Kind: "entity", Target: vocab.EntityUID(person("DC")), Other: vocab.EntityUID(person("Dario"))})
	}
	if r.IntN(4) == 0 {
		list = append(list, unit.Decision{Verb: unit.DecideSplit, Kind: "entity", Target: vocab.EntityUID(topic("Dario"))})
	}
	if r.IntN(2) == 0 {
		list = append(list, unit.Decision{Verb: unit.DecidePin, Kind: memory.KindFact, Target: vocab.UnitUID("fact", vocab.EntityUID(person("Ana")), "likes", "tea")})
	}
	if r.IntN(2) == 0 {
		list = append(list, unit.Decision{Verb: unit.DecideForget, Kind: memory.KindFact, Target: vocab.FactKey(person("Dario"), "lives_in", "Porto")})
	}
	return list
}

func TestDerivedBatchIsWrittenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Ana likes tea", "Ana likes rain")
	s.sync(t, f)
	pending, err := s.PendingEpisodes(t.Context(), 1, 10)
	if err != nil || len(pending) != 2 {
		t.Fatal(pending, err)
	}
	good, _ := claimOf(pending[0], "Ana likes tea")
	bad := good
	bad.Kind = "opinion"
	batch := []unit.EpisodeClaims{{Episode: pending[0], Claims: []unit.Claim{good}}, {Episode: pending[1], Claims: []unit.Claim{bad}}}
	if _, err := s.PutClaims(t.Context(), "rule", 1, batch); err == nil {
		t.Fatal("a claim of an unknown kind was written")
	}
	if pending, err = s.PendingEpisodes(t.Context(), 1, 10); err != nil || len(pending) != 2 {
		t.Errorf("%d episodes are pending, %v", len(pending), err)
	}
	s.resolve(t)
	if got := s.units(t, memory.UnitQuery{}); got != nil {
		t.Errorf("%q", got)
	}
	// Claims from a text that is no longer there are left out, and the others are written.
	batch[1].Claims, batch[1].Episode.TextSHA256 = []unit.Claim{good}, [32]byte{}
	gone := batch[0]
	gone.Episode.ID, gone.Episode.UID = 99, "00000000000000000000000000000000"
	stale, err := s.PutClaims(t.Context(), "rule", 1, append(batch, gone))
	if diff := cmp.Diff([]string{batch[1].Episode.UID, gone.Episode.UID}, stale); diff != "" || err != nil {
		t.Error(diff, err)
	}
	s.resolve(t)
	if got := s.units(t, memory.UnitQuery{}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// Damage of a page with what is derived is noticed, and all but the answers of models is made anew.
func TestDerivedPagesHaveChecksums(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDerived(t, dir)
	f := noteFile("memory/2026-11-01.md", "Ana likes xylophones")
	s.sync(t, f)
	s.derive(t, f)
	if err := s.PutAnswer(t.Context(), "facts/1", "m", [32]byte{1}, "the answer", nil, 1, 1); err != nil {
		t.Fatal(err)
	}
	s.close(t)
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.ReplaceAll(data, []byte("xylophones"), []byte("saxophones"))
	if bytes.Equal(damaged, data) {
		t.Fatal("the object is nowhere in the file")
	}
	if err := os.WriteFile(s.path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openDerived(t, dir)
	if got := s.units(t, memory.UnitQuery{}); got != nil {
		t.Errorf("a forged fact: %q", got)
	}
	s.sync(t, f)
	s.derive(t, f)
	if diff := cmp.Diff([]string{"Ana likes xylophones (since 2026-11-01) @memory/2026-11-01.md:1"}, s.units(t, memory.UnitQuery{})); diff != "" {
		t.Error(diff)
	}
	for of, want := range map[[2]string]string{{"facts/1", "m"}: "the answer", {"facts/1", "n"}: "", {"facts/2", "m"}: ""} {
		if got, err := s.CachedAnswer(t.Context(), of[0], of[1], [32]byte{1}); got != want || err != nil {
			t.Errorf("%v: %q, %v", of, got, err)
		}
	}
	if found, err := s.Check(t.Context(), true); err != nil || len(found) > 0 {
		t.Errorf("found %q, %v", found, err)
	}
}

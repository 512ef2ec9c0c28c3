package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/indexer"
	"kioku/memory"
)

// day returns noon of a day.
func day(date string) time.Time {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return d.Add(12 * time.Hour)
}

// moves are notes in which somebody moves, with what was said when.
func moves() []indexer.File {
	return []indexer.File{noteFile("memory/2026-03-01.md", "Dario lives_in Porto", "TODO call Ana"),
		noteFile("memory/2026-10-01.md", "Dario lives_in Lisbon", "DONE call Ana")}
}

func TestDerivedUnitsAsOfATime(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	files := moves()
	s.sync(t, files...)
	s.derive(t, files...)
	facts := func(q memory.UnitQuery) []string {
		q.Kinds = []string{memory.KindFact}
		return objects(t, s, q)
	}
	for _, tt := range []struct {
		name string
		got  []string
		want []string
	}{
		{"now", facts(memory.UnitQuery{}), []string{"Lisbon"}},
		{"before", facts(memory.UnitQuery{AsOf: day("2026-02-28")}), nil},
		{"first", facts(memory.UnitQuery{AsOf: day("2026-05-01")}), []string{"Porto"}},
		{"on the day of the move", facts(memory.UnitQuery{AsOf: day("2026-10-01")}), []string{"Lisbon"}},
		{"superseded too", facts(memory.UnitQuery{IncludeSuperseded: true}), []string{"Lisbon", "Porto"}},
		{"superseded only", facts(memory.UnitQuery{States: []string{memory.StateSuperseded}}), []string{"Porto"}},
		{"of a predicate", facts(memory.UnitQuery{Predicate: "likes"}), nil},
		{"of an entity", facts(memory.UnitQuery{Entity: vocab.EntityUID(person("Dario"))}), []string{"Lisbon"}},
		{"of an unknown entity", facts(memory.UnitQuery{Entity: vocab.EntityUID(person("Nobody"))}), nil},
		{"open loops", objects(t, s, memory.UnitQuery{Kinds: []string{memory.KindLoop}}), nil},
		{"loops of then", objects(t, s, memory.UnitQuery{Kinds: []string{memory.KindLoop}, AsOf: day("2026-03-20")}), []string{"call Ana"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestDerivedLoopsAsOfATime(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	files := []indexer.File{noteFile("memory/2026-03-01.md", "TODO call Ana", "TODO wait"), noteFile("memory/2026-03-10.md", "DONE call Ana")}
	s.sync(t, files...)
	s.derive(t, files...)
	for at, want := range map[string][]string{"2026-02-28": nil, "2026-03-05": {"call Ana", "wait"}, "2026-03-11": {"wait"}, "2026-04-03": nil} {
		got := objects(t, s, memory.UnitQuery{Kinds: []string{memory.KindLoop}, AsOf: day(at)})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("as of %s: %s", at, diff)
		}
	}
}

// objects returns the objects of the facts and the texts of the loops of a query.
func objects(t *testing.T, s derivedStore, q memory.UnitQuery) []string {
	t.Helper()
	list, err := s.Units(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range list.Units {
		if u.Fact != nil {
			names = append(names, u.Fact.Object)
		} else if u.Loop != nil {
			names = append(names, u.Loop.Text)
		}
	}
	return names
}

func TestDerivedUnitsBelievedAtATime(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	files := moves()
	*s.now = day("2026-03-02")
	s.sync(t, files[0])
	s.derive(t, files[0])
	*s.now = day("2026-10-02")
	s.sync(t, files[1])
	s.derive(t, files[1])
	facts := func(at string) []string {
		return objects(t, s, memory.UnitQuery{Kinds: []string{memory.KindFact}, BelievedAt: day(at)})
	}
	want := [][]string{nil, {"Porto"}, {"Lisbon"}}
	got := [][]string{facts("2026-03-01"), facts("2026-09-30"), facts("2026-10-03")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	list, err := s.Units(t.Context(), memory.UnitQuery{States: []string{memory.StateSuperseded}})
	if err != nil || len(list.Units) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	versions, err := s.History(t.Context(), list.Units[0].UID[:8])
	if err != nil || len(versions) != 2 {
		t.Fatalf("%v, %v", versions, err)
	}
	var then memory.Unit
	if err := json.Unmarshal([]byte(versions[1].Payload), &then); err != nil {
		t.Fatal(err)
	}
	if then.State != memory.StateValidated || then.Fact.To != "" || versions[1].Reason != "claims" || !versions[1].RecordedAt.Equal(day("2026-03-02")) {
		t.Errorf("the first version is %+v of %v", then, versions[1])
	}
}

func TestDerivedClaimsStayWhereFilesMoveOrAreCutAgain(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	files := moves()
	s.sync(t, files...)
	s.derive(t, files...)
	renamed := files[0]
	renamed.Path = "memory/old/2026-03-01.md"
	s.sync(t, indexer.File{Path: files[0].Path, Gone: true}, renamed)
	if n := s.derive(t, renamed, files[1]); n != 0 {
		t.Errorf("%d episodes were read again after a move", n)
	}
	s.rebuild(t, renamed, files[1])
	if n := s.derive(t, renamed, files[1]); n != 0 {
		t.Errorf("%d episodes were read again after a rebuild", n)
	}
	want := []string{"Dario lives in Porto (2026-03-01 to 2026-09-30) @memory/old/2026-03-01.md:1"}
	if diff := cmp.Diff(want, s.units(t, memory.UnitQuery{States: []string{memory.StateSuperseded}})); diff != "" {
		t.Error(diff)
	}
}

// A fact whose text comes back within a week has its history.
func TestDerivedUnitsComeBackWithTheirVersions(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Dario lives_in Porto")
	s.sync(t, f)
	s.derive(t, f)
	s.sync(t, indexer.File{Path: f.Path, Gone: true})
	s.resolve(t)
	*s.now = s.now.Add(24 * time.Hour)
	s.sync(t, f)
	s.derive(t, f)
	list, err := s.Units(t.Context(), memory.UnitQuery{})
	if err != nil || len(list.Units) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if u := list.Units[0]; u.Version != 1 || !u.RecordedAt.Equal(derivedNow) {
		t.Errorf("version %d, recorded at %v", u.Version, u.RecordedAt)
	}
	s.sync(t, indexer.File{Path: f.Path, Gone: true})
	s.resolve(t)
	if _, err := s.Expire(t.Context(), s.now.Add(8*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	s.resolve(t)
	stats, err := s.Stats(t.Context(), *s.now)
	if err != nil || len(stats.Units)+len(stats.Entities)+stats.Episodes > 0 {
		t.Errorf("left %+v, %v", stats, err)
	}
}

func TestDerivedUnitsAboveTheCeilingAreCounted(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Ana likes tea", "Ana likes karaoke (private)")
	s.sync(t, f)
	s.derive(t, f)
	list, err := s.Units(t.Context(), memory.UnitQuery{})
	if err != nil || len(list.Units) != 1 || list.Total != 1 || list.Withheld != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = s.Units(t.Context(), memory.UnitQuery{MaxSensitivity: memory.Private}); err != nil || len(list.Units) != 2 || list.Withheld != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if matched, err := s.MatchUnits(t.Context(), []string{"karaok"}, memory.UnitQuery{}); err != nil || len(matched) > 0 {
		t.Errorf("%+v, %v", matched, err)
	}
}

func TestDerivedUnitsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	var lines []string
	for i := range 25 {
		lines = append(lines, fmt.Sprintf("Ana likes thing%d", i))
	}
	f := noteFile("memory/2026-11-01.md", lines...)
	s.sync(t, f)
	s.derive(t, f)
	seen := map[string]bool{}
	q := memory.UnitQuery{Limit: 10}
	for page := 1; ; page++ {
		list, err := s.Units(t.Context(), q)
		if err != nil || list.Total != 25 {
			t.Fatalf("%d, %v", list.Total, err)
		}
		for _, u := range list.Units {
			if seen[u.UID] || len(u.Evidence) != 1 {
				t.Errorf("%s twice, or without evidence", u.UID)
			}
			seen[u.UID] = true
		}
		if q.After = list.Next; q.After == "" {
			break
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d units", len(seen))
	}
	q.After = strings.Repeat("0", 32)
	var input *memory.InputError
	if _, err := s.Units(t.Context(), q); !errors.As(err, &input) {
		t.Errorf("an unknown place: %v", err)
	}
}

func TestDerivedUIDsMayBeCutShort(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	resolve := func(slot unit.Slot) []memory.Unit { // two UIDs that begin alike
		units := resolveSlot(slot)
		for i := range units {
			units[i].UID = fmt.Sprintf("abcdef%d%s", i, units[i].UID[7:])
		}
		return units
	}
	f := noteFile("memory/2026-11-01.md", "Ana likes tea", "Ana likes rain")
	s.sync(t, f)
	pending, err := s.PendingEpisodes(t.Context(), 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range pending {
		c, _ := claimOf(e, f.Chunks[i].Text)
		if _, err := s.PutClaims(t.Context(), "rule", 1, []unit.EpisodeClaims{{Episode: e, Claims: []unit.Claim{c}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.ResolveDirty(t.Context(), 10, *s.now, resolve); err != nil {
		t.Fatal(err)
	}
	if got := objects(t, s, memory.UnitQuery{UIDs: []string{"abcdef1"}}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	for _, uid := range []string{"abcdef", "abc", "ABCDEF1", "abcdef%"} {
		var input *memory.InputError
		_, err := s.Units(t.Context(), memory.UnitQuery{UIDs: []string{uid}})
		if !errors.As(err, &input) || uid == "abcdef" && !strings.Contains(input.Problem, "abcdef0") {
			t.Errorf("%s: %v", uid, err)
		}
	}
	if got := objects(t, s, memory.UnitQuery{UIDs: []string{"123456"}}); got != nil {
		t.Errorf("%q", got)
	}
}

func TestDerivedMatchRanksUnits(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Ana likes green tea", "Ana likes green houses", "Ana likes rain", "ハル likes 抹茶ラテ", "TODO buy tea")
	s.sync(t, f)
	s.derive(t, f)
	match := func(q memory.UnitQuery, terms ...string) []string {
		t.Helper()
		scored, err := s.MatchUnits(t.Context(), terms, q)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for i, u := range scored {
			if u.Score > 1 || u.Score <= 0 || i == 0 && u.Score != 1 || len(u.Evidence) == 0 {
				t.Errorf("score %g of %s", u.Score, u.UID)
			}
			list = append(list, strings.TrimSuffix(vocab.Text(u.Unit), " (since 2026-11-01)"))
		}
		return list
	}
	for _, tt := range []struct {
		q     memory.UnitQuery
		terms []string
		want  []string
	}{
		{memory.UnitQuery{Kinds: []string{memory.KindFact}}, []string{"green", "tea"}, []string{"Ana likes green tea", "Ana likes green houses"}},
		{memory.UnitQuery{Kinds: []string{memory.KindLoop}}, []string{"green", "tea"}, []string{"Open: buy tea"}},
		{memory.UnitQuery{}, []string{"抹茶"}, []string{"ハル likes 抹茶ラテ"}},
		{memory.UnitQuery{}, []string{`"; DROP`, "nothing"}, nil},
		{memory.UnitQuery{}, nil, nil},
	} {
		if diff := cmp.Diff(tt.want, match(tt.q, tt.terms...)); diff != "" {
			t.Errorf("%q: %s", tt.terms, diff)
		}
	}
}

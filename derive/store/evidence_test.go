package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
	"kioku/derive/unit"
	"kioku/indexer"
	"kioku/memory"
)

// TestDerivedUnitsHaveEvidenceThatTheFilterAdmits also shows that only that evidence is cited.
func TestDerivedUnitsHaveEvidenceThatTheFilterAdmits(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	note := noteFile("memory/2026-11-01.md", "Dario lives_in Porto", "TODO call Ana")
	note.Meta.Fields = []chunker.Field{{Name: "status", Values: []string{"done"}}}
	talk := noteFile("sessions/2026-11-03.md", "Dario lives_in Porto", "Ana likes tea")
	talk.Source = memory.SourceSessions
	standing := noteFile("MEMORY.md", "Ana likes jazz")
	files := []indexer.File{note, talk, standing}
	s.sync(t, files...)
	s.derive(t, files...)
	const (
		porto = "Dario lives in Porto (since 2026-11-01)"
		tea   = "Ana likes tea (since 2026-11-03) @sessions/2026-11-03.md:2"
		call  = "Open: call Ana @memory/2026-11-01.md:2"
	)
	jazz := s.units(t, memory.UnitQuery{Filter: memory.Filter{PathPrefix: "MEMORY.md"}})
	if len(jazz) != 1 {
		t.Fatalf("%q", jazz)
	}
	for name, c := range map[string]struct {
		filter memory.Filter
		want   []string
	}{
		"none":        {memory.Filter{}, []string{porto + " @memory/2026-11-01.md:1 @sessions/2026-11-03.md:1", tea, call, jazz[0]}},
		"a source":    {memory.Filter{Sources: []string{memory.SourceMemory, memory.SourceExtra}}, []string{porto + " @memory/2026-11-01.md:1", call, jazz[0]}},
		"transcripts": {memory.Filter{Sources: []string{memory.SourceSessions}}, []string{"Dario lives in Porto @sessions/2026-11-03.md:1", tea}},
		"a folder":    {memory.Filter{PathPrefix: "sessions/"}, []string{"Dario lives in Porto @sessions/2026-11-03.md:1", tea}},
		"since":       {memory.Filter{Since: "2026-11-02T08:00:00Z"}, []string{"Dario lives in Porto @sessions/2026-11-03.md:1", tea}},
		"until":       {memory.Filter{Until: "2026-11-02"}, []string{porto + " @memory/2026-11-01.md:1", call}},
		"a field":     {memory.Filter{Where: []memory.Condition{{Field: "Status", Values: []string{"done"}}}}, []string{porto + " @memory/2026-11-01.md:1", call}},
		"nothing":     {memory.Filter{PathPrefix: "elsewhere/"}, nil},
	} {
		if diff := cmp.Diff(c.want, s.units(t, memory.UnitQuery{Filter: c.filter}), cmp.Transformer("sorted", sorted)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	matched, err := s.MatchUnits(t.Context(), []string{"tea"}, memory.UnitQuery{Filter: memory.Filter{PathPrefix: "memory/"}})
	if err != nil || len(matched) > 0 {
		t.Errorf("matched %v, %v", matched, err)
	}
	var bad *memory.InputError
	if _, err := s.Units(t.Context(), memory.UnitQuery{Filter: memory.Filter{Sources: []string{"dreams"}}}); !errors.As(err, &bad) {
		t.Errorf("error %v of a source that there is not", err)
	}
}

// Days that only evidence tells which the filter leaves out are not shown, and select nothing.
func TestDerivedDaysAreThoseOfEvidenceThatTheFilterAdmits(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	first, talk, moved := noteFile("memory/2026-10-01.md", "Dario lives_in Porto"), noteFile("sessions/2026-10-20.md", "Dario lives_in Porto"), noteFile("memory/2026-11-01.md", "Dario lives_in Rome")
	talk.Source = memory.SourceSessions
	s.sync(t, first, talk, moved)
	s.derive(t, first, talk, moved)
	q := memory.UnitQuery{IncludeSuperseded: true, Predicate: "lives_in"}
	if diff := cmp.Diff([]string{"Dario lives in Porto (2026-10-01 to 2026-10-31) @memory/2026-10-01.md:1 @sessions/2026-10-20.md:1", "Dario lives in Rome (since 2026-11-01) @memory/2026-11-01.md:1"}, sorted(s.units(t, q))); diff != "" {
		t.Error(diff)
	}
	q.Filter.Sources = []string{memory.SourceSessions}
	for _, day := range []int{0, 2, 25} {
		q.AsOf = time.Time{}
		want := []string{"Dario lives in Porto @sessions/2026-10-20.md:1"}
		if day > 0 {
			q.AsOf = time.Date(2026, 10, day, 12, 0, 0, 0, time.UTC)
		}
		if day == 2 {
			want = nil // on this day nobody said so in a conversation
		}
		if diff := cmp.Diff(want, s.units(t, q)); diff != "" {
			t.Errorf("as of %v: %s", q.AsOf, diff)
		}
	}
	list, err := s.Units(t.Context(), memory.UnitQuery{IncludeSuperseded: true, Filter: q.Filter})
	if err != nil || len(list.Units) != 1 || !list.Units[0].OccurredAt.Equal(time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestDerivedSummariesAreLeftOutIfTheFilterLeavesOutAnyOfTheirEpisodes(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	note, talk := noteFile("memory/2026-11-01.md", "Dario lives_in Porto"), noteFile("sessions/2026-11-01.md", "Ana likes tea")
	s.sync(t, note, talk)
	s.derive(t, note, talk)
	put := func(key string, episodes ...string) {
		u := memory.Unit{UID: key, Kind: memory.KindSummary, State: memory.StateValidated, Source: "rule", Trust: memory.SpeakerNote,
			Summary: &memory.Summary{Scope: memory.ScopeTopic, Key: key, Text: "about " + key}}
		if err := s.PutSummary(t.Context(), u, episodes, "test"); err != nil {
			t.Fatal(err)
		}
	}
	put("aaaaaa", episodesOf(note)[0].UID)
	put("bbbbbb", episodesOf(note)[0].UID, episodesOf(talk)[0].UID)
	q := memory.UnitQuery{Kinds: []string{memory.KindSummary}}
	if got := s.units(t, q); len(got) != 2 {
		t.Fatalf("%q", got)
	}
	q.Filter.PathPrefix = "memory/"
	if diff := cmp.Diff([]string{"about aaaaaa @memory/2026-11-01.md:1"}, s.units(t, q)); diff != "" {
		t.Error(diff)
	}
}

// TestDerivedConflictsWithHiddenFactsAreNotShown hides one side of a conflict by its sensitivity and by the filter.
func TestDerivedConflictsWithHiddenFactsAreNotShown(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f, talk := noteFile("memory/2026-11-01.md", "Ana works_at Acme", "Ana works_at Foo (private)"), noteFile("sessions/2026-11-01.md", "Ana works_at Bar")
	talk.Source = memory.SourceSessions
	s.sync(t, f, talk)
	s.derive(t, f, talk)
	all := memory.UnitQuery{MaxSensitivity: memory.Secret}
	s.oppose(t, "works_at")
	for name, c := range map[string]struct {
		q    memory.UnitQuery
		want []int
	}{
		"all":                           {all, []int{2, 2, 2}},
		"normal":                        {memory.UnitQuery{}, []int{1, 1}},
		"one source":                    {memory.UnitQuery{MaxSensitivity: memory.Secret, Filter: memory.Filter{Sources: []string{memory.SourceSessions}}}, []int{0}},
		"normal of one source":          {memory.UnitQuery{Filter: memory.Filter{Sources: []string{memory.SourceMemory}}}, []int{0}},
		"conflicts of a source":         {memory.UnitQuery{States: []string{memory.StateConflict}, Filter: memory.Filter{Sources: []string{memory.SourceSessions}}}, nil},
		"believed, normal, of a source": {memory.UnitQuery{BelievedAt: s.now.Add(time.Hour), Filter: memory.Filter{Sources: []string{memory.SourceMemory}}}, []int{0}},
	} {
		list, err := s.Units(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, u := range list.Units {
			got = append(got, len(u.Fact.Opposes))
			if is := u.State == memory.StateConflict; is != (len(u.Fact.Opposes) > 0) {
				t.Errorf("%s: %s is in state %s with conflicts %v", name, u.Fact.Object, u.State, u.Fact.Opposes)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// oppose makes all facts of a slot contradict each other.
func (s derivedStore) oppose(t *testing.T, slot string) {
	t.Helper()
	if err := s.MakeAnew(t.Context(), "opposed"); err != nil {
		t.Fatal(err)
	}
	_, err := s.ResolveDirty(t.Context(), 100, *s.now, func(sl unit.Slot) []memory.Unit {
		units := resolveSlot(sl)
		for i := range units {
			for j := range units {
				if sl.Name == slot && i != j {
					units[i].State = memory.StateConflict
					units[i].Fact.Opposes = append(units[i].Fact.Opposes, units[j].UID)
				}
			}
		}
		return units
	})
	if err != nil {
		t.Fatal(err)
	}
}

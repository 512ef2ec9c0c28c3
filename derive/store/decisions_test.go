package store_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/indexer"
	"kioku/memory"
)

// decide mirrors decisions, and makes anew what they have changed.
func (s derivedStore) decide(t testing.TB, decisions ...unit.Decision) {
	t.Helper()
	if err := s.PutDecisions(t.Context(), decisions); err != nil {
		t.Fatal(err)
	}
	s.resolve(t)
}

func TestDerivedDecisionsChangeTheirUnit(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Ana likes tea", "Ana likes rain")
	tea := vocab.UnitUID("fact", vocab.EntityUID(person("Ana")), "likes", "tea")
	pin := unit.Decision{Day: "2026-11-20", Verb: unit.DecidePin, Kind: memory.KindFact, Target: tea}
	s.decide(t, pin) // before the unit exists
	s.sync(t, f)
	s.derive(t, f)
	pinned := func() []string {
		list, err := s.Units(t.Context(), memory.UnitQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, u := range list.Units {
			if u.Pinned {
				names = append(names, u.Fact.Object)
			}
		}
		return names
	}
	if diff := cmp.Diff([]string{"tea"}, pinned()); diff != "" {
		t.Error(diff)
	}
	if got := objects(t, s, memory.UnitQuery{}); got[0] != "tea" {
		t.Errorf("pinned ones are first: %q", got)
	}
	s.decide(t)
	if got := pinned(); got != nil {
		t.Errorf("%q", got)
	}
	versions, err := s.History(t.Context(), tea)
	if err != nil || len(versions) != 2 || versions[0].Reason != "decision" {
		t.Errorf("%+v, %v", versions, err)
	}
}

func TestDerivedMergedEntitiesShareTheirSlots(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	files := []indexer.File{noteFile("memory/2026-03-01.md", "Dario lives_in Porto", "Ana friend= DC"), noteFile("memory/2026-10-01.md", "DC lives_in Lisbon")}
	s.sync(t, files...)
	s.derive(t, files...)
	dario, dc := vocab.EntityUID(person("Dario")), vocab.EntityUID(person("DC"))
	facts := func() []string { return sorted(s.units(t, memory.UnitQuery{})) }
	apart := []string{"DC lives in Lisbon (since 2026-10-01) @memory/2026-10-01.md:1", "Dario lives in Porto (since 2026-03-01) @memory/2026-03-01.md:1"}
	if diff := cmp.Diff(apart, facts()); diff != "" {
		t.Error(diff)
	}
	merge := unit.Decision{Verb: unit.DecideMerge, Kind: "entity", Target: dc, Other: dario}
	circle := unit.Decision{Verb: unit.DecideMerge, Kind: "entity", Target: dario, Other: dc}
	for _, decisions := range [][]unit.Decision{{merge}, {merge, circle}} {
		s.decide(t, decisions...)
		want := []string{"Dario lives in Lisbon (since 2026-10-01) @memory/2026-10-01.md:1"}
		if diff := cmp.Diff(want, facts()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, s.units(t, memory.UnitQuery{Entity: dc})); diff != "" {
			t.Error("by the merged entity:", diff)
		}
	}
	list, err := s.Entities(t.Context(), store.EntityQuery{Norms: []string{vocab.Norm("dc")}, MaxSensitivity: memory.Secret})
	if err != nil || len(list) != 1 || list[0].Name != "Dario" || list[0].Mentions != 3 || !cmp.Equal(list[0].Aliases, []string{"DC"}) {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = s.Entities(t.Context(), store.EntityQuery{UIDs: []string{dc[:10]}, MaxSensitivity: memory.Secret}); err != nil || len(list) != 1 || list[0].MergedInto != dario {
		t.Errorf("%+v, %v", list, err)
	}
	episodes, err := s.EpisodesOf(t.Context(), dario, 10)
	if err != nil || len(episodes) != 3 {
		t.Errorf("%d episodes, %v", len(episodes), err)
	}
	s.decide(t, merge, unit.Decision{Verb: unit.DecideSplit, Kind: "entity", Target: dc})
	if diff := cmp.Diff(apart, facts()); diff != "" {
		t.Error("after the split:", diff)
	}
	s.decide(t, merge)
	s.decide(t)
	if diff := cmp.Diff(apart, facts()); diff != "" {
		t.Error("after the merge was taken back:", diff)
	}
}

// A name of which no type is known is that of the only entity of the name that has one, until a person splits them.
func TestDerivedUntypedNamesAreMerged(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	files := []indexer.File{
		noteFile("memory/2026-03-01.md", "Dario lives_in Porto"), noteFile("memory/2026-03-02.md", "TOPIC: dario"), noteFile("memory/2026-03-03.md", "TOPIC: Casa"),
	}
	place := noteFile("memory/2026-03-04.md", "PLACE: Dario")
	s.sync(t, files...)
	s.derive(t, files...)
	dario, untyped := vocab.EntityUID(person("Dario")), vocab.EntityUID(topic("Dario"))
	mentions := func() (all []string) {
		t.Helper()
		list, err := s.Entities(t.Context(), store.EntityQuery{MaxSensitivity: memory.Secret})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			into := map[string]string{"": "", dario: " is Dario"}[e.MergedInto]
			all = append(all, fmt.Sprint(e.Type, " ", e.Name, " ", e.Mentions, into))
		}
		return sorted(all)
	}
	apart := []string{"PERSON Dario 1", "TOPIC Casa 1", "TOPIC dario 1"}
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"one has a type", func() {}, []string{"PERSON Dario 2", "TOPIC Casa 1", "TOPIC dario 2 is Dario"}},
		{"two have a type", func() { s.sync(t, place); s.derive(t, place) }, append([]string{"PERSON Dario 1", "PLACE Dario 1"}, apart[1:]...)},
		{"one has a type again", func() { s.sync(t, indexer.File{Path: place.Path, Gone: true}); s.resolve(t) },
			[]string{"PERSON Dario 2", "TOPIC Casa 1", "TOPIC dario 2 is Dario"}},
		{"split by a person", func() { s.decide(t, unit.Decision{Verb: unit.DecideSplit, Kind: "entity", Target: untyped}) }, apart},
		{"not any more", func() { s.decide(t) }, []string{"PERSON Dario 2", "TOPIC Casa 1", "TOPIC dario 2 is Dario"}},
		{"none has a type", func() { s.sync(t, indexer.File{Path: files[0].Path, Gone: true}); s.resolve(t) }, apart[1:]},
	} {
		step.do()
		if diff := cmp.Diff(step.want, mentions()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

// An alias that a person has written joins two entities wherever only one can be meant.
func TestDerivedWrittenAliasesAreMerged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, short, full, other string }{
		{"English", "Clara", "Clara Whitfield", "Clara Chen"},
		{"Japanese", "田中", "田中太郎", "田中花子"},
		{"Chinese", "小王", "王伟", "王强"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := openDerived(t, t.TempDir())
			said := noteFile("memory/2026-03-02.md", c.short+" lives_in Leeds", "TOPIC: "+c.short)
			list := noteFile("MEMORY.md", "PERSON: "+c.full+" = "+c.short)
			likely := noteFile("MEMORY.md", "PERSON: "+c.full+" ~ "+c.short)
			second := noteFile("memory/2026-03-03.md", "PERSON: "+c.other+" = "+c.short)
			short, full := vocab.EntityUID(person(c.short)), vocab.EntityUID(person(c.full))
			apart, joined := c.short+" lives in Leeds (since 2026-03-02)", c.full+" lives in Leeds (since 2026-03-02)"
			for _, step := range []struct {
				name string
				do   func()
				want string
			}{
				{"no alias", func() { s.sync(t, said); s.derive(t, said) }, apart},
				{"a likely one", func() { s.sync(t, likely); s.derive(t, likely) }, apart},
				{"a written one", func() { s.sync(t, list); s.derive(t, list) }, joined},
				{"two people", func() { s.sync(t, second); s.derive(t, second) }, apart},
				{"one again", func() { s.sync(t, indexer.File{Path: second.Path, Gone: true}); s.resolve(t) }, joined},
				{"split", func() { s.decide(t, unit.Decision{Verb: unit.DecideSplit, Kind: "entity", Target: short}) }, apart},
				{"not any more", func() { s.decide(t) }, joined},
				{"merged the other way", func() {
					s.decide(t, unit.Decision{Verb: unit.DecideMerge, Kind: "entity", Target: full, Other: short})
				}, apart},
				{"taken back", func() { s.decide(t) }, joined},
				{"unwritten", func() { s.sync(t, likely); s.derive(t, likely) }, apart},
			} {
				step.do()
				got := s.units(t, memory.UnitQuery{})
				if diff := cmp.Diff([]string{step.want + " @memory/2026-03-02.md:1"}, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", step.name, diff)
				}
			}
		})
	}
}

// What notes have changed has not been decided by anybody.
func TestDerivedHistoryTellsWhatHasMerged(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	said, list := noteFile("memory/2026-03-02.md", "Ana likes Clara", "Clara lives_in Leeds"), noteFile("MEMORY.md", "PERSON: Clara Whitfield = Clara")
	s.sync(t, said)
	s.derive(t, said)
	reasons := func() (all []string) {
		t.Helper()
		found, err := s.Units(t.Context(), memory.UnitQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range found.Units {
			versions, err := s.History(t.Context(), u.UID)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range versions {
				all = append(all, u.Fact.Subject.Name+" "+v.Reason)
			}
		}
		return sorted(all)
	}
	s.sync(t, list)
	s.derive(t, list)
	if diff := cmp.Diff([]string{"Ana claims", "Clara Whitfield claims"}, reasons()); diff != "" {
		t.Errorf("joined by an alias (-want +got):\n%s", diff)
	}
	s.decide(t, unit.Decision{Verb: unit.DecideMerge, Kind: "entity", Target: vocab.EntityUID(person("Ana")), Other: vocab.EntityUID(person("Clara Whitfield"))})
	if diff := cmp.Diff([]string{"Clara Whitfield claims", "Clara Whitfield decision"}, reasons()); diff != "" {
		t.Errorf("merged by a person (-want +got):\n%s", diff)
	}
}

// topic returns an entity of which no type is known.
func topic(name string) memory.EntityRef { return memory.EntityRef{Type: vocab.Topic, Name: name} }

// Acceptance check 11: what is forgotten is in no page of the file and its log, and does not come back.
func TestDerivedForgottenTextIsGone(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	const secret = "xylophonist"
	f := noteFile("memory/2026-11-01.md", "Ana role_is "+secret, "Ana likes tea")
	for i := range f.Chunks { // the notes still say it, but are not what this test is about
		f.Chunks[i].Text = "hidden"
	}
	texts := noteFile("memory/2026-11-01.md", "Ana role_is "+secret, "Ana likes tea")
	s.sync(t, f)
	s.derive(t, texts)
	if got := objects(t, s, memory.UnitQuery{Predicate: "role_is"}); len(got) != 1 {
		t.Fatalf("%q", got)
	}
	uid := episodesOf(f)[0].UID
	s.spread(t, uid, secret)
	if !contains(t, s.path, secret) {
		t.Fatal("the text is not in the file, so that the test shows nothing")
	}
	forget := unit.Decision{Verb: unit.DecideForget, Kind: memory.KindFact, Target: vocab.FactKey(person("Ana"), "role_is", secret)}
	s.decide(t, forget)
	if contains(t, s.path, secret) {
		t.Error("the forgotten text is still in the file or its log")
	}
	for range 3 { // it is said again
		pending, err := s.Episodes(t.Context(), uid)
		if err != nil || len(pending) != 1 {
			t.Fatal(pending, err)
		}
		c, _ := claimOf(pending[0], texts.Chunks[0].Text)
		if _, err := s.PutClaims(t.Context(), "model", 1, []unit.EpisodeClaims{{Episode: pending[0], Maker: "facts/1 m", Claims: []unit.Claim{c}}}); err != nil {
			t.Fatal(err)
		}
		if err := s.PutAnswer(t.Context(), "facts/1", "m", [32]byte{2}, secret, []string{uid}, 10, 10); err != nil {
			t.Fatal(err)
		}
	}
	s.resolve(t)
	if got := objects(t, s, memory.UnitQuery{IncludeSuperseded: true}); !cmp.Equal(got, []string{"tea"}) || contains(t, s.path, secret) {
		t.Errorf("it came back: %q", got)
	}
	stats, err := s.Stats(t.Context(), *s.now)
	if err != nil || stats.Dropped["forgotten"] != 3 || stats.CachedAnswers != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	s.decide(t) // taken back
	s.derive(t, texts)
	if got := objects(t, s, memory.UnitQuery{Predicate: "role_is"}); len(got) != 1 {
		t.Errorf("after forgetting was taken back: %q", got)
	}
}

// A fact about an entity with another name is forgotten under both, and its text is in no table.
func TestDerivedForgottenTextOfMergedEntitiesIsGone(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	const secret = "xylophonist"
	f := noteFile("memory/2026-11-01.md", "Bob role_is "+secret, "Robert likes tea", "Bob likes soup")
	texts := noteFile("memory/2026-11-01.md", "Bob role_is "+secret, "Robert likes tea", "Bob likes soup")
	for i := range f.Chunks {
		f.Chunks[i].Text = "hidden"
	}
	s.sync(t, f)
	merge := unit.Decision{Verb: unit.DecideMerge, Kind: "entity", Target: vocab.EntityUID(person("Bob")), Other: vocab.EntityUID(person("Robert"))}
	s.decide(t, merge)
	s.derive(t, texts)
	if got := objects(t, s, memory.UnitQuery{Entity: vocab.EntityUID(person("Robert")), Predicate: "role_is"}); len(got) != 1 || !contains(t, s.path, secret) {
		t.Fatalf("%q", got)
	}
	forget := unit.Decision{Verb: unit.DecideForget, Kind: memory.KindFact, Target: vocab.FactKey(person("Robert"), "role_is", secret)}
	s.decide(t, merge, forget)
	for again := range 2 {
		if got := objects(t, s, memory.UnitQuery{IncludeSuperseded: true}); len(got) != 2 {
			t.Errorf("%d: facts %q", again, got)
		}
		if contains(t, s.path, secret) {
			t.Errorf("%d: the forgotten text is still in the file or its log", again)
		}
		pending, err := s.Episodes(t.Context(), episodesOf(f)[0].UID)
		if err != nil || len(pending) != 1 {
			t.Fatal(pending, err)
		}
		c, _ := claimOf(pending[0], texts.Chunks[0].Text) // it is said again
		if _, err := s.PutClaims(t.Context(), "model", 1, []unit.EpisodeClaims{{Episode: pending[0], Maker: "facts/1 m", Claims: []unit.Claim{c}}}); err != nil {
			t.Fatal(err)
		}
		s.resolve(t)
	}
}

// spread writes a text of an episode wherever models and jobs leave it: quotes of other claims, an answer, a summary and the error of a
// job.
func (s derivedStore) spread(t *testing.T, uid, secret string) {
	t.Helper()
	of, err := s.Episodes(t.Context(), uid)
	if err != nil || len(of) != 1 {
		t.Fatal(of, err)
	}
	soup, _ := claimOf(of[0], "Ana likes soup")
	friend, _ := claimOf(of[0], "Ana friend= Dario")
	soup.Quote, friend.Quote = "Ana the "+strings.ToUpper(secret)+" likes soup", "Dario knows a "+secret
	if _, err := s.PutClaims(t.Context(), "model", 1, []unit.EpisodeClaims{{Episode: of[0], Maker: "facts/1 m", Claims: []unit.Claim{soup, friend}}}); err != nil {
		t.Fatal(err)
	}
	s.resolve(t)
	if err := s.PutAnswer(t.Context(), "facts/1", "m", [32]byte{1}, `{"object":"`+secret+`"}`, []string{uid}, 10, 10); err != nil {
		t.Fatal(err)
	}
	about := memory.Unit{UID: vocab.UnitUID(memory.KindSummary, memory.ScopeWeekly, "2026-W44"), Kind: memory.KindSummary,
		Summary: &memory.Summary{Scope: memory.ScopeWeekly, Key: "2026-W44", Text: "Ana is a " + secret}}
	if err := s.PutSummary(t.Context(), about, []string{uid}, "made"); err != nil {
		t.Fatal(err)
	}
	if err := s.CountDropped(t.Context(), map[string]int{"unknown predicate is_" + secret: 1}); err != nil {
		t.Fatal(err)
	}
	job := store.Job{Kind: "extract", Key: "1", Input: `{"episodes":["` + uid + `"]}`, LastError: "bad answer: " + secret}
	if err := s.Park(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}

// contains reports whether the index at path or its log contains a text.
func contains(t *testing.T, path, text string) bool {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(text))) {
			return true
		}
	}
	return false
}

func TestDerivedSummariesCiteTheirEpisodes(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	f := noteFile("memory/2026-11-01.md", "Ana likes tea", "Ana sings (private)")
	s.sync(t, f)
	s.derive(t, f)
	uid := vocab.UnitUID(memory.KindSummary, memory.ScopeWeekly, "2026-W44")
	u := memory.Unit{UID: uid, Source: "model", Confidence: .7, Summary: &memory.Summary{Scope: memory.ScopeWeekly, Key: "2026-W44", From: "2026-10-26",
		To: "2026-11-01", Text: "Ana drank tea.", Events: []memory.KeyEvent{{EpisodeUID: episodesOf(f)[0].UID, Why: "tea"}}}}
	put := func(text string) memory.Unit {
		t.Helper()
		sum := *u.Summary
		sum.Text = text
		next := u
		next.Summary = &sum
		if err := s.PutSummary(t.Context(), next, []string{episodesOf(f)[0].UID, episodesOf(f)[1].UID}, "made"); err != nil {
			t.Fatal(err)
		}
		list, err := s.Units(t.Context(), memory.UnitQuery{Kinds: []string{memory.KindSummary}, MaxSensitivity: memory.Private})
		if err != nil || len(list.Units) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list.Units[0]
	}
	got := put("Ana drank tea.")
	if got.Sensitivity != memory.Private || len(got.Evidence) != 2 || got.Evidence[1].StartLine != 2 || len(got.Summary.Events) != 1 {
		t.Errorf("%+v", got)
	}
	if got = put("Ana drank tea."); got.Version != 1 {
		t.Errorf("the same summary is version %d", got.Version)
	}
	if got = put("Ana drank much tea."); got.Version != 2 {
		t.Errorf("another summary is version %d", got.Version)
	}
	s.decide(t, unit.Decision{Verb: unit.DecideCorrect, Kind: memory.KindSummary, Target: uid, Change: `{"text":"Ana drank cocoa."}`},
		unit.Decision{Verb: unit.DecidePin, Kind: memory.KindSummary, Target: uid})
	if got = put("Ana drank tea again."); got.Summary.Text != "Ana drank cocoa." || !got.Pinned || got.Source != "person" {
		t.Errorf("a person's words are %q, %v", got.Summary.Text, got.Pinned)
	}
	s.sync(t, noteFile("memory/2026-11-01.md", "Ana sings (private)"))
	list, err := s.Units(t.Context(), memory.UnitQuery{Kinds: []string{memory.KindSummary}, MaxSensitivity: memory.Private})
	if err != nil || len(list.Units) != 1 || !list.Units[0].Summary.Stale {
		t.Errorf("an episode is gone: %+v, %v", list, err)
	}
	s.sync(t, indexer.File{Path: f.Path, Gone: true})
	if list, err = s.Units(t.Context(), memory.UnitQuery{Kinds: []string{memory.KindSummary}, MaxSensitivity: memory.Secret}); err != nil || len(list.Units) > 0 {
		t.Errorf("all episodes are gone: %+v, %v", list, err)
	}
	if err := s.PutSummary(t.Context(), u, []string{episodesOf(f)[0].UID}, "made"); err == nil {
		t.Error("a summary of nothing was written")
	}
}

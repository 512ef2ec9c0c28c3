package resolve_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

func TestFactsOfOneSlot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ slot, claims, want string }{
		"the newer one of an exclusive predicate": {"lives_in", `
			03-01 | note | lives_in | Lisbon
			10-05 | note | lives_in | Porto`, `
lives_in Lisbon [..2026-10-05] superseded
lives_in Porto [2026-10-05..] validated
`},
		"the day that is said, not the one on which it is said": {"lives_in", `
			10-20 | user | lives_in | Porto | 2026-10
			09-01 | user | lives_in | Lisbon | 2020`, `
lives_in Lisbon [2020..2026-10] superseded
lives_in Porto [2026-10..] validated
`},
		"the same in a row is one": {"lives_in", `
			03-01 | user | lives_in | Lisbon
			04-01 | user | lives_in | lisbon
			05-01 | user | lives_in | Lisbon`, `
lives_in Lisbon [..] validated
`},
		"back again": {"lives_in", `
			03-01 | user | lives_in | 上海
			04-01 | user | lives_in | 東京
			05-01 | user | lives_in | 上海`, `
lives_in 上海 [..2026-04-01] superseded
lives_in 東京 [2026-04-01..2026-05-01] superseded
lives_in 上海 [2026-05-01..] validated
`},
		"coffee liked, disliked, liked": {"likes", `
			03-01 | user | likes | coffee
			04-01 | user | dislikes | coffee
			05-01 | user | likes | Coffee
			04-15 | user | likes | tea`, `
likes coffee [..2026-04-01] superseded
dislikes coffee [2026-04-01..2026-05-01] superseded
likes Coffee [2026-05-01..] validated
likes tea [..] validated
`},
		"a set keeps all": {"uses", `
			03-01 | user | uses | vim
			04-01 | user | uses | Emacs`, `
uses Emacs [..] validated
uses vim [..] validated
`},
		"an end that was said": {"works_at", `
			03-01 | user | works_at | Acme | 2020..2026-02
			05-01 | user | works_at | Beta`, `
works_at Acme [2020..2026-02] validated
works_at Beta [2026-05-01..] validated
`},
		"an end that was said afterwards, without a beginning": {"works_at", `
			11-01 | user | works_at | Acme | ..2022
			05-01 | user | works_at | Beta`, `
works_at Acme [..2022] validated
works_at Beta [2026-05-01..] validated
`},
		"the first of events": {"first_met_at", `
			05-01 | user | first_met_at | Osaka | 2024-05
			06-01 | user | first_met_at | Kyoto | 2023-02`, `
first_met_at Kyoto [2023-02..] validated
first_met_at Osaka [2024-05..] superseded
`},
		"a tie": {"lives_in", `
			05-01 | user | lives_in | Lisbon
			05-01 | user | lives_in | Porto`, `
lives_in Lisbon [..] conflict
lives_in Porto [..] conflict
`},
		"a tie that a later word settles": {"lives_in", `
			05-01 | user | lives_in | Lisbon
			05-01 | user | lives_in | Porto
			06-01 | user | lives_in | Porto`, `
lives_in Lisbon [..2026-06-01] superseded
lives_in Porto [..] validated
`},
		"with a date against without one": {"lives_in", `
			05-01 | user | lives_in | Lisbon
			      | user | lives_in | Porto`, `
lives_in Lisbon [..] conflict
lives_in Porto [..] conflict
`},
		"since October, said after what was said in November": {"lives_in", `
			12-01 | user | lives_in | Porto | 2026-10
			11-01 | user | lives_in | Lisbon`, `
lives_in Porto [2026-10..] conflict
lives_in Lisbon [2026-11-01..] conflict
`},
		"twice on one day": {"status_is", `
			05-01 09:00 | user | status_is | blocked
			05-01 11:00 | user | status_is | running
			05-01 15:00 | user | status_is | done`, `
status_is blocked [..2026-05-01] superseded
status_is running [2026-05-01..2026-05-02] superseded
status_is done [2026-05-01..] validated
`},
		"a plan": {"lives_in", `
			05-01 | user | lives_in | Lisbon
			11-01 | user | lives_in | Porto | 2027-02`, `
lives_in Lisbon [..2027-02] validated
lives_in Porto [2027-02..] validated
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, "\n"+lines(facts(slot(t, c.slot, c.claims)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFactsByAuthority(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ slot, claims, want string }{
		"an assistant never ends what a person wrote": {"lives_in", `
			03-01 | note      | lives_in | Lisbon
			10-05 | assistant | lives_in | Porto`, `
lives_in Lisbon [..] validated
lives_in Porto [2026-10-05..] conflict
`},
		"nor by saying it often, or with a date": {"lives_in", `
			03-01 | note      | lives_in | Lisbon
			10-05 | assistant | lives_in | Porto
			10-06 | tool      | lives_in | Porto | 2026-10-06
			10-07 | Mallory   | lives_in | Porto`, `
lives_in Lisbon [..] validated
lives_in Porto [2026-10-05..] conflict
`},
		"nor what the user said": {"likes", `
			03-01 | user      | likes    | coffee
			10-05 | assistant | dislikes | coffee`, `
likes coffee [..] validated
dislikes coffee [2026-10-05..] conflict
`},
		"nor what the user said at an unknown time": {"lives_in", `
			03-01 | assistant | lives_in | Lisbon
			10-05 | assistant | lives_in | Porto
			      | user      | lives_in | Lisbon`, `
lives_in Lisbon [..] validated
lives_in Porto [2026-10-05..] conflict
`},
		"a person confirms it": {"lives_in", `
			03-01 | note      | lives_in | Lisbon
			10-05 | assistant | lives_in | Porto
			10-09 | user      | lives_in | Porto`, `
lives_in Lisbon [..2026-10-09] superseded
lives_in Porto [2026-10-05..] validated
`},
		"an assistant ends what an assistant said": {"version_is", `
			03-01 | assistant | version_is | 1.0
			10-05 | tool      | version_is | 1.1`, `
version_is 1.0 [..2026-10-05] superseded
version_is 1.1 [2026-10-05..] validated
`},
		"MEMORY.md wins against what is newer": {"lives_in", `
			03-01 | MEMORY | lives_in | Lisbon
			10-05 | note   | lives_in | Porto`, `
lives_in Lisbon [..] validated
lives_in Porto [2026-10-05..] conflict
`},
		"MEMORY.md without a date": {"lives_in", `
			      | MEMORY | lives_in | Lisbon
			05-01 | note   | lives_in | Rome
			10-05 | note   | lives_in | Porto`, `
lives_in Rome [..2026-10-05] superseded
lives_in Porto [2026-10-05..] conflict
lives_in Lisbon [..] validated
`},
		"what is older than MEMORY.md is over": {"lives_in", `
			06-01 | MEMORY | lives_in | Lisbon
			03-05 | note   | lives_in | Porto`, `
lives_in Porto [..2026-06-01] superseded
lives_in Lisbon [2026-06-01..] validated
`},
		"two lines of MEMORY.md": {"lives_in", `
			| MEMORY | lives_in | Lisbon
			| MEMORY | lives_in | Porto`, `
lives_in Lisbon [..] conflict
lives_in Porto [..] conflict
`},
		"MEMORY.md says what holds again": {"lives_in", `
			      | MEMORY | lives_in | Lisbon
			05-01 | note   | lives_in | Lisbon
			10-05 | note   | lives_in | Porto`, `
lives_in Lisbon [..] validated
lives_in Porto [2026-10-05..] conflict
`},
		"an event that a person wrote": {"first_met_at", `
			| MEMORY | first_met_at | Osaka | 2024-05
			06-01 | assistant | first_met_at | Kyoto | 2023-02`, `
first_met_at Kyoto [2023-02..] conflict
first_met_at Osaka [2024-05..] validated
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			units := facts(slot(t, c.slot, c.claims))
			if diff := cmp.Diff(c.want, "\n"+lines(units)); diff != "" {
				t.Error(diff)
			}
			for _, u := range units {
				if (u.State == memory.StateConflict) && len(u.Fact.Opposes) == 0 {
					t.Errorf("%s is in conflict with nothing", u.Fact.Object)
				}
			}
		})
	}
}

func TestFactsAboutTheUserNeedTheUser(t *testing.T) {
	t.Parallel()
	s := unit.Slot{Kind: memory.KindFact, Subject: vocab.User(), Name: "lives_in", Now: now, Claims: claims(t, vocab.User(), `
		03-01 | user      | lives_in | Lisbon
		10-05 | assistant | lives_in | Porto
		10-06 | tool      | lives_in | Porto
		10-07 | Mallory   | lives_in | Porto`)}
	if diff := cmp.Diff("lives_in Lisbon [..] validated\n", lines(facts(s))); diff != "" {
		t.Error(diff)
	}
}

func TestFactsConfidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims string
		change func(claims []unit.Claim)
		want   float64
		trust  string
	}{
		"one note":     {"03-01 | note | uses | vim", nil, .7, "note"},
		"two episodes": {"03-01 | note | uses | vim\n03-02 | user | uses | vim", nil, .91, "note"},
		"one episode twice": {"03-01 | note | uses | vim\n03-01 | note | uses | Vim",
			func(list []unit.Claim) { list[1].EpisodeUID, list[1].StartLine = list[0].EpisodeUID, 2 }, .7, "note"},
		"an assistant counts less": {"03-01 | assistant | uses | vim", func(list []unit.Claim) { list[0].Confidence = .99 }, .8, "assistant"},
		"many without a note": {"03-01 | user | uses | vim\n03-02 | user | uses | vim\n03-03 | user | uses | vim\n03-04 | user | uses | vim",
			nil, .95, "user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := slot(t, "uses", c.claims)
			if c.change != nil {
				c.change(s.Claims)
			}
			units := facts(s)
			if len(units) != 1 || units[0].Confidence != c.want || units[0].Trust != c.trust {
				t.Errorf("got %+v, want confidence %v, trust %s", units, c.want, c.trust)
			}
		})
	}
}

// A day that only a private line states is not shown to those who may not read the line.
func TestFactsInheritTheSensitivityOfTheirEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		levels [3]memory.Sensitivity
		want   []memory.Sensitivity
	}{
		"all normal":            {[3]memory.Sensitivity{}, []memory.Sensitivity{memory.Normal, memory.Normal}},
		"a private end":         {[3]memory.Sensitivity{0, memory.Private, memory.Private}, []memory.Sensitivity{memory.Private, memory.Private}},
		"an end told elsewhere": {[3]memory.Sensitivity{0, memory.Private, 0}, []memory.Sensitivity{memory.Normal, memory.Private}},
		"a private beginning":   {[3]memory.Sensitivity{memory.Private, 0, 0}, []memory.Sensitivity{memory.Private, memory.Normal}},
	} {
		s := slot(t, "lives_in", "03-01 | note | lives_in | Trieste\n11-20 | note | lives_in | Porto\n11-20 | note | lives_in | Porto")
		for i := range s.Claims {
			s.Claims[i].Sensitivity = c.levels[i]
		}
		var got []memory.Sensitivity
		for _, u := range facts(s) {
			got = append(got, u.Sensitivity)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFactsInheritTheGreatestSensitivity(t *testing.T) {
	t.Parallel()
	s := slot(t, "uses", "03-01 | note | uses | vim\n03-02 | user | uses | vim")
	s.Claims[1].Sensitivity = memory.Private
	units := facts(s)
	if units[0].Sensitivity != memory.Private {
		t.Errorf("got %v", units[0].Sensitivity)
	}
	s.Decisions = []unit.Decision{decide(unit.DecideCorrect, units[0].UID, `{"sensitivity":"normal"}`)}
	if got := facts(s)[0].Sensitivity; got != memory.Normal {
		t.Errorf("after a person has lowered it: %v", got)
	}
}

// Acceptance check 10: a move closes one fact and no other among 200 unrelated ones.
func TestAcceptance10AMoveClosesOneFactOnly(t *testing.T) {
	t.Parallel()
	slots := []unit.Slot{slot(t, "lives_in", "03-01 | note | lives_in | Lisbon")}
	for i := range 200 {
		s := slot(t, "lives_in", "03-01 | note | lives_in | Lisbon")
		s.Subject = memory.EntityRef{Type: vocab.Person, Name: fmt.Sprintf("Person %d", i)}
		if i%2 == 0 {
			s = slot(t, "uses", fmt.Sprintf("03-01 | note | uses | thing %d", i))
		}
		slots = append(slots, s)
	}
	resolveAll := func() map[string]memory.Unit {
		all := map[string]memory.Unit{}
		for _, s := range slots {
			for _, u := range facts(s) {
				all[u.UID] = u
			}
		}
		return all
	}
	before := resolveAll()
	slots[0].Claims = append(slots[0].Claims, claims(t, dario, "10-05 | note | lives_in | Porto")...)
	after := resolveAll()
	changed := 0
	for uid, u := range before {
		if !cmp.Equal(u, after[uid]) {
			changed++
			if got := after[uid]; got.State != memory.StateSuperseded || got.Fact.To != "2026-10-05" {
				t.Errorf("changed to %+v", got.Fact)
			}
		}
	}
	if len(before) != 201 || len(after) != 202 || changed != 1 {
		t.Errorf("%d facts became %d, and %d have changed", len(before), len(after), changed)
	}
}

func TestFactKeepsItsUIDWhenItsDayBecomesKnown(t *testing.T) {
	t.Parallel()
	s := slot(t, "lives_in", "03-01 | user | lives_in | Porto")
	before := facts(s)
	s.Claims = append(s.Claims, claims(t, dario, "04-01 | user | lives_in | Porto | 2025-09")...)
	after := facts(s)
	if len(after) != 1 || after[0].UID != before[0].UID || after[0].Fact.From != "2025-09" {
		t.Errorf("%+v became %+v", before, after)
	}
}

func FuzzFacts(f *testing.F) {
	f.Add("lives_in", "Lisbon", "2026-01", "2026-02", "Porto", "", "", int64(0), int64(1000), "note", "tool", `{"text":"x"}`)
	f.Fuzz(func(t *testing.T, slot, object, from, to, object2, from2, to2 string, at, at2 int64, speaker, speaker2, change string) {
		s := unit.Slot{Kind: memory.KindFact, Subject: dario, Name: vocab.Default().Slot(slot), Now: now}
		for i, c := range []unit.Claim{{Object: object, From: from, To: to, Speaker: speaker}, {Object: object2, From: from2, To: to2, Speaker: speaker2}} {
			c.Kind, c.Predicate, c.Confidence, c.EpisodeUID = unit.ClaimFact, slot, .5, fmt.Sprint(i)
			c.At = now.AddDate(0, 0, int([]int64{at, at2}[i]%1000))
			s.Claims = append(s.Claims, c)
		}
		units := facts(s)
		for _, u := range units {
			s.Decisions = append(s.Decisions, decide(unit.DecideCorrect, u.UID, change), decide(unit.DecidePin, u.UID, ""))
		}
		facts(s)
		if _, err := json.Marshal(units); err != nil {
			t.Error(err)
		}
	})
}

func TestFactsCountDaysInTheZoneOfTheUser(t *testing.T) {
	t.Parallel()
	s := slot(t, "lives_in", "03-01 | note | lives_in | Lisbon\n10-05 20:00 | note | lives_in | Porto")
	s.Now = now.In(time.FixedZone("JST", 9*60*60))
	want := "lives_in Lisbon [..2026-10-06] superseded\nlives_in Porto [2026-10-06..] validated\n"
	units := facts(s)
	if diff := cmp.Diff(want, lines(units)); diff != "" {
		t.Error(diff)
	}
	if got := units[1].Fact.EffectiveAt; !got.Equal(at(t, "10-05 20:00")) || got.Location() != time.UTC {
		t.Errorf("effective at %v", got)
	}
}

// A slot that somebody fills with contradictions stays small: each fact names some of those that it is in conflict with.
func TestFactsOfManyConflicts(t *testing.T) {
	t.Parallel()
	text := ""
	for i := range 1000 {
		text += fmt.Sprintf("05-01 | assistant | status_is | state %d\n", i)
	}
	text += "05-01 | note | status_is | fine"
	units := facts(slot(t, "status_is", text))
	fine := find(t, units, "fine")
	for _, u := range units {
		if n := len(u.Fact.Opposes); n < 1 || n > 20 || (u.State == memory.StateConflict) == (u.UID == fine.UID) {
			t.Fatalf("%s is %s and names %d facts", u.Fact.Object, u.State, n)
		}
		if u.UID != fine.UID && !slices.Contains(u.Fact.Opposes, fine.UID) {
			t.Fatalf("%s does not name the one that holds", u.Fact.Object)
		}
	}
}

func BenchmarkFacts(b *testing.B) {
	for _, n := range []int{8, 1000} {
		s := unit.Slot{Kind: memory.KindFact, Subject: dario, Name: "lives_in", Now: now}
		for i := range n {
			s.Claims = append(s.Claims, unit.Claim{Kind: unit.ClaimFact, EpisodeUID: fmt.Sprint(i), Maker: "rule", Confidence: .7, Subject: dario, Predicate: "lives_in",
				Object: fmt.Sprintf("city %d", i%5), Speaker: memory.SpeakerNote, At: now.AddDate(0, 0, -i)})
		}
		b.Run(fmt.Sprintf("claims=%d", n), func(b *testing.B) {
			for b.Loop() {
				facts(s)
			}
		})
	}
}

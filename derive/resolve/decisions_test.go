package resolve_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const moved = `
	03-01 | note | lives_in | Lisbon
	10-05 | note | lives_in | Porto`

func TestPinnedFactIsNotSuperseded(t *testing.T) {
	t.Parallel()
	lisbon := find(t, facts(slot(t, "lives_in", moved)), "Lisbon")
	s := slot(t, "lives_in", moved, decide(unit.DecidePin, lisbon.UID, ""))
	units := facts(s)
	want := "lives_in Lisbon [..] validated\nlives_in Porto [2026-10-05..] conflict\n"
	if diff := cmp.Diff(want, lines(units)); diff != "" {
		t.Error(diff)
	}
	pinned := find(t, units, "Lisbon")
	if !pinned.Pinned || pinned.UID != lisbon.UID || pinned.Salience != 1 {
		t.Errorf("the pinned fact is %+v", pinned)
	}
	s.Decisions = append(s.Decisions, decide(unit.DecideUnpin, lisbon.UID, ""))
	if diff := cmp.Diff(facts(slot(t, "lives_in", moved)), facts(s)); diff != "" {
		t.Errorf("after it is unpinned:\n%s", diff)
	}
}

func TestPinnedFactWinsAgainstMemoryMD(t *testing.T) {
	t.Parallel()
	const text = "| MEMORY | lives_in | Lisbon\n10-05 | note | lives_in | Porto"
	porto := find(t, facts(slot(t, "lives_in", text)), "Porto")
	want := "lives_in Porto [..] validated\nlives_in Lisbon [..] conflict\n"
	if diff := cmp.Diff(want, lines(facts(slot(t, "lives_in", text, decide(unit.DecidePin, porto.UID, ""))))); diff != "" {
		t.Error(diff)
	}
}

// A pin settles the conflicts that it names: what yields ends where the pinned fact starts, and says so. What is said later is in
// conflict with the pinned fact again, and without the pin all is as before.
func TestPinSettlesAConflict(t *testing.T) {
	t.Parallel()
	const said = "|MEMORY|lives_in|Kobe\n02-18|note|lives_in|Nishinomiya|2026-02-22.."
	before := facts(slot(t, "lives_in", said))
	kobe, nishinomiya := find(t, before, "Kobe"), find(t, before, "Nishinomiya")
	pin := func(u, over memory.Unit) unit.Decision {
		d := decide(unit.DecidePin, u.UID, "")
		d.Other = over.UID
		return d
	}
	for name, c := range map[string]struct {
		said      string
		decisions []unit.Decision
		want      string
	}{
		"the dated one":   {said, []unit.Decision{pin(nishinomiya, kobe)}, "lives_in Nishinomiya [2026-02-22..] validated\nlives_in Kobe [..2026-02-22] superseded\n"},
		"the undated one": {said, []unit.Decision{pin(kobe, nishinomiya)}, "lives_in Nishinomiya [2026-02-22..] superseded\nlives_in Kobe [..] validated\n"},
		"said later": {said + "\n|MEMORY|lives_in|Osaka", []unit.Decision{pin(nishinomiya, kobe)},
			"lives_in Nishinomiya [2026-02-22..] validated\nlives_in Kobe [..2026-02-22] superseded\nlives_in Osaka [..] conflict\n"},
		"unpinned": {said, []unit.Decision{pin(nishinomiya, kobe), decide(unit.DecideUnpin, nishinomiya.UID, "")}, lines(before)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := facts(slot(t, "lives_in", c.said, c.decisions...))
			if diff := cmp.Diff(c.want, lines(got)); diff != "" {
				t.Error(diff)
			}
			if u := find(t, got, "Kobe"); name == "the dated one" && (u.Fact.SupersededBy != nishinomiya.UID || len(u.Fact.Opposes) > 0) {
				t.Errorf("Kobe: superseded by %s, opposes %v", u.Fact.SupersededBy, u.Fact.Opposes)
			}
		})
	}
}

func TestForgottenFactStaysForgotten(t *testing.T) {
	t.Parallel()
	key := vocab.FactKey(dario, "lives_in", "Lisbon")
	s := slot(t, "lives_in", moved, decide(unit.DecideForget, key, ""))
	s.Claims = append(s.Claims, claims(t, dario, "11-05 | note | lives_in | lisbon\n11-06 | user | lives_in | LISBON | 2026-11")...)
	if diff := cmp.Diff("lives_in Porto [..] validated\n", lines(facts(s))); diff != "" {
		t.Error(diff)
	}
}

func TestForgottenFactStaysForgottenWhenItsSubjectIsMerged(t *testing.T) {
	t.Parallel()
	old := memory.EntityRef{Type: vocab.Person, Name: "D. Conti"}
	s := slot(t, "lives_in", "03-01 | note | lives_in | Porto", decide(unit.DecideForget, vocab.FactKey(old, "lives_in", "Lisbon"), ""))
	s.Claims = append(s.Claims, claims(t, old, "04-01 | note | lives_in | Lisbon")...)
	if diff := cmp.Diff("lives_in Porto [..] validated\n", lines(facts(s))); diff != "" {
		t.Error(diff)
	}
}

func TestDecisionsFollowAMergedSubject(t *testing.T) {
	t.Parallel()
	old := memory.EntityRef{Type: vocab.Person, Name: "D. Conti"}
	s := slot(t, "lives_in", "03-01 | note | lives_in | Lisbon")
	s.Subject, s.Claims = old, claims(t, old, "03-01 | note | lives_in | Lisbon")
	before := facts(s)[0]
	s.Subject, s.Decisions = dario, []unit.Decision{decide(unit.DecidePin, before.UID, "")}
	if after := facts(s)[0]; !after.Pinned || after.UID == before.UID {
		t.Errorf("under the other name it is %+v", after)
	}
}

func TestCorrectedFactIsAPersonsClaim(t *testing.T) {
	t.Parallel()
	const text = `
		03-01 | assistant | lives_in | Lisbn
		10-05 | assistant | lives_in | Porto`
	before := find(t, facts(slot(t, "lives_in", text)), "Lisbn")
	units := facts(slot(t, "lives_in", text, decide(unit.DecideCorrect, before.UID, `{"text":"Lisbon","from":"2024-05"}`)))
	want := "lives_in Lisbon [2024-05..] validated\nlives_in Porto [2026-10-05..] conflict\n"
	if diff := cmp.Diff(want, lines(units)); diff != "" {
		t.Error(diff)
	}
	got := find(t, units, "Lisbon")
	if got.UID != before.UID || got.Source != "person" || got.Trust != memory.SpeakerNote || got.Confidence <= before.Confidence ||
		got.Fact.Key != vocab.FactKey(dario, "lives_in", "Lisbon") {
		t.Errorf("corrected to %+v", got)
	}
}

func TestLaterCorrectionsOutrankEarlierOnes(t *testing.T) {
	t.Parallel()
	uid := find(t, facts(slot(t, "lives_in", moved)), "Porto").UID
	units := facts(slot(t, "lives_in", moved, decide(unit.DecideCorrect, uid, `{"text":"Braga","from":"2026-09"}`),
		decide(unit.DecideCorrect, uid, `{"text":"Faro"}`), decide(unit.DecideCorrect, uid, `{"sensitivity":"secret","from":"soon"}`)))
	want := "lives_in Lisbon [..2026-09] superseded\nlives_in Faro [2026-09..] validated\n"
	if diff := cmp.Diff(want, lines(units)); diff != "" || units[1].UID != uid || units[1].Sensitivity != memory.Secret {
		t.Errorf("%+v\n%s", units[1], diff)
	}
}

func TestCorrectionToTheObjectOfItsNeighbourJoinsThem(t *testing.T) {
	t.Parallel()
	uid := find(t, facts(slot(t, "lives_in", moved)), "Porto").UID
	units := facts(slot(t, "lives_in", moved, decide(unit.DecideCorrect, uid, `{"text":"Lisbon"}`)))
	if len(units) != 1 || units[0].UID != uid || len(units[0].Evidence) != 2 {
		t.Errorf("got\n%s", lines(units))
	}
}

// What is pinned ends nothing that is pinned.
func TestTwoPinnedFactsAreInConflict(t *testing.T) {
	t.Parallel()
	const text = "03-01 | note | lives_in | Porto\n04-01 | note | lives_in | Lisbon"
	before := facts(slot(t, "lives_in", text))
	units := facts(slot(t, "lives_in", text, decide(unit.DecidePin, find(t, before, "Porto").UID, ""), decide(unit.DecidePin, find(t, before, "Lisbon").UID, "")))
	want := "lives_in Porto [..] conflict\nlives_in Lisbon [2026-04-01..] conflict\n"
	if diff := cmp.Diff(want, lines(units)); diff != "" {
		t.Error(diff)
	}
}

// A claim that is stored all the same, such as one of an entity that was merged since, is forgotten too.
func TestFactsLeaveOutWhatIsForgotten(t *testing.T) {
	t.Parallel()
	for name, subject := range map[string]memory.EntityRef{"its own name": dario, "another name": {Type: "PERSON", Name: "DC"}} {
		s := slot(t, "lives_in", "03-01 | note | lives_in | Porto", decide(unit.DecideForget, vocab.FactKey(dario, "lives_in", "Porto"), ""))
		s.Claims[0].Subject = subject
		if units := facts(s); len(units) > 0 {
			t.Errorf("%s: %s", name, lines(units))
		}
	}
}

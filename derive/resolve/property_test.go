package resolve_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/memory"
)

// scripted are 30 claims of one slot that contradict each other, others for each seed.
func scripted(t *testing.T, predicate string, seed uint64) []unit.Claim {
	t.Helper()
	objects := []string{"Lisbon", "Porto", "東京", "上海", "Rome"}
	speakers := []string{"note", "user", "assistant", "tool", "Ana"}
	random := rand.New(rand.NewPCG(7, seed))
	text := ""
	for i := range 30 {
		day := ""
		if i%7 != 0 {
			day = fmt.Sprintf("%02d-%02d", 1+random.IntN(10), 1+random.IntN(4))
		}
		speaker := speakers[random.IntN(len(speakers))]
		if i == 12 || i == 13 {
			speaker = "MEMORY"
		}
		bounds := ""
		switch i % 5 {
		case 1:
			bounds = fmt.Sprintf("2026-%02d", 1+random.IntN(10))
		case 2:
			bounds = fmt.Sprintf("2025..2026-%02d", 1+random.IntN(10))
		}
		name := predicate
		if predicate == "likes" && random.IntN(2) == 0 {
			name = "dislikes"
		}
		text += fmt.Sprintf("%s | %s | %s | %s | %s\n", day, speaker, name, objects[random.IntN(len(objects))], bounds)
	}
	return claims(t, dario, text)
}

// Acceptance check 7 of the specification: 30 scripted claims with contradictions in 100 shuffles.
func TestAcceptance07FactsDoNotDependOnTheOrderOfClaims(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lives_in", "likes", "uses", "first_met_at"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := unit.Slot{Kind: memory.KindFact, Subject: dario, Name: name, Claims: scripted(t, name, 30), Now: now}
			first := facts(s)
			if len(first) < 3 {
				t.Fatalf("the script makes %d facts only", len(first))
			}
			s.Decisions = []unit.Decision{decide(unit.DecidePin, first[1].UID, ""), decide(unit.DecideCorrect, first[0].UID, `{"text":"Porto"}`)}
			want := facts(s)
			for i := range 100 {
				rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(s.Claims), func(a, b int) { s.Claims[a], s.Claims[b] = s.Claims[b], s.Claims[a] })
				if diff := cmp.Diff(want, facts(s)); diff != "" {
					t.Fatalf("shuffle %d:\n%s", i, diff)
				}
			}
			checkUnits(t, want)
		})
	}
}

// checkUnits reports units with one UID, without evidence, or that end before they begin.
func checkUnits(t *testing.T, units []memory.Unit) {
	t.Helper()
	seen := map[string]bool{}
	for _, u := range units {
		if seen[u.UID] || len(u.UID) != 32 || len(u.Evidence) == 0 || u.Confidence <= 0 || u.Confidence > 1 || u.Salience < 0 || u.Salience > 1 {
			t.Errorf("unit %+v", u)
		}
		seen[u.UID] = true
		if u.Fact.From != "" && u.Fact.To != "" && u.Fact.To <= u.Fact.From {
			t.Errorf("%s holds from %s to %s", u.Fact.Object, u.Fact.From, u.Fact.To)
		}
	}
	for _, u := range units {
		for _, o := range append(u.Fact.Opposes, u.Fact.SupersededBy) {
			if o != "" && (!seen[o] || o == u.UID) {
				t.Errorf("%s names the fact %s, which is none", u.Fact.Object, o)
			}
		}
	}
}

// Whatever is claimed: one value holds at a time, and machines end nothing that a person has said.
func TestFactsOfAnyClaimsKeepTheRules(t *testing.T) {
	t.Parallel()
	superseded := 0
	for seed := range uint64(300) {
		name := []string{"lives_in", "likes", "first_met_at"}[seed%3]
		units := facts(unit.Slot{Kind: memory.KindFact, Subject: dario, Name: name, Claims: scripted(t, name, seed), Now: now})
		checkUnits(t, units)
		byUID, holding := map[string]memory.Unit{}, map[string]string{}
		for _, u := range units {
			byUID[u.UID] = u
		}
		for _, u := range units {
			group := ""
			if name == "likes" {
				group = u.Fact.Object
			}
			if u.State == memory.StateValidated && u.Fact.To == "" {
				if holding[group] != "" {
					t.Errorf("seed %d: %s and %s hold at a time:\n%s", seed, holding[group], u.Fact.Object, lines(units))
				}
				holding[group] = u.Fact.Object + u.Fact.Predicate
			}
			if by, ok := byUID[u.Fact.SupersededBy]; ok {
				superseded++
				if saidByPerson(u) && !saidByPerson(by) {
					t.Errorf("seed %d: a machine's %s supersedes a person's %s:\n%s", seed, by.Fact.Object, u.Fact.Object, lines(units))
				}
			}
		}
	}
	if superseded < 300 {
		t.Errorf("only %d facts are superseded", superseded)
	}
}

// saidByPerson reports whether a fact has evidence in the words of the owner.
func saidByPerson(u memory.Unit) bool {
	return u.Trust == memory.SpeakerNote || u.Trust == memory.SpeakerUser
}

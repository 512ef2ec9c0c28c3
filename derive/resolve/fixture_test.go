package resolve_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kioku/derive/resolve"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

var (
	dario = memory.EntityRef{Type: vocab.Person, Name: "Dario"}
	now   = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
)

// at returns a time on a day of 2026, "11-20" or "11-20 15:04", or on another day, "2025-11-20".
func at(t *testing.T, s string) time.Time {
	t.Helper()
	if s == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04"} {
		for _, year := range []string{"", "2026-"} {
			if at, err := time.Parse(layout, year+s); err == nil {
				return at
			}
		}
	}
	t.Fatalf("%q is no time", s)
	return time.Time{}
}

// claims reads one fact a line: the time, the speaker ("MEMORY" for a line of MEMORY.md), the predicate and the object, and in brackets
// the bounds, divided by two dots.
func claims(t *testing.T, subject memory.EntityRef, text string) []unit.Claim {
	t.Helper()
	var list []unit.Claim
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		fields := strings.Split(line, "|")
		if len(fields) < 4 {
			t.Fatalf("%q is no claim", line)
		}
		for j := range fields {
			fields[j] = strings.TrimSpace(fields[j])
		}
		c := unit.Claim{Kind: unit.ClaimFact, EpisodeUID: fmt.Sprintf("episode%02d", i), Maker: "rule", StartLine: 1, EndLine: 1, Confidence: .7,
			Quote: line, Subject: subject, At: at(t, fields[0]), Speaker: fields[1], Predicate: fields[2], Object: fields[3]}
		if c.Speaker == "MEMORY" {
			c.Speaker, c.LongTerm = memory.SpeakerNote, true
		}
		if len(fields) > 4 {
			c.From, c.To, _ = strings.Cut(fields[4], "..")
		}
		list = append(list, c)
	}
	return list
}

// slot returns the slot of claims of Dario.
func slot(t *testing.T, name, text string, decisions ...unit.Decision) unit.Slot {
	t.Helper()
	return unit.Slot{Kind: memory.KindFact, Subject: dario, Name: name, Claims: claims(t, dario, text), Decisions: decisions, Now: now}
}

// facts resolves a slot with the usual vocabulary.
func facts(s unit.Slot) []memory.Unit { return resolve.Facts(vocab.Default(), s) }

// lines returns a unit a line: the object, its bounds and its state.
func lines(units []memory.Unit) string {
	var b strings.Builder
	for _, u := range units {
		fmt.Fprintf(&b, "%s %s [%s..%s] %s\n", u.Fact.Predicate, u.Fact.Object, u.Fact.From, u.Fact.To, u.State)
	}
	return b.String()
}

// find returns the unit with an object.
func find(t *testing.T, units []memory.Unit, object string) memory.Unit {
	t.Helper()
	for _, u := range units {
		if u.Fact.Object == object {
			return u
		}
	}
	t.Fatalf("no fact about %s in\n%s", object, lines(units))
	return memory.Unit{}
}

// decide returns a decision about a fact.
func decide(verb, target, change string) unit.Decision {
	return unit.Decision{Day: "2026-11-20", Verb: verb, Kind: memory.KindFact, Target: target, Change: change}
}

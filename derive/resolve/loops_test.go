package resolve_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/resolve"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// loopSlot reads one claim a line: the time, the speaker, "open" or "done", the text, and the day when it is due.
func loopSlot(t *testing.T, text string, decisions ...unit.Decision) unit.Slot {
	t.Helper()
	s := unit.Slot{Kind: memory.KindLoop, Name: vocab.LoopKey("call Ana"), Decisions: decisions, Now: now}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Split(line+"|", "|")
		for j := range f {
			f[j] = strings.TrimSpace(f[j])
		}
		c := unit.Claim{Kind: unit.ClaimLoop, EpisodeUID: fmt.Sprint("episode", i), Maker: "rule", StartLine: 1, EndLine: 1, Confidence: .8,
			At: at(t, f[0]), Speaker: f[1], LoopText: f[3], Due: f[4], Quote: f[3]}
		if f[2] == "done" {
			c.Kind, c.Closes = unit.ClaimClose, s.Name
		}
		if c.Speaker == "MEMORY" {
			c.Speaker, c.LongTerm = memory.SpeakerNote, true
		}
		s.Claims = append(s.Claims, c)
	}
	return s
}

// about returns a decision about the loop of loopSlot.
func about(day, verb, change string) unit.Decision {
	return unit.Decision{Day: day, Verb: verb, Kind: memory.KindLoop, Target: resolve.LoopUID(vocab.LoopKey("call Ana")), Change: change}
}

// loopLine returns a loop in one line: status, state, text, due, opened, closed, expires.
func loopLine(units []memory.Unit) string {
	if len(units) == 0 {
		return "none"
	}
	day := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Format("01-02")
	}
	u := units[0]
	return fmt.Sprintf("%s %s %q due %s opened %s closed %s expires %s", u.Loop.Status, u.State, u.Loop.Text, u.Loop.Due, day(u.Loop.OpenedAt),
		day(u.Loop.ClosedAt), day(u.Loop.ExpiresAt))
}

func TestLoops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims    string
		decisions []unit.Decision
		want      string
	}{
		"open":              {"11-10 | note | open | - [ ] call Ana", nil, `open validated "call Ana" due  opened 11-10 closed - expires 12-10`},
		"due":               {"11-10 | user | open | call Ana | 2026-12-01", nil, `open validated "call Ana" due 2026-12-01 opened 11-10 closed - expires 12-08`},
		"expired":           {"09-10 | note | open | call Ana", nil, `expired archived "call Ana" due  opened 09-10 closed - expires 10-10`},
		"mentioned again":   {"09-10 | note | open | call Ana\n11-10 | user | open | call Ana", nil, `open validated "call Ana" due  opened 09-10 closed - expires 12-10`},
		"without a date":    {" | note | open | call Ana", nil, `open validated "call Ana" due  opened - closed - expires -`},
		"of MEMORY.md":      {"01-10 | MEMORY | open | call Ana", nil, `open validated "call Ana" due  opened 01-10 closed - expires -`},
		"done":              {"11-10 | note | open | call Ana\n11-12 | note | done | call Ana", nil, `closed archived "call Ana" due  opened 11-10 closed 11-12 expires -`},
		"done the same day": {"11-10 | note | done | call Ana\n11-10 | note | open | call Ana", nil, `closed archived "call Ana" due  opened 11-10 closed 11-10 expires -`},
		"ticked":            {"11-10 | note | done | - [x] call Ana", nil, `closed archived "call Ana" due  opened - closed 11-10 expires -`},
		"opened again":      {"11-10 | note | open | call Ana\n11-12 | note | done | call Ana\n11-14 | note | open | call Ana", nil, `open validated "call Ana" due  opened 11-14 closed - expires 12-14`},
		"done by a tool":    {"11-10 | note | open | call Ana\n11-12 | tool | done | call Ana", nil, `open validated "call Ana" due  opened 11-10 closed - expires 12-10`},
		"done by the agent": {"11-10 | note | open | call Ana\n11-12 | assistant | done | call Ana", nil, `closed archived "call Ana" due  opened 11-10 closed 11-12 expires -`},
		"done once, without a date": {"11-10 | note | open | call Ana\n | note | done | call Ana", nil,
			`open validated "call Ana" due  opened 11-10 closed - expires 12-10`},
		"closed by a person": {"11-10 | note | open | call Ana", []unit.Decision{about("2026-11-11", unit.DecideClose, "")},
			`closed archived "call Ana" due  opened 11-10 closed 11-11 expires -`},
		"closed by a person, opened by a machine": {"11-10 | note | open | call Ana\n11-15 | assistant | open | call Ana",
			[]unit.Decision{about("2026-11-11", unit.DecideClose, "")}, `closed archived "call Ana" due  opened 11-10 closed 11-11 expires -`},
		"closed by a person, opened by one": {"11-10 | note | open | call Ana\n11-15 | user | open | call Ana",
			[]unit.Decision{about("2026-11-11", unit.DecideClose, "")}, `open validated "call Ana" due  opened 11-10 closed - expires 12-15`},
		"reopened by a person": {"09-10 | note | open | call Ana\n09-12 | note | done | call Ana",
			[]unit.Decision{about("2026-11-11", unit.DecideReopen, "")}, `open validated "call Ana" due  opened - closed - expires 12-11`},
		"pinned": {"09-10 | note | open | call Ana\n09-12 | assistant | done | call Ana", []unit.Decision{about("2026-09-11", unit.DecidePin, "")},
			`open validated "call Ana" due  opened 09-10 closed - expires -`},
		"corrected": {"11-10 | assistant | open | call Ana", []unit.Decision{about("2026-11-11", unit.DecideCorrect, `{"text":"call Anna","due":"2026-11-30"}`)},
			`open validated "call Anna" due 2026-11-30 opened 11-10 closed - expires 12-07`},
		"forgotten": {"11-10 | assistant | open | call Ana",
			[]unit.Decision{{Day: "2026-11-11", Verb: unit.DecideForget, Kind: memory.KindLoop, Target: vocab.LoopKey("call Ana")}}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, loopLine(resolve.Loops(loopSlot(t, c.claims, c.decisions...)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAcceptance07LoopsDoNotDependOnTheOrderOfClaims(t *testing.T) {
	t.Parallel()
	text := ""
	random := rand.New(rand.NewPCG(3, 3))
	for range 30 {
		text += fmt.Sprintf("11-%02d | %s | %s | call Ana | %s\n", 1+random.IntN(8), []string{"note", "user", "assistant"}[random.IntN(3)],
			[]string{"open", "done"}[random.IntN(2)], []string{"", "2026-12-01", "2026-12-05"}[random.IntN(3)])
	}
	s := loopSlot(t, text)
	want := resolve.Loops(s)
	for i := range 100 {
		rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(s.Claims), func(a, b int) { s.Claims[a], s.Claims[b] = s.Claims[b], s.Claims[a] })
		if diff := cmp.Diff(want, resolve.Units(vocab.Default())(s)); diff != "" {
			t.Fatal(diff)
		}
	}
}

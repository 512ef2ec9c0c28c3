package flush_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/internal/testkit"
	"kioku/llm"
	"kioku/memory"
)

// killed is the panic with which a process ends. What is on disk then is all that the next one has.
type killed struct{}

// lossy is an agent that keeps its messages in memory and is killed at random points, with the service.
type lossy struct {
	*world
	rng *rand.Rand
	// kill is the number of steps until both are killed; 0 for never.
	kill int
	// stops says that models are stopped before they are done, in place of refusing ranges as too long.
	stops bool

	messages []flush.Message
	made     int
	// begun are the facts that BeginFlush has acknowledged, and said all others that the agent still has.
	begun, said []string
}

// step counts the steps until the kill.
func (a *lossy) step() {
	if a.kill > 0 {
		if a.kill--; a.kill == 0 {
			panic(killed{})
		}
	}
}

// reopenLossy opens the ledger anew. Each read of the clock, which is before each write of the state, is a point of a kill.
func (a *lossy) reopenLossy() {
	a.Ledger = flush.NewLedger(flush.Options{Folder: a.folder, Notes: a, Now: func() time.Time {
		a.step()
		a.now = a.now.Add(time.Second)
		return a.now
	}})
}

// turn says something and flushes, and may be killed in it.
func (a *lossy) turn() {
	a.made++
	fact := fmt.Sprintf("Fact %d of many.", a.made)
	a.said = append(a.said, fact)
	a.messages = append(a.messages, flush.Message{ID: fmt.Sprint(a.made), Message: llm.Message{Role: llm.RoleUser, Text: fact + strings.Repeat(" tea", a.rng.IntN(300))}})
	if a.rng.IntN(2) == 0 {
		return
	}
	defer func() {
		a.kill, a.notes.err = 0, nil
		switch dead := recover(); dead.(type) {
		case nil:
		case killed:
			a.messages, a.said = nil, nil
			a.reopenLossy()
		default:
			panic(dead)
		}
	}()
	if a.rng.IntN(2) == 0 {
		a.kill = 1 + a.rng.IntN(12)
	}
	if a.rng.IntN(4) == 0 {
		a.notes.err, a.notes.after = errDisk, len(a.notes.notes)+a.rng.IntN(4)
	}
	a.flush()
}

// Append implements flush.Notes. A kill comes before or after a note is stored.
func (a *lossy) Append(ctx context.Context, note memory.Note) (memory.Appended, error) {
	a.step()
	defer a.step()
	return a.notes.Append(ctx, note)
}

// end ends the session: the agent has no messages any more, and the ledger has acknowledged all.
func (a *lossy) end() {
	if _, err := a.Keep(a.t.Context(), flush.Request{Session: "talk", Messages: a.messages}); err != nil {
		a.t.Fatal(err)
	}
	a.begun, a.said, a.messages = append(a.begun, a.said...), nil, nil
}

// flush flushes range by range until it fails. Some sessions end before.
func (a *lossy) flush() {
	if a.rng.IntN(5) == 0 {
		a.end()
	}
	for {
		r, err := a.Begin(a.t.Context(), flush.Request{
			Session: "talk", Messages: a.messages, Window: 2000 + a.rng.IntN(3000), TooLong: !a.stops && a.rng.IntN(6) == 0,
		})
		if errors.Is(err, errDisk) || errors.Is(err, flush.ErrTooLong) {
			return
		}
		if err != nil {
			a.t.Fatal(err)
		}
		a.begun, a.said = append(a.begun, a.said...), nil
		if r.Lease == "" || a.rng.IntN(8) == 0 {
			return
		}
		facts := newFacts(r.Messages)
		answer := flush.Answer{Notes: notesOf(facts...)}
		// A range of a few words is covered, whether it is finished or not.
		if a.stops && len(facts) > 0 && len(r.Messages[0].Text) > 1000 && a.rng.IntN(3) == 0 {
			answer.Unfinished, answer.Notes = true, answer.Notes[:a.rng.IntN(len(facts))]
		}
		a.step()
		done, err := a.Commit(a.t.Context(), r.Lease, answer)
		if done.Warning != "" {
			a.t.Errorf("a range of %d facts: %s", len(facts), done.Warning)
		}
		if err != nil {
			if !errors.Is(err, errDisk) {
				a.t.Fatal(err)
			}
			return
		}
	}
}

// newFacts returns the facts of the user that the assistant has not saved.
func newFacts(messages []llm.Message) []string {
	var facts []string
	last := messages[len(messages)-1]
	for _, m := range messages {
		for _, fact := range factForm.FindAllString(m.Text, -1) {
			if m.Role == llm.RoleUser && (last.Role == llm.RoleUser || !strings.Contains(last.Text, fact)) {
				facts = append(facts, fact)
			}
		}
	}
	return facts
}

// Hazard F06: an agent that keeps its messages in memory is killed, with the service, at every point of a flush. Each message
// that BeginFlush or the end of a session has acknowledged is stored once in the end.
func TestLedgerLosesNothingItAcknowledged(t *testing.T) {
	t.Parallel()
	first := testkit.Seed()
	for seed := first; seed < first+uint64(testkit.Rounds(500, 8)); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			a := &lossy{world: newWorld(t), rng: rand.New(rand.NewPCG(seed, 2)), stops: seed%2 == 0}
			a.notes.keysOnly = true
			a.reopenLossy()
			for range 25 {
				a.turn()
			}
			a.notes.err = nil
			for range 50 {
				a.flush()
				c, err := a.Coverage("talk", a.messages)
				if err != nil {
					t.Fatal(err)
				}
				if c.Uncovered+c.Interrupted == 0 {
					break
				}
			}
			texts := a.notes.texts()
			for _, fact := range a.begun {
				if !slices.Contains(texts, fact) {
					t.Errorf("%s is lost", fact)
				}
			}
			slices.Sort(texts)
			if once := slices.Compact(slices.Clone(texts)); len(once) != len(texts) || len(texts) < 5 {
				t.Errorf("%d notes, %d of them different", len(texts), len(once))
			}
		})
	}
}

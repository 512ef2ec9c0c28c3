package chat_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kioku/agent/chat"
	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/internal/testkit"
	"kioku/llm"
)

// killed is the panic with which a storm ends the program. What is on disk then is all that the next one has.
type killed struct{}

// storm is a conversation with a model, a memory and a program that fail at random.
type storm struct {
	*world
	rng   *rand.Rand
	model *learner
	// claimed is the window that the model says it has, and honest says that it never lies.
	claimed int
	honest  bool
	clock   time.Time
	// kill is the number of steps after which the program is killed; 0 for never.
	kill int
	// said are the facts that the user has told.
	said  []string
	talk  *chat.Conversation
	lines log
}

// newStorm makes a conversation of a seed, in a window from 2,000 to most tokens.
func newStorm(t *testing.T, seed uint64, most float64) *storm {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &storm{rng: rng, clock: noon, honest: rng.IntN(2) == 0}
	truth := int(2000 * math.Pow(most/2000, rng.Float64()))
	s.claimed = []int{truth, truth, 0, min(truth*(2+rng.IntN(30)), 1_000_000)}[rng.IntN(4)]
	s.model = &learner{most: truth, window: s.claimed, factor: 0.5 * math.Pow(6, rng.Float64()), fault: s.fault}
	s.world = newWorld(t, s.model)
	s.now = func() time.Time {
		s.step("clock")
		s.clock = s.clock.Add(time.Millisecond)
		return s.clock
	}
	s.notes.at = s.step
	s.talk = s.start("s")
	return s
}

// step counts the steps until the program is killed.
func (s *storm) step(string) {
	if s.kill > 0 {
		if s.kill--; s.kill == 0 {
			panic(killed{})
		}
	}
}

// fault is what goes wrong with a request.
func (s *storm) fault(kind string, shown []string) (*llm.Response, error) {
	s.step("asked")
	reply := func(text string) (*llm.Response, error) {
		return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: text}, Stop: llm.StopEnd}, nil
	}
	switch dice := s.rng.IntN(100); {
	case kind == askReply || dice < 70:
		return nil, nil
	case dice < 78:
		return nil, &llm.Error{Kind: llm.KindOverflow, Message: "too long, today"}
	case dice < 84:
		return nil, &llm.Error{Kind: llm.KindUnavailable, Message: "down"}
	case dice < 88:
		return nil, fmt.Errorf("stalled: %w", context.DeadlineExceeded)
	case s.honest || kind == askSummary || len(shown) == 0:
		return nil, nil
	case dice < 94:
		return reply("NO_REPLY")
	}
	return reply("I have stored all of it. NO_REPLY")
}

// turn is a message of the user with a fact, after which the program may be killed and started again.
func (s *storm) turn(n int) {
	s.clock = s.clock.Add(time.Duration(s.rng.IntN(400)) * time.Second)
	s.notes.err = nil
	if s.rng.IntN(8) == 0 {
		s.notes.err = errors.New("no space left on device")
	}
	if s.rng.IntN(3) == 0 {
		s.kill = 1 + s.rng.IntN(40)
	}
	fact := word(n)
	size := int(float64(s.model.most) / s.model.factor * (0.02 + 0.15*s.rng.Float64()))
	message := fmt.Sprintf("My item is %s. %s", fact, long(size))
	defer func() {
		s.kill = 0
		switch dead := recover(); dead.(type) {
		case nil:
		case killed:
			s.talk = s.start("s")
		default:
			panic(dead)
		}
		for _, m := range s.session.View().Messages {
			if strings.Contains(m.Text, fact) {
				s.said = append(s.said, fact)
				break
			}
		}
		if len(s.said) == 0 || s.said[len(s.said)-1] != fact {
			if strings.Contains(s.notes.text(), fact) || s.model.seen[fact] {
				s.said = append(s.said, fact)
			}
		}
	}()
	_, err := s.talk.Turn(s.t.Context(), message, s.lines.each)
	if err != nil && llm.KindOf(err) != llm.KindOverflow {
		s.t.Fatalf("turn %d: %v", n, err)
	}
}

// check fails unless each fact is in the window, or in a covered range that the model was shown. A model that is honest has
// stored each that has left the window, and nothing is stored twice.
func (s *storm) check(n int) {
	window := ""
	for _, m := range s.session.View().Messages {
		window += m.Text
	}
	notes := s.notes.text()
	for _, fact := range s.said {
		stored := strings.Count(notes, fact)
		switch left := !strings.Contains(window, fact); {
		case left && !s.model.seen[fact]:
			s.t.Fatalf("turn %d: %s has left the window, and no model was shown it", n, fact)
		case left && s.honest && stored != 1:
			s.t.Fatalf("turn %d: %s has left the window and is in %d notes", n, fact, stored)
		case stored > 1:
			s.t.Fatalf("turn %d: %s is in %d notes", n, fact, stored)
		}
	}
}

// Hazard F06: whatever the window, the tokenizer, the model, memory and kills do, each fact of the transcript is in the window
// or in a covered range that a model was shown. When all is well again, the conversation goes on and everything is stored.
func TestFactsSurviveEveryStorm(t *testing.T) {
	t.Parallel()
	most, turns := 12_000.0, 14
	if testkit.Soak() {
		most, turns = 100_000, 24
	}
	compactions, ended := 0, 0
	first := testkit.Seed()
	for seed := first; seed < first+uint64(testkit.Rounds(150, 8)); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			largest := most
			if testkit.Soak() && seed%15 == 0 {
				largest = 1_000_000
			}
			s := newStorm(t, seed, largest)
			for n := range turns {
				s.turn(n)
				s.check(n)
			}
			compactions += s.session.View().Compactions
			ended += s.calm()
		})
	}
	if compactions < 8 || ended < 2 {
		t.Errorf("%d compactions, %d conversations ended well: the test does not test", compactions, ended)
	}
}

// calm ends the storm. If there is room for a flush in the window, all facts are stored then. It returns 1 if so.
func (s *storm) calm() int {
	s.clock = s.clock.Add(time.Hour)
	s.notes.err, s.model.fault, s.kill = nil, nil, 0
	out := s.talk.Flush(s.t.Context(), nil)
	s.check(-1)
	room := float64(s.model.most)/s.model.factor > 1500
	if !room {
		return 0
	}
	if out.Outcome == session.FlushFailed {
		s.t.Errorf("%+v, window %d, claimed %d, factor %.2f", out, s.model.most, s.claimed, s.model.factor)
	}
	v := s.session.View()
	side, err := sidecar.New(s.sidecar)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := side.Check("s", v, flush.State{})
	if err != nil || c.Uncovered > 0 {
		s.t.Errorf("%+v, %v", c, err)
	}
	if _, err := s.talk.Turn(s.t.Context(), "and now?", nil); err != nil {
		s.t.Errorf("the conversation does not go on: %v", err)
	}
	return 1
}

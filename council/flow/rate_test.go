package flow_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/flow"
)

// Each member is asked for its ratings until they are there, it has made all its calls, or the time is over.
func TestRateAsksForWhatIsMissing(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	set := council.Settings{Members: []council.Member{{Name: "ant"}, {Name: "bee"}}}.WithDefaults()
	antBee, beeAnt := flow.Pair{Evaluator: "ant", Target: "bee"}, flow.Pair{Evaluator: "bee", Target: "ant"}
	end := start.Add(set.Timeouts.EvaluationCycle)
	for name, c := range map[string]struct {
		change   func(s *council.EvaluationState, w *flow.World)
		ask      []flow.Pair
		missing  int
		deadline time.Time
	}{
		"new": {nil, []flow.Pair{antBee, beeAnt}, 2, end},
		"one here": {func(s *council.EvaluationState, _ *flow.World) {
			s.Evaluations = []council.Evaluated{{Evaluator: "ant", Target: "bee"}}
		}, []flow.Pair{beeAnt}, 1, end},
		"running": {func(_ *council.EvaluationState, w *flow.World) {
			w.Running = map[string]bool{antBee.Key("e"): true, beeAnt.Key("e"): true}
		}, nil, 2, end},
		"spent": {func(s *council.EvaluationState, _ *flow.World) {
			s.Turns = map[string]council.Turn{antBee.String(): {Calls: flow.MaxCalls}, beeAnt.String(): {Failures: flow.MaxFailures}}
		}, nil, 2, time.Time{}},
		"late":     {func(_ *council.EvaluationState, w *flow.World) { w.Now = end }, nil, 2, time.Time{}},
		"gone":     {func(_ *council.EvaluationState, w *flow.World) { w.Settings.Members = w.Settings.Members[:1] }, nil, 2, time.Time{}},
		"all here": {func(s *council.EvaluationState, _ *flow.World) { s.Request.Roster = nil }, nil, 0, time.Time{}},
	} {
		s := council.EvaluationState{Request: council.CycleRequest{CycleID: "e", TriggeredAt: start, Roster: []string{"ant", "bee"}}}
		w := flow.World{Now: start, Settings: set}
		if c.change != nil {
			c.change(&s, &w)
		}
		ask, missing, deadline := flow.Rate(s, w)
		if diff := cmp.Diff(c.ask, ask); diff != "" || len(missing) != c.missing || !deadline.Equal(c.deadline) {
			t.Errorf("%s: missing %v until %v\n%s", name, missing, deadline, diff)
		}
	}
}

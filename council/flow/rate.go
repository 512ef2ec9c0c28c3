package flow

import (
	"slices"
	"time"

	"kioku/council"
)

// Pair is a member who rates another.
type Pair struct {
	// Evaluator rates Target.
	Evaluator, Target string
}

// String returns the name of the rating, as its file has it.
func (p Pair) String() string { return p.Evaluator + "_evaluates_" + p.Target }

// Key names the turn of a rating in a cycle, see World.Running.
func (p Pair) Key(cycle string) string { return "evaluation/" + cycle + "/" + p.String() }

// Rate returns who is to rate whom now in a cycle and which ratings are missing. The deadline is zero once none of these can come: the time
// is over, or the members that are left have made all their calls.
func Rate(s council.EvaluationState, w World) (ask []Pair, missing []string, deadline time.Time) {
	end := s.Request.TriggeredAt.Add(w.Settings.Timeouts.EvaluationCycle)
	for _, a := range s.Request.Roster {
		for _, b := range s.Request.Roster {
			p := Pair{a, b}
			if a == b || slices.ContainsFunc(s.Evaluations, func(e council.Evaluated) bool { return e.Evaluator == a && e.Target == b }) {
				continue
			}
			missing = append(missing, p.String())
			_, gone := w.Settings.Member(a)
			_, lost := w.Settings.Member(b)
			running := w.Running[p.Key(s.Request.CycleID)]
			if gone != nil || lost != nil || !w.Now.Before(end) || spent(s.Turns[p.String()]) && !running {
				continue
			}
			deadline = end
			if !running {
				ask = append(ask, p)
			}
		}
	}
	return ask, missing, deadline
}

package flow

import (
	"fmt"
	"math"
	"slices"
	"time"

	"kioku/council"
)

// MaxStep is how far a cycle moves a parameter at most, and RestAfter how long a parameter then stays.
const (
	MaxStep   = 0.2
	RestAfter = 24 * time.Hour
)

// Retune returns what the evaluations of a cycle make of the parameters of a member. A parameter moves only if enough others, never the
// member itself, say that it needs retuning and propose to move it in the same direction: to the mean of their proposals, by at most
// MaxStep. n is the size of the roster. An evaluation that is missing counts as a no.
func Retune(target string, n int, given []council.Evaluated, current council.Params, pinned []string, changes []council.ParamsChange, now time.Time) council.Retune {
	r := council.Retune{Target: target, Need: council.Need(n), Before: council.Params{}, After: council.Params{}, Refused: map[string]string{}, At: now}
	var asking []council.Evaluated
	for _, e := range given {
		if e.Target == target && e.Evaluator != target && e.NeedsRetuning {
			asking = append(asking, e)
		}
	}
	r.Votes = len(asking)
	if r.Votes < r.Need {
		return r
	}
	current = current.Known()
	for _, name := range council.ParamNames {
		up, down := proposals(asking, name, current[name])
		moving := up
		if len(down) > len(up) {
			moving = down
		}
		switch {
		case len(moving) == 0:
			continue
		case len(moving) < r.Need:
			r.Refused[name] = fmt.Sprintf("%d of %d that are needed move it in the same direction", len(moving), r.Need)
		case slices.Contains(pinned, name):
			r.Refused[name] = "is pinned in the settings"
		case rests(changes, name, now):
			r.Refused[name] = "was moved within the last 24 hours"
		default:
			if v := step(current[name], moving); v != current[name] {
				r.Before[name], r.After[name] = current[name], v
			}
		}
	}
	return r
}

// proposals returns the values that evaluators propose above and below the current one. Values outside [0,1] are no proposals.
func proposals(asking []council.Evaluated, name string, current float64) (up, down []float64) {
	for _, e := range asking {
		v, ok := e.SuggestedParams[name]
		switch {
		case !ok || math.IsNaN(v) || v < 0 || v > 1:
		case v > current:
			up = append(up, v)
		case v < current:
			down = append(down, v)
		}
	}
	return up, down
}

// step returns the mean of proposals, at most MaxStep away and to three digits.
func step(current float64, proposed []float64) float64 {
	sum := 0.0
	for _, v := range proposed {
		sum += v
	}
	v := sum / float64(len(proposed))
	v = min(max(v, current-MaxStep), current+MaxStep)
	return min(max(math.Round(v*1000)/1000, 0), 1)
}

// rests reports whether a cycle has moved a parameter within RestAfter, and nobody has taken that back.
func rests(changes []council.ParamsChange, name string, now time.Time) bool {
	for _, c := range changes {
		if _, ok := c.After[name]; ok && c.Cycle != "" && now.Sub(c.At) < RestAfter {
			return true
		}
	}
	return false
}

// Due returns when the next scheduled cycle begins: a period after the newest one, so that neither a restart nor missed periods make more
// than one. first is when the council began.
func Due(first time.Time, requests []council.CycleRequest, every time.Duration) time.Time {
	last := first
	for _, r := range requests {
		if r.TriggeredAt.After(last) {
			last = r.TriggeredAt
		}
	}
	return last.Add(every)
}

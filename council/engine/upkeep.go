package engine

import (
	"errors"
	"time"

	"kioku/council"
)

// betweenChecks is how often health.json is written.
const betweenChecks = 5 * time.Minute

// upkept is what was done of the upkeep.
type upkept struct {
	// day whose old logs were removed.
	day string
	// checked is when health.json was written.
	checked time.Time
}

// upkeep removes old logs once a day, and writes health.json from time to time.
func (e *Engine) upkeep(sooner func(time.Time)) error {
	now := e.now()
	var errs []error
	if day := now.Format(time.DateOnly); day != e.upkept.day {
		errs = append(errs, e.logs.Sweep())
		e.upkept.day = day
	}
	if next := e.upkept.checked.Add(betweenChecks); now.Before(next) {
		sooner(next)
	} else {
		h, err := e.health(now)
		errs = append(errs, err, e.f.WriteLoose("health.json", h))
		e.upkept.checked = now
	}
	return errors.Join(errs...)
}

// health says what waits for a person, or is not as it should be.
func (e *Engine) health(now time.Time) (council.Health, error) {
	h := council.Health{CheckedAt: now, Status: council.HealthGood, Problems: []string{}}
	tasks, err := e.tasks()
	var last *council.Seal
	for _, s := range tasks {
		if s.Status != nil && s.Status.Status == council.StatusStalled {
			h.Problems = append(h.Problems, s.ID+" is stalled: decide it, request a round or cancel it")
		}
		if len(s.Problems) > 0 {
			h.Problems = append(h.Problems, s.ID+" has files that cannot be read; kioku council doctor names them")
		}
		for _, a := range s.Rounds {
			if a.Seal != nil && (last == nil || a.Seal.SealedAt.After(last.SealedAt)) {
				last = a.Seal
			}
		}
	}
	for _, name := range e.set.Roster() {
		if _, err := e.params(name); err != nil {
			h.Problems = append(h.Problems, "the parameters of "+name+" cannot be read; the last good ones are used")
		}
		if last == nil {
			continue
		}
		switch kind := last.Abstentions[name]; kind {
		case council.AbstainError, council.AbstainTimeout, council.AbstainMalformed, council.AbstainBudget:
			h.Problems = append(h.Problems, name+" has not voted in the last round: "+kind)
		}
	}
	if h.Alerts = len(h.Problems); h.Alerts > 0 {
		h.Status = council.HealthWarning
	}
	return h, err
}

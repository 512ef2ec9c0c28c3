package doctor

import (
	"context"
	"fmt"

	"kioku/cmd/kioku/internal/render"
)

// checkDerive looks at what is derived from the notes. It finds nothing while derivation is off.
func checkDerive(_ context.Context, s *Subject) []Finding {
	st := s.Derived
	if st == nil || !st.Enabled {
		return nil
	}
	var all []Finding
	warn := func(text, next string) { all = append(all, Finding{"derive", Warn, text, next}) }
	if st.Problem != "" {
		warn("the model does not derive: "+st.Problem, "kioku derive status tells more; kioku derive run tries again")
	} else if st.BudgetExhausted {
		warn(fmt.Sprintf("the budget of %s tokens a day and %s an hour is used up, jobs wait until there is some again", render.Number(st.MaxTokensPerDay), render.Count(st.MaxCallsPerHour, "call")),
			"set derive.maxTokensPerDay, if that is too little")
	}
	if n := len(st.Parked); n > 0 {
		warn(fmt.Sprintf("%s of the model failed and waits: %s", render.Count(n, "job"), st.Parked[0].Message),
			"kioku derive status shows what the model answered; kioku derive retry tries again")
	}
	for _, line := range st.BadDecisions {
		warn("derived/decisions.md, "+line, "correct the line, or remove it")
	}
	if n := st.Conflicts; n > 0 {
		warn(fmt.Sprintf("%s between facts", render.Count(n, "conflict")), "kioku derive list --only conflict; kioku derive forget or correct settles one")
	}
	if all != nil {
		return all
	}
	units := 0
	for _, n := range st.Units {
		units += n
	}
	return one("derive", OK, fmt.Sprintf("%s from %s", render.Count(units, "unit"), render.Count(st.Episodes, "section")), "")
}

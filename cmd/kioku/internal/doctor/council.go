package doctor

import (
	"context"
	"fmt"
	"strings"
)

// checkCouncil looks at the council of the settings: whether it runs, and what waits for a person. kioku council doctor looks closer.
func checkCouncil(_ context.Context, s *Subject) []Finding {
	if s.CouncilErr != nil {
		return one("council", Fail, fmt.Sprintf("the council of %s cannot be read: %v", s.Conf.Council.Folder, s.CouncilErr),
			"correct council.folder, or the file council.yaml there")
	}
	if s.Council == nil {
		return nil
	}
	l := s.Council.Load
	var all []Finding
	if !s.Council.Running {
		all = append(all, Finding{"council", Warn, "no daemon runs the council: its tasks wait", "start kioku serve, or kioku council serve"})
	}
	if n := l.Stalled; n > 0 {
		all = append(all, Finding{"council", Warn, fmt.Sprintf("%d tasks are stalled: the council cannot decide them", n), "kioku council list --status stalled"})
	}
	if n := l.Absent; len(n) > 0 {
		all = append(all, Finding{"council", Warn, "had no vote in the last round: " + strings.Join(n, ", "), "kioku council doctor --trial"})
	}
	if used := l.Today.TokensIn + l.Today.TokensOut; l.Limit > 0 && 10*used >= 9*l.Limit {
		all = append(all, Finding{"council", Warn, fmt.Sprintf("%d of %d tokens of today are used", used, l.Limit), "wait for tomorrow (UTC), or raise maxTokensPerDay in council.yaml"})
	}
	if len(all) == 0 {
		return one("council", OK, fmt.Sprintf("%d members, %d open tasks, %d wait for a person", len(s.Council.Members), l.Open, l.Waiting), "")
	}
	return all
}

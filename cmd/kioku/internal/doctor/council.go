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
	l := s.Council.GetLoad()
	var all []Finding
	if !s.Council.GetRunning() {
		all = append(all, Finding{"council", Warn, "no daemon runs the council: its tasks wait", "start kioku serve, or kioku council serve"})
	}
	if n := l.GetStalledCount(); n > 0 {
		all = append(all, Finding{"council", Warn, fmt.Sprintf("%d tasks are stalled: the council cannot decide them", n), "kioku council list --status stalled"})
	}
	if n := l.GetAbsent(); len(n) > 0 {
		all = append(all, Finding{"council", Warn, "had no vote in the last round: " + strings.Join(n, ", "), "kioku council doctor --trial"})
	}
	if limit := l.GetTokenLimit(); limit > 0 && 10*l.GetTokenCount() >= 9*limit {
		all = append(all, Finding{"council", Warn, fmt.Sprintf("%d of %d tokens of today are used", l.GetTokenCount(), limit), "wait for tomorrow (UTC), or raise maxTokensPerDay in council.yaml"})
	}
	if len(all) == 0 {
		return one("council", OK, fmt.Sprintf("%d members, %d open tasks, %d wait for a person", len(s.Council.GetMembers()), l.GetOpenCount(), l.GetWaitingCount()), "")
	}
	return all
}

package metrics

import (
	"context"

	"kioku/council/engine"
)

// council tells how busy it is.
type council interface {
	Load(ctx context.Context) (engine.Load, error)
}

// Council has a council among the metrics, as of the agent whose memory contains its decisions.
func (m *Metrics) Council(agent string, c council) { m.councils[agent] = c.Load }

// councilGauges are the metrics of a council. One whose folder cannot be read has none.
var councilGauges = []gauge[engine.Load]{
	gaugeOf("kioku_council_open_tasks", "Tasks of the council that have not ended.", func(l engine.Load) float64 { return float64(l.Open) }),
	gaugeOf("kioku_council_waiting_tasks", "Tasks of the council that wait for a person, with the stalled ones.", func(l engine.Load) float64 { return float64(l.Waiting) }),
	gaugeOf("kioku_council_stalled_tasks", "Tasks on which the council cannot decide.", func(l engine.Load) float64 { return float64(l.Stalled) }),
	gaugeOf("kioku_council_absent_members", "Members who are paused, or had no ballot in the last sealed round.", func(l engine.Load) float64 { return float64(len(l.Absent)) }),
	gaugeOf("kioku_council_tokens_today", "Tokens that members have cost today, with those reserved.", func(l engine.Load) float64 {
		return float64(l.Today.TokensIn + l.Today.TokensOut)
	}),
	gaugeOf("kioku_council_token_limit", "Tokens that members may cost in a day.", func(l engine.Load) float64 { return float64(l.Limit) }),
	gaugeOf("kioku_council_cost_today_dollars", "What members have cost today by the prices of the council.", func(l engine.Load) float64 { return l.Today.Cost }),
}
